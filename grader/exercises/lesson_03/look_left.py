"""look_left"""

import torch
from torch import Tensor

from grader.exercise import Exercise, WrongForm
from grader.probes import EDGES, Draw, Probe

TIE = 1e-6  # weights this near to each other are equal up to rounding

exercise = Exercise(
    "look_left",
    "03-query-key-value",
    place=6,
    points=3,
    signature="look_left(T) -> (W_q, W_k), each (T, T)",
    hints=(
        "With x = I the queries are the rows of W_q and the keys are the rows of W_k. What is the "
        "score of query i and key j then?",
        "Let the keys be as they are: key j has a 1 at place j. Where must query i have its 1?",
        "Step score: entry (i, i - 1) of W_q times W_k transposed must be the largest of row i.",
        "W_k = torch.eye(T), and W_q is the identity with its ones moved one place to the left",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from (Probe(f"T = {T}", (T,)) for T in (5, 2, 8, 3, 19, 67))
    yield Probe("T = 1", (1,), EDGES)


@exercise.compare_by
def where_they_look(probe: Probe, matrices: tuple[Tensor, Tensor]) -> str:
    """Whether tokens 1, 2, ... look at the token before them, or where they look instead."""
    (T,) = probe.args
    if not (
        isinstance(matrices, tuple)
        and len(matrices) == 2
        and all(isinstance(W, Tensor) for W in matrices)
    ):
        raise WrongForm("two tensors are needed, W_q and W_k")
    if any(W.shape != (T, T) for W in matrices):
        shapes = " and ".join(str(tuple(W.shape)) for W in matrices)
        raise WrongForm(f"both matrices should have shape {(T, T)}, and these have {shapes}")
    W_q, W_k = (W.double() for W in matrices)
    weights = torch.softmax(W_q @ W_k.T / T**0.5, dim=-1)
    if not weights.isfinite().all():
        return "the weights are not finite"
    rows = range(1, T)
    largest = (1 - TIE) * weights.amax(dim=-1)
    places = [(weights[i] > largest[i]).nonzero().flatten().tolist() for i in rows]
    if all(place == [i - 1] for i, place in zip(rows, places, strict=True)):
        return "every token looks left"
    seen = [
        f"token {i} gives its largest weight to {_list(p)}"
        for i, p in zip(rows, places, strict=True)
    ]
    return "; ".join(seen)


def _list(places: list[int]) -> str:
    return " and ".join(f"token {p}" for p in places)


@exercise.reference
def queries_moved(T: int) -> tuple[Tensor, Tensor]:
    return 9 * torch.eye(T).roll(-1, dims=1), torch.eye(T)


@exercise.twin
def one_by_one(T: int) -> tuple[Tensor, Tensor]:
    W_q = torch.zeros(T, T)
    for i in range(1, T):
        W_q[i, i - 1] = 1.0
    return W_q, torch.eye(T)


@exercise.variant
def keys_moved(T):
    return torch.eye(T), torch.diag(torch.ones(T - 1), diagonal=1)


@exercise.variant
def both_moved(T):
    turn = torch.linalg.qr(torch.randn(T, T, generator=torch.Generator().manual_seed(1)))[0]
    return torch.eye(T, dtype=turn.dtype).roll(-1, 1) @ turn, turn


@exercise.variant
def by_distance(T):
    i = torch.arange(T, dtype=torch.float64)
    return -((i[:, None] - 1 - i) ** 2), torch.eye(T, dtype=torch.float64)


@exercise.wrong("token i looks at token i + 1", "score")
def looks_right(T):
    """Each token looks at the one after it: the shift goes the wrong way, or the matrices are in
    each other's place. In the scores, which of the two matrices stands for the rows?"""
    return torch.eye(T).roll(1, dims=1), torch.eye(T)


@exercise.wrong("token i looks at token i + 1, and the last one everywhere", "score")
def looks_right_but_for_the_last(T):
    """Each token looks at the one after it: the shift goes the wrong way, or the matrices are in
    each other's place. In the scores, which of the two matrices stands for the rows?"""
    return torch.eye(T), torch.diag(torch.ones(T - 1), diagonal=-1)


@exercise.wrong("token i looks at token i", "score")
def looks_at_itself(T):
    """Each token looks at itself: query i meets key i. Where must query i point to meet the key
    before it?"""
    return torch.eye(T), torch.eye(T)


@exercise.wrong("every token looks at all tokens alike", "score")
def looks_everywhere(T):
    """Each token gives the same weight to several tokens, so none is strictly the largest. Which
    one entry in each row of the scores should stand out?"""
    return torch.zeros(T, T), torch.zeros(T, T)


@exercise.wrong("every token looks at token 0", "score")
def looks_at_the_first(T):
    """Every token looks at token 0. How could each query point to a place of its own?"""
    W_q = torch.zeros(T, T)
    W_q[:, 0] = 1
    return W_q, torch.eye(T)


@exercise.wrong("every token looks at the last one", "score")
def looks_at_the_last(T):
    """Every token looks at the last one. An index of -1 counts from the end and means no step to
    the left. How could each query point to a place of its own?"""
    W_q = torch.zeros(T, T)
    W_q[:, -1] = 1
    return W_q, torch.eye(T)


@exercise.wrong("token i looks at all tokens before it alike", "score")
def looks_at_all_before(T):
    """Each token gives the same weight to all tokens before it, as a running average would. Which
    one entry in each row of the scores should stand out?"""
    return torch.ones(T, T).tril(-1), torch.eye(T)


@exercise.wrong("token i looks at token i - 2", "score")
def looks_two_to_the_left(T):
    """Each token looks two places to the left: both matrices are shifted, and the steps add up.
    How far apart are the ones of row i in the two matrices?"""
    return torch.eye(T).roll(-1, dims=1), torch.eye(T).roll(1, dims=1)
