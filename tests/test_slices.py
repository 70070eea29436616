"""Which part of a wrong result is right: every finding is true, the most telling comes first."""

import pytest
import torch

from grader import grade
from grader.judge.slices import findings


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))


def first(got, want, names=()):
    return next(findings(got, want, list(names)), None)


WANT = normal(5, 6)
COLUMN_FACTORS = torch.tensor([[2.0], [0.5], [-1.0], [3.0], [1.0]], dtype=torch.float64)


def spoiled(rows=(), columns=()):
    got = WANT.clone()
    for i in rows:
        got[i] += normal(6)
    for j in columns:
        got[:, j] += normal(5)
    return got


@pytest.mark.parametrize(
    ("got", "kind", "step"),
    [
        (3 * WANT, "factor", ""),
        (-WANT, "factor", ""),
        (WANT + 0.7, "shift", ""),
        (WANT * COLUMN_FACTORS, "row factors", "normalise"),
        (spoiled(rows=(0, 1, 2, 3)), "last row", "mask"),
        (spoiled(rows=(1, 2, 3, 4)), "first row", ""),
        (spoiled(rows=(1, 3)), "some rows", ""),
        (spoiled(columns=(2, 3, 4, 5)), "first columns", ""),
        (spoiled(columns=(0, 3)), "some columns", ""),
        (WANT[:, [2, 3, 0, 1, 4, 5]], "some columns", ""),
        (WANT[:, [2, 3, 4, 5, 0, 1]], "order of columns", ""),
        (WANT.roll(2, 0), "order of rows", ""),
    ],
)
def test_the_part_that_is_right_is_found(got, kind, step):
    found = first(got, WANT)
    assert (found.kind, found.step) == (kind, step)
    assert found.question.endswith("?")


def test_a_square_result_with_rows_and_columns_swapped_is_called_transposed():
    square = normal(4, 4)
    assert first(square.mT, square).kind == "transposed"


def test_the_right_items_of_a_batch_are_counted_along_their_axis():
    want = normal(3, 2, 5, 4)
    got = want.clone()
    got[1:] += normal(2, 2, 5, 4)
    found = first(got, want)
    assert found.text == "Along axis 0 only these are right: 0."


def test_the_first_head_alone_is_told_by_its_columns():
    assert "Only these columns are right: 0, 1." in first(spoiled(columns=(2, 3, 4, 5)), WANT).text


def test_of_several_outputs_the_right_one_is_named_and_the_wrong_one_looked_at():
    found = first((WANT, 2 * WANT), (WANT, WANT), ["context", "weights"])
    assert (
        found.text == "Right by itself: context. Of weights: every number is 2 times the right one."
    )


@pytest.mark.parametrize("got", [normal(5, 6) * WANT, WANT * torch.nan, torch.zeros_like(WANT)])
def test_nothing_is_said_where_nothing_is_right(got):
    assert first(got, WANT) is None


def test_a_finding_must_be_true_of_every_plain_input():
    def last_row_of_five(x):
        mean = x.cumsum(-2) / torch.arange(1, x.shape[-2] + 1, dtype=x.dtype).unsqueeze(-1)
        wrong = mean + x.square()
        return torch.cat([wrong[..., :-1, :], (mean if len(x) == 5 else wrong)[..., -1:, :]], -2)

    verdict = grade("running_average", last_row_of_five)
    assert "last row" not in verdict.message
    assert verdict.step == ""


def test_a_right_last_row_points_at_the_mask():
    def leaking(x):
        T = x.shape[-2]
        future = x.sum(-2, keepdim=True) - x.cumsum(-2)
        counts = torch.arange(1, T + 1, dtype=x.dtype).unsqueeze(-1)
        return x.cumsum(-2) / counts + 0.1 * future

    verdict = grade("running_average", leaking)
    assert verdict.step == "mask"
    assert "The last row alone is right" in verdict.message
    assert verdict.misconception is None
