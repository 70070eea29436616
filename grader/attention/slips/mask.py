"""Slips in a causal mask: what is hidden, with which number, and when."""

from functools import partial

import torch

from grader.attention.kernels import as_they_are, by_root_of_d_k, causal, later_keys, over_the_keys
from grader.attention.slips.slip import Slip, slip

MASK_SLIPS: list[Slip] = []
mask_slip = partial(slip, among=MASK_SLIPS)


@mask_slip("mask", "softmax({s}) {v}, nothing hidden")
def no_mask(scores, *_):
    """Every query still sees every key, the later ones too. The mask is missing, or what it gave
    was thrown away: masked_fill makes a new tensor. Which weights of row 0 have to be 0?

    Seen in lucidrains/flamingo-pytorch#10.
    """
    return scores


@mask_slip("mask", "softmax({s}, earlier keys hidden) {v}")
def past_hidden(scores, *_):
    """Your mask is transposed: each query sees itself and the later keys, and the past is hidden.
    Which key is the only one that query 0 may see?

    Seen in harvard-edge/cs249r_book#1785.
    """
    return scores.masked_fill(later_keys(scores).transpose(-2, -1), -torch.inf)


@mask_slip("mask", "softmax({s}, all but the later keys hidden) {v}")
def mask_inverted(scores, *_):
    """Your mask is the wrong way round: it hides what should be seen and shows what should be
    hidden. The last query has no later key, so its row is not a number. Does True in your mask
    mean 'may attend' or 'is hidden'?

    Seen in rasbt/LLMs-from-scratch#1061, InseeFrLab/torchTextClassifiers#92,
    lucidrains/halonet-pytorch#4.
    """
    return scores.masked_fill(~later_keys(scores), -torch.inf)


@mask_slip("mask", "softmax({s}, all but the later keys filled with -1e9) {v}")
def mask_inverted_and_filled(scores, *_):
    """Your mask is the wrong way round: it hides what should be seen and shows what should be
    hidden. The last query has no later key, so it shares itself out evenly. Does True in your
    mask mean 'may attend' or 'is hidden'?

    Seen in amanchadha/coursera-deep-learning-specialization#45.
    """
    return scores.masked_fill(~later_keys(scores), -1e9)


@mask_slip("mask", "softmax({s}, the diagonal hidden too) {v}")
def diagonal_hidden(scores, *_):
    """You hid the diagonal too, so no token sees itself. Row 0 has nothing left: all its scores
    are -∞, and their softmax is not a number. Is key i one of the keys up to i?

    Seen in pbloem/former#10.
    """
    return scores.masked_fill(~later_keys(scores).transpose(-2, -1), -torch.inf)


@mask_slip("mask", "softmax({s}, the diagonal filled with -1e9 too) {v}")
def diagonal_hidden_and_filled(scores, *_):
    """You hid the diagonal too. Row 0 has nothing left, and since all its scores are equally low it
    shares itself out over all tokens, the later ones too. Is key i one of the keys up to i?"""
    return scores.masked_fill(~later_keys(scores).transpose(-2, -1), -1e9)


@mask_slip(
    "mask",
    "softmax({s}, the diagonal hidden too, NaN set to 0) {v}",
    replaces="normalise",
    mask=diagonal_hidden,
)
def diagonal_hidden_and_zeroed(scores, *_):
    """You hid the diagonal too, and set to 0 what then was not a number in row 0. So token 0 gets
    nothing at all. Is key i one of the keys up to i?"""
    return over_the_keys(scores).nan_to_num()


@mask_slip("mask", "softmax({s}, keys after i + 1 hidden) {v}")
def one_key_too_far(scores, *_):
    """Query i sees key i + 1 as well: each token looks one step into the future. Where does the
    triangle of what is seen have to end, on the diagonal or beside it?

    Seen in RVC-Boss/GPT-SoVITS#965.
    """
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(2), -torch.inf)


@mask_slip("mask", "softmax({s}, later keys set to 0) {v}")
def scores_times_mask(scores, *_):
    """You set the scores of later keys to 0, or to a tiny number, or multiplied by a mask of ones
    and zeros. exp(0) is 1, so they still count. Which score has an exponential of 0?

    Seen in georg-wolflein/good-features#1, jadore801120/attention-is-all-you-need-pytorch#16,
    awslabs/gluonts#1401.
    """
    return scores.masked_fill(later_keys(scores), 0)


@mask_slip("mask", "softmax({s} + mask of ones and zeros) {v}")
def mask_added(scores, *_):
    """You added a mask of ones and zeros to the scores. That lifts the past a little and hides
    nothing. What has to be added to a score so that its weight becomes 0?

    Seen in pytorch/pytorch#163026.
    """
    return scores + (~later_keys(scores)).to(scores.dtype)


@mask_slip("mask", "softmax({s}, later keys set to -10) {v}")
def filled_with_minus_10(scores, *_):
    """You set the scores of later keys to -10. exp(-10) is small but not 0, so the future still
    counts a little. Which score has an exponential of exactly 0?"""
    return scores.masked_fill(later_keys(scores), -10)


