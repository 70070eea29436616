"""The smallest input that shows what is wrong, as numbers: yours and the right ones."""

import torch
from torch import Tensor

from grader.compare import near
from grader.judge.evidence import Evidence
from grader.verdict import Comparison

MOST = 8  # rows and columns


def exhibit(evidence: list[Evidence]) -> Comparison | None:
    """Chosen among the plain inputs, else among all, with wrong numbers of the right shape."""
    wrong = [
        e for e in evidence if e.well_formed and not e.right and e.has_numbers and e.probe.compare
    ]
    shown = [e for e in wrong if e.is_core] or wrong
    if not shown:
        return None
    smallest = min(shown, key=_how_small)
    part, got, want = _wrong_part(smallest)
    return Comparison(smallest.probe.label, part, _rows(got), _rows(want))


def _how_small(e: Evidence) -> tuple[bool, int]:
    """Fewest numbers first, but a matrix before a single row or column."""
    want = _wrong_part(e)[2]
    return min(want.shape, default=1) == 1, want.numel()


def _wrong_part(e: Evidence) -> tuple[str, Tensor, Tensor]:
    """The name and values of a wrong output, in the first item of the batch that is wrong.

    Of a context and its weights the weights, from which the context follows.
    """
    name, got, want = "", e.call.output, e.want.output
    if isinstance(want, tuple):
        parts = zip(e.exercise.outputs, got, want, strict=True)
        *_, (name, got, want) = (p for p in parts if not near(p[1], p[2]))
    while want.dim() > 2:
        got, want = next((g, w) for g, w in zip(got, want, strict=True) if not near(g, w))
    return name, got, want


def _rows(values: Tensor | float) -> tuple[tuple[float, ...], ...]:
    square = torch.atleast_2d(torch.as_tensor(values, dtype=torch.float64))[:MOST, :MOST]
    return tuple(tuple(float(f"{v:.4g}") for v in row) for row in square.tolist())
