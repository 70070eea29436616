"""break_the_sum"""

import torch
from torch import Tensor

from grader.compare import describe
from grader.exercise import Exercise, WrongForm
from grader.probes import Draw, Probe

exercise = Exercise(
    "break_the_sum",
    "02-dot-product-weights",
    place=3,
    points=1,
    signature="break_the_sum() -> (T,)",
    hints=(
        "Try a few rows: scores / scores.sum(). When is the result a set of shares?",
        "While all scores are positive nothing goes wrong. What if one is not?",
        "Step normalise: dividing by the sum keeps signs, and a sum near 0 blows the weights up.",
        "A row such as torch.tensor([3.0, -1.0]) gives the weights 1.5 and -0.5.",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield Probe("your row of scores", ())


@exercise.compare_by
def broken(probe: Probe, row: Tensor) -> str:
    """What dividing the row by its sum leads to, in words."""
    if isinstance(row, tuple) and all(isinstance(score, int | float) for score in row):
        raise WrongForm("a list of numbers came back where a 1-D tensor is expected")
    if not isinstance(row, Tensor):
        raise WrongForm(f"{describe(row)} came back where a 1-D tensor is expected")
    if not row.is_floating_point():
        raise WrongForm(
            f"the scores are of type {row.dtype}, and floating-point numbers are needed"
        )
    if row.dim() == 2 and len(row) == 1:
        raise WrongForm("a row of scores has one axis, and this is a matrix of one row")
    if row.dim() != 1 or not len(row):
        raise WrongForm(f"one row of scores is needed, and this has shape {tuple(row.shape)}")
    if not row.isfinite().all():
        return "the scores themselves must be finite"
    total, row = row.sum(), row.double()  # in which the sum of a few float32 numbers stays finite
    weights = row / row.sum()
    if not weights.isfinite().all() or (weights < 0).any() or (weights > 1).any():
        return "the sum is broken"
    if not total.isfinite():
        return "the sum is infinite, so every weight is 0"
    if (row > 0).all():
        return "all scores are positive, so every weight lies between 0 and 1"
    if (row <= 0).all():
        return "no score is positive, so the signs cancel and every weight lies between 0 and 1"
    return "every weight lies between 0 and 1"


@exercise.reference
def one_negative_score() -> Tensor:
    return torch.tensor([2.0, -1.0, 0.5])


@exercise.twin
def sum_of_zero() -> Tensor:
    return torch.tensor([1.0, -1.0], dtype=torch.float64)


@exercise.variant
def single_zero():
    return torch.zeros(1)


@exercise.variant
def many_random_scores():
    return torch.linspace(-3, 2, 11)


@exercise.variant
def tiny_sum():
    return torch.tensor([1.0, 1e-3, -1.0], dtype=torch.float64)


@exercise.wrong("all scores positive", "normalise")
def all_positive():
    """All your scores are positive. Dividing such a row by its sum gives shares between 0 and 1,
    so nothing is broken. What happens to a score below zero?"""
    return torch.tensor([1.0, 2.0, 3.0])


@exercise.wrong("no score positive", "normalise")
def all_negative():
    """None of your scores is positive, so the sum is negative too, and minus over minus is plus:
    the shares are valid. What happens when the signs differ?"""
    return torch.tensor([-1.0, -2.0, -3.0])


@exercise.wrong("a zero among positive scores", "normalise")
def zero_among_positive():
    """No score of yours is negative. A score of 0 gets a share of 0, which is allowed, and the
    others share the rest. What happens to a score below zero?"""
    return torch.tensor([0.0, 1.0, 2.0])


@exercise.wrong("scores whose sum is infinite", "normalise")
def endless_sum():
    """Your scores are finite, but their sum is more than their type of number holds and comes out
    infinite. Divided by it, every score gives a share of 0, which is allowed. Which signs could
    much smaller scores have?"""
    return torch.tensor([3e38, 3e38])


@exercise.wrong("scores that are not finite", "normalise")
def not_finite():
    """A score is infinite or not a number. Asked for is a row of plain finite scores on which the
    sum alone fails. Which signs could such scores have?"""
    return torch.tensor([1.0, torch.inf])


@exercise.wrong("whole numbers as scores", "")
def whole_numbers():
    """Your scores are whole numbers, and a tensor of those has an integer type that a softmax does
    not take. What does a 3 look like as a floating-point number?"""
    return torch.tensor([3, -1])


@exercise.wrong("a list, not a tensor", "")
def a_list():
    """The scores came back as a list or a tuple, which no softmax takes. Which function makes a
    tensor of a list of numbers?"""
    return [3.0, -1.0]


@exercise.wrong("a matrix of one row", "")
def matrix_of_one_row():
    """Your scores have two axes: a matrix of one row came back. The scores of one query have one
    axis. How many pairs of brackets does a row need?"""
    return torch.tensor([[3.0, -1.0]])