@mask_slip("mask", "softmax(({q} {k}ᵀ, later keys set to -10) / √d_k) {v}", scale=as_they_are)
def minus_10_then_scaled(scores, q, k, v):
    """You set the scores of later keys to -10 and scaled them afterwards, which brings them nearer
    to 0 still: the future counts. Which score stays the same whatever it is divided by?"""
    return by_root_of_d_k(filled_with_minus_10(scores), q, k, v)


@mask_slip("mask", "softmax({s}, later keys set to a number not far enough below) {v}")
def filled_with_minus_10000(scores, *_):
    """The formula is right for small scores, but the number that you put in for later keys is
    above the lowest scores that are tried. Then it is the later keys that win. Which number lies
    below every score?

    Seen in karpathy/minGPT#75, huggingface/transformers#17121.
    """
    return scores.masked_fill(later_keys(scores), -1e4)


@mask_slip("mask", "softmax({s}, later keys set to +∞) {v}")
def filled_with_plus_infinity(scores, *_):
    """You set the scores of later keys to plus infinity, and every row that has one is not a
    number. Which sign makes an exponential 0?

    Seen in lucidrains/memory-compressed-attention#2.
    """
    return scores.masked_fill(later_keys(scores), torch.inf)


@mask_slip("mask", "softmax({s}, later keys set to +1e9) {v}")
def filled_with_plus_1e9(scores, *_):
    """You set the scores of later keys to a huge positive number, so they take all the weight and
    the past gets none. Which sign makes an exponential 0?"""
    return scores.masked_fill(later_keys(scores), 1e9)


@mask_slip("mask", "softmax({s} + mask · (-∞)) {v}")
def zero_times_infinity(scores, *_):
    """You made your mask by multiplying with -∞. For later keys that is -∞, but 0 · ∞ is not a
    number, and so nothing is. How can a score be chosen without multiplying?

    Seen in cerebroai/reformers#3.
    """
    return scores + later_keys(scores).to(scores.dtype) * -torch.inf


@mask_slip("mask", "softmax({s}, later keys and scores of 0 hidden) {v}")
def zero_scores_hidden(scores, *_):
    """You hid every score that is 0 once the upper triangle was set to 0. A score on the left of
    the diagonal may be 0 as well. What should decide who is hidden, the score or the place?"""
    return scores.tril().masked_fill(scores.tril() == 0, -torch.inf)


@mask_slip(
    "mask", "(softmax({s}), later keys set to 0) {v}", mask=as_they_are, replaces="normalise"
)
def masked_after_softmax(scores, *_):
    """You hid the later keys after the softmax and left it at that: the rows no longer add up to
    1, and what they were divided by still holds the later keys. What would a row have to be
    divided by now?

    Seen in huggingface/pytorch-image-models#2236, rasbt/LLMs-from-scratch#279.
    """
    return over_the_keys(scores).tril()


@mask_slip(
    "mask", "(softmax({s}), later keys set to -∞) {v}", mask=as_they_are, replaces="normalise"
)
def weights_set_to_infinity(scores, *_):
    """You put -∞ among the weights, after the softmax. It belongs among the scores: there it
    becomes a weight of 0. Which step comes first, mask or normalise?"""
    return causal(over_the_keys(scores))


@mask_slip(
    "normalise",
    "(softmax({s}), later keys set to 0) / sums laid along the columns, times {v}",
    mask=as_they_are,
)
def renormalised_without_keepdim(scores, *_):
    """You hid the later keys after the softmax and divided by row sums that had lost their axis, so
    they lay along the columns. What does keepdim=True keep?"""
    weights = over_the_keys(scores).tril()
    return weights / weights.sum(dim=-1)


@mask_slip(
    "normalise",
    "(softmax({s}), later keys set to 0) / the sums of its columns, times {v}",
    mask=as_they_are,
)
def renormalised_by_columns(scores, *_):
    """You hid the later keys after the softmax and divided by the sums of the columns. Then each
    key hands out 1, and a query gets any amount. Along which axis do one query's weights lie?"""
    weights = over_the_keys(scores).tril()
    return weights / weights.sum(dim=-2, keepdim=True)


@mask_slip(
    "mask", "softmax({s}) ({v}, above its diagonal set to 0)", mask=as_they_are, replaces="mix"
)
def values_masked(weights, q, k, v):
    """You put the triangle on the values, where it cuts off features. Who sees whom stands in the
    scores alone. Which axes of the values does the triangle meet, and which should it meet?"""
    return weights @ v.tril()


@mask_slip(
    "mask", "softmax({s}) {v}, above its diagonal set to 0", mask=as_they_are, replaces="mix"
)
def context_masked(weights, q, k, v):
    """You put the triangle on the context, where it cuts off features of a mix that has already
    seen everything. In which step is it decided who sees whom?"""
    return (weights @ v).tril()


@mask_slip("normalise", "equal weights for all keys up to the query, times {v}")
def running_average(scores, *_):
    """Every key up to the query got the same weight: the scores had no say, and the result is the
    running average of lesson 1. Where should the scores come in?"""
    return over_the_keys(causal(torch.zeros_like(scores)))
