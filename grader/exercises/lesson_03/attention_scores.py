"""attention_scores"""

import torch
from torch import Tensor, nn

from grader.exercise import Exercise
from grader.probes import EDGES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "attention_scores",
    "03-query-key-value",
    place=2,
    points=1,
    signature="attention_scores(q, k) -> (..., T_q, T_k)",
    hints=(
        "Row i belongs to query i, column j to key j. What is entry (i, j)?",
        "q is (T_q, d_k) and k is (T_k, d_k). Which of the two must be turned?",
        "Step score: the last two axes of k change places, whatever stands before them.",
        "q @ k.transpose(-2, -1)",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 6), (7, 6))
    yield from usual(draw, (19, 2), (3, 2))
    yield Probe("5×6 and 23×6", (draw(5, 6), draw(23, 6)))
    yield Probe("5×6 and 5×6", (draw(5, 6), draw(5, 6)), SQUARE)
    yield Probe("a batch of 2, 5×6 and 5×6", (draw(2, 5, 6), draw(2, 5, 6)), SQUARE)
    yield Probe("4×4 and 4×4", (draw(4, 4), draw(4, 4)), SQUARE)
    yield Probe("one query, one key", (draw(1, 3), draw(1, 3)), EDGES)
    yield Probe("one feature", (draw(5, 1), draw(7, 1)), EDGES)


@exercise.reference
def every_pair(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1)


@exercise.twin
def pair_by_pair(q: Tensor, k: Tensor) -> Tensor:
    rows = [
        [sum(q[..., i, a] * k[..., j, a] for a in range(q.shape[-1])) for j in range(k.shape[-2])]
        for i in range(q.shape[-2])
    ]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


@exercise.variant
def pairs_by_einsum(q, k):
    return torch.einsum("...qd,...kd->...qk", q, k)


@exercise.variant
def pairs_by_broadcasting(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(dim=-1)


@exercise.variant
def turned_at_the_end(q, k):
    return (k @ q.mT).mT


@exercise.wrong("k qᵀ", "score")
def keys_times_queries(q, k):
    """Your scores are transposed: row i belongs to key i. Who should the rows stand for?"""
    return k @ q.transpose(-2, -1)


@exercise.wrong("qᵀ k", "score")
def features_with_features(q, k):
    """You turned q instead of k, so the sum ran over the tokens and features met features. It
    only runs with as many queries as keys. Over which axis should a dot product add up?"""
    return q.transpose(-2, -1) @ k


@exercise.wrong("q * k", "score")
def number_times_number(q, k):
    """You multiplied number by number: query i met only key i, and nothing was added up. It only
    runs with as many queries as keys. Which operation meets every query with every key?"""
    return q * k


@exercise.wrong("q k, without a transpose", "score")
def keys_not_transposed(q, k):
    """You multiplied by k as it is. It only runs because there are as many tokens as features.
    Which axis do a query and a key have in common?"""
    return q @ k


@exercise.wrong("q qᵀ", "score")
def queries_with_queries(q, k):
    """You compared queries with queries; the keys had no say. Which two roles meet in a score?"""
    return q @ q.transpose(-2, -1)


@exercise.wrong("q kᵀ / √d_k", "scale")
def scaled_already(q, k):
    """You divided by the root of d_k. That is the next step; here the plain scores are asked for.
    Which step of the five is this one?"""
    return q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5


@exercise.wrong("softmax(q kᵀ)", "normalise")
def weights_already(q, k):
    """You went on to the softmax: these are weights. Scores come before it. Which step of the
    five is this one?"""
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1)


@exercise.wrong("the cosine of q and k", "score")
def cosine(q, k):
    """You divided by the lengths of the vectors, which makes cosines of the dot products. Does
    the formula mention lengths?"""
    return nn.functional.normalize(q, dim=-1) @ nn.functional.normalize(k, dim=-1).mT
