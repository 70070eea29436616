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


def later_keys(scores: Tensor) -> Tensor:
    """True where key j comes after query i: the entries that a causal mask hides."""
    return torch.ones_like(scores, dtype=torch.bool).triu(1)


def causal(scores: Tensor, *_: Tensor) -> Tensor:
    return scores.masked_fill(later_keys(scores), -torch.inf)


def over_the_keys(scores: Tensor, *_: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


def of_the_values(weights: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return weights @ v


def both(context: Tensor, weights: Tensor, scores: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
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
    Example: `attention(q, k, v, scale=as_they_are)` leaves the scores unscaled,
    `attention(q, k, v, mask=causal)` hides the later keys.
    """
    scores = mask(scale(score(q, k, v), q, k, v), q, k, v)
    weights = normalise(scores, q, k, v)
    return give(mix(weights, q, k, v), weights, scores, v)


def attention_in_loops(q: Tensor, k: Tensor, v: Tensor, scale: float | None = None):
    """The same for one query and one key at a time: the twin that the tests hold `attention` to."""
    scale = k.shape[-1] ** -0.5 if scale is None else scale
    keys, values = k.unbind(-2), v.unbind(-2)
    context, weights = [], []
    for query in q.unbind(-2):
        scores = scale * torch.stack([(query * key).sum(-1) for key in keys], dim=-1)
        exps = torch.exp(scores - scores.amax(-1, keepdim=True))
        weights.append(exps / exps.sum(-1, keepdim=True))
        shares = weights[-1].split(1, dim=-1)
        context.append(sum(share * value for share, value in zip(shares, values, strict=True)))
    return torch.stack(context, dim=-2), torch.stack(weights, dim=-2)


def causal_attention_in_loops(q: Tensor, k: Tensor, v: Tensor):
    """The same for one query at a time, which is shown nothing but the keys up to its own."""
    context, weights = [], []
    for i in range(q.shape[-2]):
        seen = slice(0, i + 1)
        row, shares = attention_in_loops(q[..., i : i + 1, :], k[..., seen, :], v[..., seen, :])
        context.append(row)
        weights.append(torch.nn.functional.pad(shares, (0, k.shape[-2] - i - 1)))
    return torch.cat(context, dim=-2), torch.cat(weights, dim=-2)
