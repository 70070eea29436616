"""Slips in the scale: the size of the scores."""

import math

import torch

from grader.attention.kernels import as_they_are
from grader.attention.slips.slip import slip


@slip("scale", "softmax({q} {k}ᵀ) {v}")
def not_scaled(scores, q, k, v):
    """Your scores went into the softmax unscaled. They grow with the size of the vectors, and one
    token takes nearly everything. What brings the variance of a dot product back to about 1?

    Seen in Kyubyong/transformer#60, PAIR-code/tiny-transformers#71, ethen8181/machine-learning#13.
    """
    return scores


@slip("scale", "softmax({q} {k}ᵀ / d_k) {v}")
def divided_by_d_k(scores, q, k, v):
    """You divided by d_k itself, or by its root twice, so the weights come out too even. The
    variance of a dot product is d_k. How large is its standard deviation?

    Seen in delzac/cntkx#10, YutaroOgawa/pytorch_advanced#174.
    """
    return scores / k.shape[-1]


@slip("scale", "softmax({q} {k}ᵀ / (d_k / 2)) {v}")
def divided_by_half_of_d_k(scores, q, k, v):
    """You divided by half of d_k. A power binds tighter than a division, so an exponent of 1/2
    needs parentheses. In which order does Python work through your exponent?"""
    return scores / (k.shape[-1] / 2)


@slip("scale", "softmax({q} {k}ᵀ / (2 d_k)) {v}")
def divided_by_twice_d_k(scores, q, k, v):
    """You divided by d_k and then by 2. A power binds tighter than a division, so an exponent of
    1/2 needs parentheses. In which order does Python work through your exponent?"""
    return scores / (2 * k.shape[-1])


@slip("scale", "softmax({q} {k}ᵀ · √d_k) {v}")
def multiplied_by_root(scores, q, k, v):
    """You multiplied by the root of d_k instead of dividing: watch the sign of the exponent.
    Should larger vectors make the scores larger still?

    Seen in rasbt/LLMs-from-scratch#856, esceptico/perceiver-io#9, wxie9/CARD#3.
    """
    return scores * k.shape[-1] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / log₂ d_k) {v}")
def divided_by_logarithm(scores, q, k, v):
    """You divided by the logarithm of d_k to base 2, which is its root only where d_k is 4 or 16.
    Which function turns a variance into a standard deviation?"""
    return scores / math.log2(k.shape[-1])


@slip("scale", "softmax({q} {k}ᵀ / √T_k) {v}")
def divided_by_root_of_T(scores, q, k, v):
    """You divided by the root of the number of keys. A dot product does not add over tokens. Over
    which axis does it add, and how long is that axis?"""
    return scores / k.shape[-2] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / √T_q) {v}")
def divided_by_root_of_T_q(scores, q, k, v):
    """You divided by the root of the number of queries. A dot product does not add over tokens.
    Over which axis does it add, and how long is that axis?"""
    return scores / q.shape[-2] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / √d_v) {v}")
def divided_by_root_of_d_v(scores, q, k, v):
    """You divided by the root of the size of the values. The values take no part in the scores.
    Whose size is it that the dot product adds over?"""
    return scores / v.shape[-1] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / 2) {v}")
def divided_by_2(scores, q, k, v):
    """You divided by 2 whatever the size: that is the root of 4, and right for d_k = 4 alone. Where
    can your code read how long a key is?"""
    return scores / 2


@slip("scale", "softmax({q} {k}ᵀ / 4) {v}")
def divided_by_4(scores, q, k, v):
    """You divided by 4 whatever the size: that is the root of 16, and right for d_k = 16 alone.
    Where can your code read how long a key is?"""
    return scores / 4


@slip("scale", "softmax({q} {k}ᵀ / 8) {v}")
def divided_by_8(scores, q, k, v):
    """You divided by 8 whatever the size: that is the root of 64, and right for d_k = 64 alone.
    Where can your code read how long a key is?

    Seen in lucidrains/muse-maskgit-pytorch#40.
    """
    return scores / 8


@slip("scale", "softmax({q} {k}ᵀ / √2) {v}")
def divided_by_root_of_2(scores, q, k, v):
    """You divided by the root of 2 whatever the size, which is right for d_k = 2 alone. Where can
    your code read how long a key is?"""
    return scores / 2**0.5


@slip("scale", "softmax({q} {k}ᵀ / √3) {v}")
def divided_by_root_of_3(scores, q, k, v):
    """You divided by the root of 3 whatever the size, which is right for d_k = 3 alone. Where can
    your code read how long a key is?"""
    return scores / 3**0.5


@slip("scale", "softmax({q} {k}ᵀ / √(length of axis 0)) {v}")
def d_k_from_axis_0(scores, q, k, v):
    """You read d_k from axis 0. Without a batch that is the number of keys; with one it is the
    number of items. Which number means 'the last axis' for any number of axes?"""
    return scores / k.shape[0] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / √(length of axis 1)) {v}")
def d_k_from_axis_1(scores, q, k, v):
    """You read d_k from axis 1. Without a batch that is the features; with one it is the tokens.
    Which number means 'the last axis' for any number of axes?

    Seen in DeepLearning.AI's forum, "DLS Course 5 W4 A1 Exercise 3".
    """
    return scores / k.shape[1] ** 0.5


@slip("scale", "softmax({q} {k}ᵀ / √(length of axis 2)) {v}")
def d_k_from_axis_2(scores, q, k, v):
    """You read d_k from axis 2. With one batch axis that is the features; without one there is no
    such axis, and with two it is the tokens. Which number means 'the last axis' for any number of
    axes?"""
    return scores / k.shape[2] ** 0.5


@slip("scale", "(softmax({q} {k}ᵀ) / √d_k) {v}", replaces="normalise", scale=as_they_are)
def scaled_after_softmax(scores, q, k, v):
    """You scaled the weights, not the scores: now each row of weights adds up to less than 1.
    Which should be made smaller, what goes into the softmax or what comes out?

    Seen in FrancescoSaverioZuppichini/ViT#2.
    """
    return torch.softmax(scores, dim=-1) / k.shape[-1] ** 0.5
