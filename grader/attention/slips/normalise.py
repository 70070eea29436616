"""Slips in the mask and in the softmax."""

import torch

from grader.attention.slips.slip import slip


@slip("mask", "softmax({s}, later keys hidden) {v}")
def later_keys_hidden(scores, *_):
    """You hid the later keys from each query. Nothing in this exercise asks for a mask. Which
    tokens may the first token see here?"""
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)


@slip("normalise", "softmax({s}, over the queries) {v}")
def over_the_queries(scores, *_):
    """Your softmax runs over the queries: each column of the weights adds up to 1, not each row.
    Whose shares should add up to 1, those of one query or those of one key?"""
    return torch.softmax(scores, dim=-2)


@slip("normalise", "softmax({s}, axis 0) {v}")
def over_axis_0(scores, *_):
    """Your softmax runs over axis 0. With a batch that is the batch, and its items mix. Which
    number means 'the keys' for any number of axes?"""
    return torch.softmax(scores, dim=0)


@slip("normalise", "softmax({s}, axis 1) {v}")
def over_axis_1(scores, *_):
    """Your softmax runs over axis 1. Without a batch that is the keys; with one it is the
    queries. Which number means 'the keys' for any number of axes?"""
    return torch.softmax(scores, dim=1)


@slip("normalise", "softmax({s}, over the whole matrix) {v}")
def over_the_whole_matrix(scores, *_):
    """Your weights add up to 1 over the whole matrix, so all queries share one budget. How much
    has each query to give away by itself?"""
    return torch.softmax(scores.flatten(-2), dim=-1).reshape(scores.shape)


@slip("normalise", "({s} / their sum) {v}")
def divided_by_the_sum(scores, *_):
    """You divided the scores by their sum. With scores of both signs some weights are negative or
    above 1. What makes every number positive before the division?"""
    return scores / scores.sum(dim=-1, keepdim=True)


@slip("normalise", "exp({s}) / sums laid along the columns, times {v}")
def sum_without_keepdim(scores, *_):
    """You divided by row sums that had lost their axis, so they lay along the columns. With as
    many queries as keys nothing crashes. What does keepdim=True keep?"""
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1).unsqueeze(-2)


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
    softmax?"""
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1, keepdim=True)


@slip("normalise", "equal weights, times {v}")
def equal_weights(scores, *_):
    """Every key got the same weight: the scores had no say, and the result is the plain average.
    Where should the scores come in?"""
    return torch.full_like(scores, 1 / scores.shape[-1])
