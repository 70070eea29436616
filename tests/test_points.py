"""Points follow from what holds, are explained by it, and stay between nothing and everything."""

import pytest
import torch

from grader import grade


def softmax(scores, base=torch.e):
    exps = base ** (scores - scores.amax(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)


def attend(q, k, v, scale):
    weights = softmax(q @ k.mT * scale)
    return weights @ v, weights


def unscaled(q, k, v):
    return attend(q, k, v, 1.0)


def unscaled_over_the_queries(q, k, v):
    weights = torch.softmax(q @ k.mT, dim=-2)
    return weights @ v, weights


def by_place(q, k, v):
    scores = q @ k.mT + torch.arange(k.shape[-2], dtype=q.dtype)
    weights = softmax(scores)
    return weights @ v, weights


def test_wrong_values_that_keep_every_law_earn_half():
    verdict = grade("scaled_dot_product_attention", unscaled)
    assert verdict.points == 2.5
    assert verdict.because == "Half is left for what holds all the same."


def test_every_law_that_fails_costs_a_quarter_and_is_named():
    verdict = grade("scaled_dot_product_attention", by_place)
    assert verdict.points == 1.25
    order = "another order of the tokens gives the same rows in that order"
    assert verdict.because.endswith(f"less a quarter for each that fails: {order}.")


def test_two_laws_that_fail_leave_nothing():
    assert grade("scaled_dot_product_attention", unscaled_over_the_queries).points == 0


def test_right_plain_values_lose_a_quarter_for_each_property():
    verdict = grade("softmax", lambda s: softmax(s).double())
    assert verdict.points == 2.25
    assert verdict.because == (
        "The plain values are right, less a quarter for each that fails: the expected dtype."
    )


SILLY = {
    "an input given back": ("running_average", lambda x: x),
    "an input cloned": ("average", lambda x: x.clone()),
    "a plain average, whatever the queries": (
        "scaled_dot_product_attention",
        lambda q, k, v: attend(0 * q.detach(), k, v, 1.0),
    ),
    "equal weights": ("softmax", lambda s: torch.full_like(s, 1 / s.shape[-1])),
    "nothing but nan": ("softmax", lambda s: s * torch.nan),
    "the right numbers in another shape": ("average", lambda x: x.mean(-2)),
}


@pytest.mark.parametrize(("exercise", "answer"), SILLY.values(), ids=SILLY)
def test_what_says_nothing_earns_nothing_though_it_keeps_laws(exercise, answer):
    assert grade(exercise, answer).points == 0


def test_an_exercise_without_laws_is_right_or_wrong():
    verdict = grade("mix", lambda weights, x: weights @ x / x.shape[-2])
    assert verdict.points == 0
    assert verdict.because == "Nothing is earned until this holds: right values."


@pytest.mark.parametrize("base", [2, 4, 10.0])
@pytest.mark.parametrize("seed", [0, 3])
def test_points_are_a_plain_finite_number_below_the_most(base, seed):
    verdict = grade("softmax", lambda s: softmax(s, base), seed=seed)
    assert type(verdict.points) is float
    assert 0 < verdict.points < verdict.max_points


@pytest.mark.parametrize("number", [0.0, 0.5])
@pytest.mark.parametrize("name", ["average", "running_average"])
def test_one_and_the_same_number_everywhere_earns_nothing(name, number):
    """Not even if a gradient reaches the input: nothing is said about it."""
    for seed in range(3):
        assert grade(name, lambda x: x - x.detach() + number, seed=seed).points == 0
        assert grade(name, lambda x: (x.data.fill_(number), x)[1], seed=seed).points == 0
