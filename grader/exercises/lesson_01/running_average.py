"""running_average"""

import torch
from torch import Tensor

from grader.attention.running import add_running_mistakes, counts
from grader.exercise import Exercise
from grader.laws import future_does_not_matter, inside_the_values, items_stay_apart
from grader.probes import BATCHES, EDGES, LARGE, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "running_average",
    "01-averaging",
    place=4,
    points=3,
    signature="running_average(x) -> (..., T, d)",
    laws=(
        future_does_not_matter(0),
        inside_the_values(lambda probe: probe.args[0], lambda out: out),
        items_stay_apart(),
    ),
    hints=(
        "Row i may use rows 0 to i and nothing later. How many rows is that?",
        "What would a matrix of weights look like in which token i gives nothing to later tokens?",
        "Steps mask and normalise: a lower triangle of ones, each row divided by its own sum.",
        "x.cumsum(dim=-2) divided, row by row, by 1, 2, ..., T",
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
    yield Probe("a batch of 3, 4×4", (draw(3, 4, 4),), BATCHES)
    yield Probe("one token", (draw(1, 3),), EDGES)
    yield Probe("one feature", (draw(6, 1),), EDGES)
    yield Probe("values near 1e5", (1e5 * draw(6, 2).double(),), LARGE)


@exercise.reference
def mean_up_to_each_row(x: Tensor) -> Tensor:
    return x.cumsum(dim=-2) / counts(x)


@exercise.twin
def one_prefix_at_a_time(x: Tensor) -> Tensor:
    rows = [sum(x[..., j, :] for j in range(i + 1)) / (i + 1) for i in range(x.shape[-2])]
    return torch.stack(rows, dim=-2)


@exercise.variant
def by_triangle(x):
    triangle = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype, device=x.device).tril()
    return triangle / triangle.sum(dim=-1, keepdim=True) @ x


@exercise.variant
def by_masked_softmax(x):
    T = x.shape[-2]
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
    scores = torch.zeros(T, T, dtype=x.dtype, device=x.device).masked_fill(future, -torch.inf)
    return torch.softmax(scores, dim=-1) @ x


@exercise.variant
def by_updating(x):
    rows, mean = [], torch.zeros_like(x[..., 0, :])
    for i in range(x.shape[-2]):
        mean = mean + (x[..., i, :] - mean) / (i + 1)
        rows.append(mean)
    return torch.stack(rows, dim=-2)


add_running_mistakes(exercise)
