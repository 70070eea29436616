"""Attention in its five steps, score – scale – mask – normalise – mix, each replaceable."""

from collections.abc import Callable

import torch
from torch import Tensor


def dot_products(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1)


def by_root_of_d_k(scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scores / k.shape[-1] ** 0.5


def as_they_are(scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return scores


def over_the_keys(scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


def of_the_values(weights: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return weights @ v


def both(context: Tensor, weights: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    return context, weights


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    score: Callable = dot_products,
    scale: Callable = by_root_of_d_k,
    mask: Callable = as_they_are,
    normalise: Callable = over_the_keys,
    mix: Callable = of_the_values,
    give: Callable = both,
) -> tuple[Tensor, Tensor]:
    """q (..., T_q, d_k), k (..., T_k, d_k), v (..., T_k, d_v) -> context (..., T_q, d_v), weights.

    Vaswani et al., "Attention Is All You Need", 2017, equation 1.
    Example: `attention(q, k, v, scale=as_they_are)` leaves the scores unscaled.
    """
    scores = scale(score(q, k, v), q, k, v)
    weights = normalise(mask(scores, q, k, v), q, k, v)
    return give(mix(weights, q, k, v), weights, scores)


def attention_in_loops(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None):
    """The same for every number by itself: the twin that the tests hold `attention` against."""
    if q.dim() > 2:
        pairs = [attention_in_loops(*each, scale) for each in zip(q, k, v, strict=True)]
        return tuple(torch.stack(parts) for parts in zip(*pairs, strict=True))
    context, weights = [], []
    for query in q:
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in k]
        scores = [s * (k.shape[1] ** -0.5 if scale is None else scale) for s in scores]
        exps = [torch.exp(s - max(scores)) for s in scores]
        weights.append(torch.stack([e / sum(exps) for e in exps]))
        context.append(sum(w * value for w, value in zip(weights[-1], v, strict=True)))
    return torch.stack(context), torch.stack(weights)
