"""AT_LARGE_SCORES: slips in causal attention that show at large scores alone.

They are apart from CAUSAL: the scores that a module makes of its x do not tell them from others.
"""

from functools import partial

import torch

from grader.attention.kernels import as_they_are, later_keys
from grader.attention.slips.slip import Slip, slip

AT_LARGE_SCORES: list[Slip] = []
large_slip = partial(slip, among=AT_LARGE_SCORES)


@large_slip("mask", "softmax({s} + a number not low enough at later keys) {v}")
def added_minus_100(scores, *_):
    """The formula is right for small scores, but what you added to the scores of later keys does
    not outweigh the largest of them. Then it is the later keys that win. What has to be added to
    a score so that its weight becomes 0, however large it is?"""
    return scores - 100 * later_keys(scores).to(scores.dtype)


@large_slip(
    "normalise",
    "exp({s}) · mask / sum of these, overflowing at large scores, times {v}",
    mask=as_they_are,
)
def exp_overflows_beside_a_mask(scores, *_):
    """The formula is right for small scores, but exp of a large one is infinite. Infinity over
    infinity is not a number, and neither is infinity times the 0 of a mask. What can you
    subtract from a row without changing its softmax?"""
    exps = torch.exp(scores) * ~later_keys(scores)
    return exps / exps.sum(dim=-1, keepdim=True)
