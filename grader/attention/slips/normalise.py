"""Slips in the mask and in the softmax."""

import torch

from grader.attention.kernels import causal
from grader.attention.slips.slip import slip


@slip("mask", "softmax({s}, later keys hidden) {v}")
def later_keys_hidden(scores, *_):
    """You hid the later keys from each query. Nothing in this exercise asks for a mask. Which
    tokens may the first token see here?"""
    return causal(scores)


@slip("normalise", "softmax({s}, over the queries) {v}")
def over_the_queries(scores, *_):
    """Your softmax runs over the queries: each column of the weights adds up to 1, not each row.
    Whose shares should add up to 1, those of one query or those of one key?

    Seen in Open-Deep-ML/DML-OpenProblem#424, nerminnuraydogan/vision-transformer#1,
    labmlai/annotated_deep_learning_paper_implementations#146.
    """
    return torch.softmax(scores, dim=-2)


@slip("normalise", "softmax({s}, axis 0) {v}")
def over_axis_0(scores, *_):
    """Your softmax runs over axis 0. With a batch that is the batch, and its items mix. Which
    number means 'the keys' for any number of axes?

    Seen in PetrochukM/PyTorch-NLP#2, jadore801120/attention-is-all-you-need-pytorch#52.
    """
    return torch.softmax(scores, dim=0)


@slip("normalise", "softmax({s}, axis 1) {v}")
def over_axis_1(scores, *_):
    """Your softmax runs over axis 1. Without a batch that is the keys; with one it is the
    queries. Which number means 'the keys' for any number of axes?

    Seen in labmlai/annotated_deep_learning_paper_implementations#146.
    """
    return torch.softmax(scores, dim=1)


@slip("normalise", "softmax({s}, axis 2) {v}")
def over_axis_2(scores, *_):
    """Your softmax runs over axis 2. With one batch axis that is the keys; without one there is no
    such axis, and with two it is the queries. Which number means 'the keys' for any number of
    axes?

    Seen in FudanNLP/fastNLP#254.
    """
    return torch.softmax(scores, dim=2)


@slip("normalise", "softmax({s}, over the whole matrix) {v}")
def over_the_whole_matrix(scores, *_):
    """Your weights add up to 1 over the whole matrix, so all queries share one budget. How much
    has each query to give away by itself?

    Seen in rickwierenga/MLFundamentals#1, deeplearning4j/nd4j#44, uTensor/uTensor#171.
    """
    return torch.softmax(scores.flatten(-2), dim=-1).reshape(scores.shape)


@slip("normalise", "softmax of |{s}|, times {v}")
def of_absolute_scores(scores, *_):
    """You dropped the signs of the scores before the softmax. Then a key that points away counts
    as much as one that points the same way. What should a negative score do to a weight?"""
    return torch.softmax(scores.abs(), dim=-1)


@slip("normalise", "softmax of -({s}), times {v}")
def sign_turned(scores, *_):
    """You turned the signs of the scores before the softmax, so the largest score got the smallest
    weight. Should a query look at the keys that match it most, or least?"""
    return torch.softmax(-scores, dim=-1)


@slip("normalise", "relu({s}) {v}")
def relu(scores, *_):
    """You set the negative scores to 0 and used the rest as weights. No row adds up to 1, and a
    query without a positive score gets nothing. What turns any row of scores into shares?"""
    return torch.relu(scores)


@slip("normalise", "({s} / their sum) {v}")
def divided_by_the_sum(scores, *_):
    """You divided the scores by their sum. With scores of both signs some weights are negative or
    above 1. What makes every number positive before the division?"""
    return scores / scores.sum(dim=-1, keepdim=True)


@slip("normalise", "(squares of {s} / their sum) {v}")
def squares_over_their_sum(scores, *_):
    """You squared the scores and divided by their sum. That makes shares, but -2 weighs as much as
    2. Which function is positive everywhere and still grows with the score?"""
    return scores.square() / scores.square().sum(dim=-1, keepdim=True)


@slip("normalise", "({s} / their length) {v}")
def divided_by_the_length(scores, *_):
    """You divided each row of scores by its length as a vector. Then the squares add up to 1, and
    not the weights. What has to add up to 1 for the result to be an average?"""
    return torch.nn.functional.normalize(scores, dim=-1)


@slip("normalise", "exp({s}) / sums laid along the columns, times {v}")
def sum_without_keepdim(scores, *_):
    """You divided by row sums that had lost their axis, so they lay along the columns. With as
    many queries as keys nothing crashes. What does keepdim=True keep?

    Seen in triton-lang/triton#11409, sahandsafizadeh/qeep#29.
    """
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1)


@slip("normalise", "exp({s}) {v}, not divided")
def not_normalised(scores, *_):
    """You took the exponentials but did not divide, so the rows do not add up to 1. What turns
    positive numbers into shares?"""
    return torch.exp(scores)


@slip("normalise", "sigmoid({s}) {v}")
def sigmoid(scores, *_):
    """You used a sigmoid: every weight lies between 0 and 1, but a row does not add up to 1. What
    should the keys compete for?"""
    return torch.sigmoid(scores)


@slip("normalise", "one-hot(argmax {s}) {v}")
def winner_takes_all(scores, *_):
    """Each query took the one key with the largest score and nothing of the others. No gradient
    can pass through such a choice. What would a soft version of it look like?"""
    return torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)


@slip("normalise", "softmax(softmax({s})) {v}")
def softmax_twice(scores, *_):
    """The softmax was taken twice, which makes the weights nearly equal. What does a softmax do
    to numbers that all lie between 0 and 1?"""
    return torch.softmax(torch.softmax(scores, dim=-1), dim=-1)


@slip("normalise", "log_softmax({s}) {v}")
def log_softmax(scores, *_):
    """Your weights are logarithms of weights: all negative. What undoes a logarithm?"""
    return torch.log_softmax(scores, dim=-1)


@slip("normalise", "({s}) {v}, without a softmax")
def no_softmax(scores, *_):
    """The scores themselves were used as weights. Some are negative and no row adds up to 1. What
    turns scores into shares?"""
    return scores


@slip("normalise", "exp({s}) / sum of exp, overflowing at large scores")
def exp_overflows(scores, *_):
    """The formula is right for small scores, but exp of a large one is infinite, and infinity
    over infinity is not a number. What can you subtract from a row without changing its
    softmax?

    Seen in pytorch/executorch#18407, mila-iqia/blocks#727.
    """
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1, keepdim=True)


@slip("normalise", "exp({s} - the largest of all) / sum of exp, underflowing in some rows")
def shifted_by_the_global_maximum(scores, *_):
    """The formula is right for small scores, but you subtracted one maximum from all rows. A row
    far below it turns into zeros, and zero over zero is not a number. Whose maximum should be
    subtracted from a row?"""
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum(dim=-1, keepdim=True)


@slip("normalise", "equal weights, times {v}")
def equal_weights(scores, *_):
    """Every key got the same weight: the scores had no say, and the result is the plain average.
    Where should the scores come in?"""
    return torch.full_like(scores, 1 / scores.shape[-1])
