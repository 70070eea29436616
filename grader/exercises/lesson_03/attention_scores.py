"""attention_scores"""

import torch
from torch import Tensor, nn

from grader.attention.kernels import causal
from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, SQUARE, Draw, Probe, usual

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
    yield from usual(draw, (4, 8), (9, 8))
    yield Probe("19×4 and 67×4", (draw(19, 4), draw(67, 4)))
    yield Probe("5×6 and 5×6", (draw(5, 6), draw(5, 6)), SQUARE)
    yield Probe("a batch of 2, 5×6 and 5×6", (draw(2, 5, 6), draw(2, 5, 6)), BATCHES)
    yield Probe("4×4 and 4×4", (draw(4, 4), draw(4, 4)), SQUARE)
    yield Probe("a batch of 3, 3×3 and 3×3", (draw(3, 3, 3), draw(3, 3, 3)), BATCHES)
    yield Probe("one query, one key", (draw(1, 3), draw(1, 3)), EDGES)
    yield Probe("one feature", (draw(5, 1), draw(7, 1)), EDGES)


@exercise.reference
def every_pair(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1)


@exercise.twin
def pair_by_pair(q: Tensor, k: Tensor) -> Tensor:
    keys = k.unbind(-2)
    rows = [[(query * key).sum(-1) for key in keys] for query in q.unbind(-2)]
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


@exercise.on_top("k qᵀ", "score")
def keys_times_queries(kernel, q, k):
    """Your scores are transposed: row i belongs to key i. Who should the rows stand for?"""
    return kernel(k, q)


@exercise.on_top("qᵀ k", "score")
def features_with_features(kernel, q, k):
    """You turned q instead of k, so the sum ran over the tokens and features met features. It
    only runs with as many queries as keys. Over which axis should a dot product add up?"""
    return kernel(q.transpose(-2, -1), k.transpose(-2, -1))


@exercise.wrong("q * k", "score")
def number_times_number(q, k):
    """You multiplied number by number: query i met only key i, and nothing was added up. It only
    runs with as many queries as keys. Which operation meets every query with every key?"""
    return q * k


@exercise.wrong("the sums of the rows of q * k", "score")
def one_score_per_query(q, k):
    """You took the dot product of query i with key i alone, so there is one score per query. It
    only runs with as many queries as keys. How many keys does each query meet?"""
    return (q * k).sum(dim=-1)


@exercise.on_top("q k, without a transpose", "score")
def keys_not_transposed(kernel, q, k):
    """You multiplied by k as it is. It only runs because there are as many tokens as features.
    Which axis do a query and a key have in common?

    Seen in DeepLearning.AI's forum, "DLS Course 5 W4 A1 Exercise 3".
    """
    return kernel(q, k.transpose(-2, -1))


@exercise.on_top("q times k with all axes reversed", "score")
def all_axes_reversed(kernel, q, k):
    """You reversed all the axes of k. Without a batch that is a transpose; with one, the batch
    axis moves as well. Which two axes should change places, counted from the back?"""
    return kernel(q, k.permute(*reversed(range(k.dim()))).transpose(-2, -1))


@exercise.on_top("q times k with axes 0 and 1 swapped", "score")
def first_axes_swapped(kernel, q, k):
    """You swapped axes 0 and 1 of k. Without a batch that is a transpose; with one, tokens and
    items change places. Which two axes should change places, counted from the back?"""
    return kernel(q, k.transpose(0, 1).transpose(-2, -1))


@exercise.on_top("q qᵀ", "score")
def queries_with_queries(kernel, q, k):
    """You compared queries with queries; the keys had no say. Which two roles meet in a score?"""
    return kernel(q, q)


@exercise.on_top("k kᵀ", "score")
def keys_with_keys(kernel, q, k):
    """You compared keys with keys; the queries had no say. Which two roles meet in a score?"""
    return kernel(k, k)


@exercise.on_top("q kᵀ / √d_k", "scale")
def scaled_already(kernel, q, k):
    """You divided by the root of d_k. That is the next step; here the plain scores are asked for.
    Which step of the five is this one?"""
    return kernel(q, k) / k.shape[-1] ** 0.5


@exercise.on_top("q kᵀ / d_k", "score")
def mean_of_products(kernel, q, k):
    """You divided by d_k: that is the mean of the products of two vectors, not their sum. What
    does a dot product do with the products?"""
    return kernel(q, k) / k.shape[-1]


@exercise.on_top("q kᵀ, later keys hidden", "mask")
def masked_already(kernel, q, k):
    """You hid the later keys from each query. Nothing here asks for a mask; the plain scores are
    wanted. Which step of the five is this one?"""
    return causal(kernel(q, k))


@exercise.on_top("softmax(q kᵀ)", "normalise")
def weights_already(kernel, q, k):
    """You went on to the softmax: these are weights. Scores come before it. Which step of the
    five is this one?"""
    return torch.softmax(kernel(q, k), dim=-1)


@exercise.on_top("the cosine of q and k", "score")
def cosine(kernel, q, k):
    """You divided by the lengths of the vectors, which makes cosines of the dot products. Does
    the formula mention lengths?"""
    return kernel(nn.functional.normalize(q, dim=-1), nn.functional.normalize(k, dim=-1))
