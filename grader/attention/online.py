"""Attention block by block: keys and values pass by once, and each block of scores is forgotten.

Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Rabe and Staats,
"Self-attention Does Not Need O(n²) Memory", 2021. Each step can be replaced, as in `kernels`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor


class Running(NamedTuple):
    """What is known of the keys so far: all that is kept of their scores.

    For one query: their `largest` score, the `total` of exp(score - largest), and the `context`,
    the sum of exp(score - largest) times each value.
    """

    largest: Tensor
    total: Tensor
    context: Tensor


def blocks(k: Tensor, v: Tensor, block: int) -> Iterator[tuple[Tensor, Tensor]]:
    """`block` keys and their values at a time; the last may be fewer."""
    return zip(k.split(block, dim=-2), v.split(block, dim=-2), strict=True)


def scaled(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5


def nothing_yet(q: Tensor, v: Tensor) -> Running:
    column = q.new_zeros(*q.shape[:-1], 1)
    return Running(column - torch.inf, column, q.new_zeros(*q.shape[:-1], v.shape[-1]))


def one_more_block(so_far: Running, scores: Tensor, v: Tensor) -> Running:
    largest = torch.maximum(so_far.largest, scores.amax(dim=-1, keepdim=True))
    fade = torch.exp(so_far.largest - largest)  # what was measured from the old maximum shrinks
    exps = torch.exp(scores - largest)
    total = so_far.total * fade + exps.sum(dim=-1, keepdim=True)
    return Running(largest, total, so_far.context * fade + exps @ v)


def context_over_total(so_far: Running) -> Tensor:
    return so_far.context / so_far.total


def online_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block: int,
    *,
    score: Callable = scaled,
    start: Callable = nothing_yet,
    add: Callable = one_more_block,
    finish: Callable = context_over_total,
) -> Tensor:
    """q (..., T_q, d_k), k (..., T_k, d_k), v (..., T_k, d_v) -> context (..., T_q, d_v).

    Example: `online_attention(q, k, v, 16)` holds (..., T_q, 16) scores at a time.
    """
    so_far = start(q, v)
    for keys, values in blocks(k, v, block):
        so_far = add(so_far, score(q, keys), values)
    return finish(so_far)
