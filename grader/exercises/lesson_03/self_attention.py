"""SelfAttention"""

import torch
from torch import nn

from grader.attention.kernels import attention, attention_in_loops
from grader.attention.modules import NOT_FOR_MODULES, attention_module, module_probes
from grader.attention.slips import add_slips
from grader.exercise import Exercise
from grader.probes import Draw

exercise = Exercise(
    "SelfAttention",
    "03-query-key-value",
    place=4,
    points=4,
    signature="SelfAttention(d_in, d_out); forward(x) -> (..., T, d_out)",
    hints=(
        "Three linear maps in __init__, attention in forward. What is self.W_q, exactly?",
        "In forward all three roles come from the same x. Whose size does the scale use?",
        "nn.Linear(d_in, d_out, bias=False) three times; forward returns the context alone.",
        "q, k, v = self.W_q(x), self.W_k(x), self.W_v(x), then the five steps",
    ),
)
_ROLES = ("W_q", "W_k", "W_v")


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


_FROM_X = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}


@exercise.wrong("softmax(q kᵀ / √d_in) v", "scale")
def scaled_by_d_in(d_in, d_out):
    """You divided by the root of d_in, the size of the embeddings. The dot product adds over the
    size of a query and a key. How long is a query here?"""
    return attention_module(lambda q, k, v: attention(q * (d_out / d_in) ** 0.5, k, v), _ROLES)(
        d_in, d_out
    )


@exercise.wrong("x W + b")
def with_bias(d_in, d_out):
    """Your linear maps have a bias, which the task leaves out: then x @ W is all they do. Which
    argument of nn.Linear turns it off?"""
    return attention_module(attention, _ROLES, bias=True)(d_in, d_out)


@exercise.wrong("(context, weights)")
def weights_returned_too(d_in, d_out):
    """forward gave back the weights as well. A module that stands in a row of others should pass
    on the context alone. Which of the two is it?"""
    return attention_module(attention, _ROLES, output=slice(None))(d_in, d_out)


@exercise.wrong("softmax(q kᵀ / √d_k) x", "mix")
def values_not_projected(d_in, d_out):
    """You mixed x itself: W_v is never used, and the result has d_in features. What does a token
    hand over once it is picked?"""
    module = attention_module(attention, _ROLES)(d_in, d_out)
    module.roles = lambda x: (module.W_q(x), module.W_k(x), x)
    return module


add_slips(exercise, lambda kernel: attention_module(kernel, _ROLES), _FROM_X, NOT_FOR_MODULES)
