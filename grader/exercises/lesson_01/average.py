"""average"""

import torch
from torch import Tensor

from grader.attention.averages import add_average_mistakes
from grader.exercise import Exercise
from grader.laws import inside_the_values, items_stay_apart
from grader.probes import EDGES, LARGE, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "average",
    "01-averaging",
    place=1,
    points=1,
    signature="average(x) -> (..., T, d)",
    laws=(inside_the_values(lambda probe: probe.args[0], lambda out: out), items_stay_apart()),
    hints=(
        "The tokens are the rows of x. Which axis runs over the rows, counted from the back?",
        "Every token gets the same blend. How many rows must come out?",
        "Step mix: take the mean over axis -2, keep that axis, and repeat the row T times.",
        "x.mean(dim=-2, keepdim=True).expand_as(x)",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 3))
    yield from usual(draw, (11, 7))
    yield Probe("67×2", (draw(67, 2),))
    # Narrow columns far from 0 and from each other: whatever is no average of one leaves its range.
    narrow = draw(5, 3).abs() / 50 + torch.tensor([1.0, 2, 3])
    yield Probe("columns near 1, 2 and 3", (narrow,))
    yield Probe("4×4", (draw(4, 4),), SQUARE)
    yield Probe("one token", (draw(1, 3),), EDGES)
    yield Probe("one feature", (draw(6, 1),), EDGES)
    yield Probe("values near 1e5", (1e5 * draw(6, 2).double(),), LARGE)


@exercise.reference
def mean_of_the_tokens(x: Tensor) -> Tensor:
    return x.mean(dim=-2, keepdim=True).expand_as(x)


@exercise.twin
def add_up_and_divide(x: Tensor) -> Tensor:
    T = x.shape[-2]
    total = sum(x[..., j, :] for j in range(T))
    return torch.stack([total / T for _ in range(T)], dim=-2)


@exercise.variant
def by_matrix(x):
    T = x.shape[-2]
    return torch.full((T, T), 1 / T, dtype=x.dtype, device=x.device) @ x


@exercise.variant
def by_broadcasting(x):
    return torch.zeros_like(x) + x.sum(-2, keepdim=True) / x.size(-2)


@exercise.variant
def by_einsum(x):
    return (
        torch.einsum("...td->...d", x)
        .div(x.shape[-2])
        .unsqueeze(-2)
        .repeat_interleave(x.shape[-2], dim=-2)
    )


add_average_mistakes(exercise)
