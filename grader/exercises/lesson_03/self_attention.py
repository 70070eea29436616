"""SelfAttention"""

import torch
from torch import nn

from grader.attention.kernels import attention, attention_in_loops
from grader.attention.mistakes import add_module_mistakes, scaled_by_the_input_size
from grader.attention.modules import (
    NOT_FOR_MODULES,
    attention_module,
    module_laws,
    module_probes,
)
from grader.attention.slips import add_slips
from grader.exercise import Exercise
from grader.probes import Draw

_ROLES = ("W_q", "W_k", "W_v")

exercise = Exercise(
    "SelfAttention",
    "03-query-key-value",
    place=4,
    points=4,
    signature="SelfAttention(d_in, d_out); forward(x) -> (..., T, d_out)",
    laws=module_laws("W_v"),
    hints=(
        "Three linear maps in __init__, attention in forward. What is self.W_q, exactly?",
        "In forward all three roles come from the same x. Whose size does the scale use?",
        "nn.Linear(d_in, d_out, bias=False) three times; forward returns the context alone.",
        "q, k, v = self.W_q(x), self.W_k(x), self.W_v(x), then the five steps",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from module_probes(draw, _ROLES)


exercise.reference(attention_module(attention, _ROLES))
exercise.twin(attention_module(attention_in_loops, _ROLES))


@exercise.variant
class MadeInAnotherOrder(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        for name in reversed(_ROLES):
            setattr(self, name, nn.Linear(d_in, d_out, bias=False))
        self.register_buffer("scale", torch.tensor(d_out**-0.5, dtype=torch.float64))

    def forward(self, x):
        scores = (self.W_q(x) @ self.W_k(x).transpose(-2, -1)) * self.scale.item()
        return torch.softmax(scores, dim=-1) @ self.W_v(x)


@exercise.variant
class WithTorchsOwn(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d_in, d_out, bias=False) for _ in range(3))

    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x))


@exercise.variant
class WithTheWeightsThemselves(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_k = nn.Linear(d_in, d_out, bias=False)
        self.W_q = nn.Linear(d_in, d_out, bias=False)
        self.W_v = nn.Linear(d_in, d_out, bias=False)
        self.soft = nn.Softmax(dim=-1)

    def forward(self, x):
        bilinear = self.W_q.weight.T @ self.W_k.weight / self.W_q.out_features**0.5
        return self.soft(x @ bilinear @ x.mT) @ x @ self.W_v.weight.T


add_module_mistakes(exercise, _ROLES)


@exercise.on_top("softmax(q kᵀ / √d_in) v", "scale")
def scaled_by_d_in(make, d_in, d_out):
    """You divided by the root of d_in, the size of the embeddings. The dot product adds over the
    size of a query and a key. How long is a query here?

    Seen in lucidrains/vit-pytorch#65, Graylab/DL4Proteins-notebooks#12,
    juho-lee/set_transformer#18.
    """
    return scaled_by_the_input_size(make, d_in, d_out)


_FROM_X = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}
add_slips(exercise, lambda kernel: attention_module(kernel, _ROLES), _FROM_X, NOT_FOR_MODULES)
