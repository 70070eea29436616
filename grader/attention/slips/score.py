"""Slips in the score: which vectors meet."""

import torch

from grader.attention.slips.slip import slip


@slip("score", "softmax of {k} {q}ᵀ instead of {q} {k}ᵀ")
def keys_times_queries(q, k, v):
    """Your scores are transposed: row i belongs to key i, not to query i. When there are as many
    queries as keys nothing crashes. Which of the two should the rows of the scores stand for?"""
    return k @ q.transpose(-2, -1)


@slip("score", "softmax of {q} {q}ᵀ")
def queries_with_queries(q, k, v):
    """You compared the queries with the queries; the keys had no say. Which two roles meet in a
    score?"""
    return q @ q.transpose(-2, -1)


@slip("score", "softmax of {k} {k}ᵀ")
def keys_with_keys(q, k, v):
    """You compared the keys with the keys; the queries had no say. Which two roles meet in a
    score?"""
    return k @ k.transpose(-2, -1)


@slip("score", "softmax of {q} {v}ᵀ")
def queries_with_values(q, k, v):
    """You compared the queries with the values. A value is what a token hands over once it has
    been picked. Which role is it that a query is held against?

    Seen in cneuralnetwork/solving-ml-papers#1.
    """
    return q @ v.transpose(-2, -1)


@slip("score", "softmax of {q} {k}, without a transpose")
def keys_not_transposed(q, k, v):
    """You multiplied by the keys without transposing them. It only runs because there are as many
    tokens as features. Which axis do a query and a key have in common?

    Seen in DeepLearning.AI's forum, "DLS Course 5 W4 A1 Exercise 3".
    """
    return q @ k


@slip("score", "softmax of {q} {k}ᵀ, all axes of {k} reversed")
def all_axes_reversed(q, k, v):
    """You reversed all the axes of the keys. Without a batch that is a transpose; with one, the
    batch axis moves as well. Which two axes should change places, counted from the back?"""
    return q @ k.permute(*reversed(range(k.dim())))


@slip("score", "softmax of {q} {k}ᵀ, axes 0 and 1 of {k} swapped")
def first_axes_swapped(q, k, v):
    """You swapped axes 0 and 1 of the keys. Without a batch that is a transpose; with one, tokens
    and items change places. Which two axes should change places, counted from the back?"""
    return q @ k.transpose(0, 1)


@slip("score", "softmax of the cosine of {q} and {k}")
def cosine_scores(q, k, v):
    """You divided the scores by the lengths of the vectors, which makes cosines of them. Then a
    long vector weighs no more than a short one. Does the formula mention lengths?"""
    return torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(
        k, dim=-1
    ).transpose(-2, -1)
