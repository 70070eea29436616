"""HEADS: the slips of attention inside several heads, causal or not as the module is told.

The axis of the heads stands before those of queries and keys: q is (..., n_heads, T, head_size).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grader.attention.kernels import attention
from grader.attention.slips.causal import CAUSAL
from grader.attention.slips.slip import SLIPS, Slip, slip

_OF_HEADS: list[Slip] = []
head_slip = partial(slip, among=_OF_HEADS)

#: slips that speak of axes counted from the front, where heads are not thought of
_COUNTED_FROM_THE_FRONT = (
    "over_axis_0",
    "over_axis_1",
    "over_axis_2",
    "d_k_from_axis_0",
    "d_k_from_axis_1",
    "d_k_from_axis_2",
    "first_axes_swapped",
    "all_axes_reversed",
)


def _filled(scores):
    """Where a softmax meets nothing but hidden keys, -∞ gives NaN and a finite number does not."""
    return scores.masked_fill(scores == -torch.inf, -1e9)


@head_slip("score", "softmax of {q} {k}ᵀ, axes 1 and 2 of {k} exchanged")
def axes_1_and_2_swapped(q, k, v):
    """You exchanged axes 1 and 2 of the keys. Without a batch that is a transpose; with one, heads
    and tokens change places. Which two axes should change places, counted from the back?"""
    return q @ k.transpose(1, 2)


@head_slip("scale", "softmax({q} {k}ᵀ / √d_model) {v}")
def divided_by_root_of_d_model(scores, q, k, v):
    """You divided by the root of d_model. A dot product adds over the features of one head, and
    those are fewer. How long are the two vectors that meet in a score?

    Seen in karpathy/ng-video-lecture#6, lucidrains/vit-pytorch#65,
    Graylab/DL4Proteins-notebooks#12, juho-lee/set_transformer#18,
    aladdinpersson/Machine-Learning-Collection#65.
    """
    return scores / (k.shape[-1] * k.shape[-3]) ** 0.5


@head_slip("scale", "softmax({q} {k}ᵀ / d_model) {v}")
def divided_by_d_model(scores, q, k, v):
    """You divided by d_model, without a root. A dot product adds over the features of one head.
    How many are they, and what is the standard deviation of their sum?"""
    return scores / (k.shape[-1] * k.shape[-3])


@head_slip("scale", "softmax({q} {k}ᵀ / √n_heads) {v}")
def divided_by_root_of_n_heads(scores, q, k, v):
    """You divided by the root of the number of heads. A dot product does not add over heads. Over
    which axis does it add, and how long is that axis?"""
    return scores / k.shape[-3] ** 0.5


@head_slip("scale", "softmax({q} {k}ᵀ / √(length of axis 2)) {v}")
def d_k_from_axis_2(scores, q, k, v):
    """You read the head size from axis 2. Without a batch that is right; with one, it is the number
    of tokens. Which number means 'the last axis' for any number of axes?"""
    return scores / k.shape[2] ** 0.5


@head_slip("scale", "softmax({q} {k}ᵀ / √(length of axis 1)) {v}")
def d_k_from_axis_1(scores, q, k, v):
    """You read the head size from axis 1. Without a batch that is the number of tokens; with one
    it is the number of heads. Which number means 'the last axis' for any number of axes?"""
    return scores / k.shape[1] ** 0.5


@head_slip("normalise", "softmax({s}, over the heads) {v}")
def over_the_heads(scores, *_):
    """Your softmax runs over the heads: they share out each key among themselves. What should add
    up to 1, the weights that one query gives to the keys in one head, or those of all heads for
    one key?"""
    return torch.softmax(scores, dim=-3)


@head_slip("normalise", "softmax({s}, over the heads) {v}, with a finite number for -∞")
def over_the_heads_and_filled(scores, *_):
    """Your softmax runs over the heads: they share out each key among themselves. What should add
    up to 1, the weights that one query gives to the keys in one head, or those of all heads for
    one key?"""
    return torch.softmax(_filled(scores), dim=-3)


@head_slip("normalise", "softmax({s}, axis 1) {v}")
def over_axis_1(scores, *_):
    """Your softmax runs over axis 1. Without a batch those are the queries; with one they are the
    heads. Which number means 'the keys' for any number of axes?

    Seen in labmlai/annotated_deep_learning_paper_implementations#146.
    """
    return torch.softmax(scores, dim=1)


@head_slip("normalise", "softmax({s}, axis 1) {v}, with a finite number for -∞")
def over_axis_1_and_filled(scores, *_):
    """Your softmax runs over axis 1. Without a batch those are the queries; with one they are the
    heads. Which number means 'the keys' for any number of axes?"""
    return torch.softmax(_filled(scores), dim=1)


@head_slip("normalise", "softmax({s}, axis 2) {v}")
def over_axis_2(scores, *_):
    """Your softmax runs over axis 2. Without a batch those are the keys; with one they are the
    queries. Which number means 'the keys' for any number of axes?

    Seen in FudanNLP/fastNLP#254.
    """
    return torch.softmax(scores, dim=2)


@head_slip("normalise", "softmax({s}, axis 2) {v}, with a finite number for -∞")
def over_axis_2_and_filled(scores, *_):
    """Your softmax runs over axis 2. Without a batch those are the keys; with one they are the
    queries. Which number means 'the keys' for any number of axes?"""
    return torch.softmax(_filled(scores), dim=2)


_FITTING = [each for each in CAUSAL if each.id not in _COUNTED_FROM_THE_FRONT]

#: for `add_slips(..., slips=HEADS, mask=causal)`
HEADS = [
    *_FITTING,
    *(replace(each, formula=f"{each.formula}, later keys hidden") for each in _OF_HEADS),
]
_WITHOUT_A_MASK = {each.id: each for each in (*SLIPS, *_OF_HEADS)}


def told_whether_causal(kernel: Callable) -> Callable:
    """A kernel made of slips, as a module uses it: mask and all, or as if no mask had been asked.

    Slips in the mask itself are then not made.
    """
    slips = [_WITHOUT_A_MASK[each.id] for each in kernel.slips if each.id in _WITHOUT_A_MASK]
    steps = {step: function for each in slips for step, function in each.replaced.items()}

    def attend(q: Tensor, k: Tensor, v: Tensor, is_causal: bool) -> Tensor:
        return (kernel(q, k, v) if is_causal else attention(q, k, v, **steps))[0]

    return attend
