"""Comparing values: rounding is forgiven, structure is not, and a wrong shape is explained."""

import pytest
import torch

from grader.compare import close, describe, largest_difference, shape_problem, structure_problem
from grader.wire import Other

FINE = (1e-8, 1e-9)


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        ((7, 5), (5, 7), "the last two axes are swapped"),
        ((2, 7, 5), (2, 5, 7), "the last two axes are swapped"),
        ((5, 2, 7), (2, 5, 7), "the axes are in another order"),
        ((2, 5, 1), (2, 5, 7), "axis -1 has length 1 instead of 7"),
        ((3, 5, 1), (2, 5, 7), "axis -3 has length 3 instead of 2 and axis -1 has length 1"),
        ((5,), (5, 7), "axis -1, of length 7, is gone"),
        ((7,), (5, 7), "axis -2, of length 5, is gone"),
        ((7,), (2, 5, 7), "too few axes"),
        ((5, 1, 7), (5, 7), "axis -2, of length 1, is too much"),
        ((1, 5, 1, 7), (5, 7), "too many axes"),
    ],
)
def test_a_wrong_shape_is_explained_axis_by_axis(got, want, words):
    problem = shape_problem(got, want)
    assert words in problem
    assert str(got) in problem
    assert str(want) in problem


def test_a_right_shape_has_no_problem():
    assert shape_problem((2, 5), (2, 5)) == ""


@pytest.mark.parametrize("number", [1, 1.0, torch.tensor(1.0), torch.tensor(1)])
def test_a_number_may_be_pythons_or_torchs(number):
    assert close(number, 1.0, *FINE)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1.001, 1.0),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.ones(2), (torch.ones(2), torch.ones(2))),
        ((torch.ones(2),), (torch.ones(2), torch.ones(2))),
        (True, 1.0),
        ("1", 1.0),
        (None, torch.ones(2)),
        (Other("ndarray"), torch.ones(2)),
        (torch.tensor([torch.nan]), torch.ones(1)),
        (torch.tensor([torch.inf]), torch.tensor([-torch.inf])),
        ({"a": "x"}, {"b": "x"}),
        ({"a": "x"}, {"a": "y"}),
    ],
)
def test_other_values_and_other_structures_differ(got, want):
    assert not close(got, want, *FINE)


def test_rounding_is_forgiven_and_nan_equals_nan():
    want = torch.tensor([1.0, torch.nan], dtype=torch.float64)
    assert close(want + 1e-10, want, *FINE)


def test_the_largest_difference_is_the_largest():
    assert largest_difference(torch.tensor([1.0, 5.0]), torch.tensor([2.0, 2.0])) == 3.0
    assert largest_difference(torch.tensor([torch.nan]), torch.ones(1)) == torch.inf


def test_the_output_with_the_problem_is_numbered():
    pair = (torch.ones(2), torch.ones(3))
    assert structure_problem((torch.ones(2), torch.ones(4)), pair).startswith("output 2 of 2")


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "None"), (torch.ones(2, 3), "(2, 3)"), ((1, 2), "2 values"), ("no", "a string"),
     (Other("ndarray"), "an ndarray"), (2.5, "a single number"), ({}, "a dict")],
)  # fmt: skip
def test_every_kind_of_value_has_a_name(value, words):
    assert words in describe(value)
