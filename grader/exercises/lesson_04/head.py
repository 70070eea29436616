"""Head"""

import math

import torch
from torch import nn

from grader.attention.kernels import attention, attention_in_loops
from grader.attention.mistakes import add_module_mistakes, scaled_by_the_input_size
from grader.attention.modules import NOT_FOR_MODULES, attention_module, module_probes
from grader.attention.slips import add_slips
from grader.exercise import Exercise
from grader.probes import Draw

_NAMES = ("query", "key", "value")

exercise = Exercise(
    "Head",
    "04-square-root-scaling",
    place=5,
    points=3,
    signature="Head(embedding_size, head_size); forward(x) -> (..., T, head_size)",
    hints=(
        "Nothing crashes and it even trains. Which line uses a size that it should not?",
        "A dot product adds over the entries of a query and a key. How many are there?",
        "Step scale: C is the embedding size; the scale needs the head size.",
        "scores * self.key.out_features ** -0.5, or k.shape[-1] ** -0.5",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from module_probes(draw, _NAMES)


exercise.reference(attention_module(attention, _NAMES))
exercise.twin(attention_module(attention_in_loops, _NAMES))


@exercise.variant
class KeyFirst(nn.Module):
    def __init__(self, embedding_size, head_size):
        super().__init__()
        self.key = nn.Linear(embedding_size, head_size, bias=False)
        self.query = nn.Linear(embedding_size, head_size, bias=False)
        self.value = nn.Linear(embedding_size, head_size, bias=False)
        self.head_size = head_size

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        weights = (q @ k.transpose(-2, -1) * self.head_size**-0.5).softmax(dim=-1)
        return weights @ v


@exercise.variant
class ScaledQuery(KeyFirst):
    def forward(self, x):
        q = self.query(x) / math.sqrt(self.query.out_features)
        scores = torch.einsum("...id,...jd->...ij", q, self.key(x))
        return torch.exp(scores - scores.logsumexp(-1, keepdim=True)) @ self.value(x)


@exercise.variant
class WithTorchsOwn(KeyFirst):
    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x))


@exercise.on_top("softmax(q kᵀ · embedding_size^-½) v", "scale")
def scaled_by_embedding_size(make, embedding_size, head_size):
    """The bug is still there: the scale uses the embedding size. The model trains, because the
    scale is only a constant, but it is the wrong one. Which vectors are multiplied, and how
    long are they?

    Seen in karpathy/ng-video-lecture#6, karpathy/ng-video-lecture#28, lucidrains/vit-pytorch#65.
    """
    return scaled_by_the_input_size(make, embedding_size, head_size)


add_module_mistakes(exercise, _NAMES)
add_slips(
    exercise,
    lambda kernel: attention_module(kernel, _NAMES),
    {"q": "q", "k": "k", "v": "v", "s": "q kᵀ · head_size^-½"},
    NOT_FOR_MODULES,
)
