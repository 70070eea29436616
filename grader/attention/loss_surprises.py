"""What goes wrong in the surprise at a token: the logarithm of a probability, and its sign."""

from collections.abc import Callable

import torch
from torch.nn.functional import log_softmax, one_hot

from grader.attention.losses import chosen, minus_log_p


def add_surprise_mistakes(slip: Callable) -> None:
    """Declare them with the `slip` of `grader.attention.loss_mistakes`."""

    @slip("surprise", "minus the mean probability, with no logarithm")
    def no_logarithm(logits, targets):
        """You average the probabilities and take no logarithm; nll_loss does so too when it is
        given a softmax. Then a hopeless prediction costs hardly more than a poor one. What turns
        a probability into a surprise?"""
        return -chosen(torch.softmax(logits, dim=-1), targets)

    @slip("surprise", "minus the mean logit, with no softmax")
    def no_softmax(logits, targets):
        """You average the logits themselves, as nll_loss does when nothing is done before it. They
        could be made ever larger without knowing anything. What turns logits into
        probabilities?"""
        return -chosen(logits, targets)

    @slip("surprise", "cross-entropy of a softmax of the softmax")
    def softmax_twice(logits, targets):
        """The softmax is taken twice: cross_entropy takes one itself and was given probabilities.
        No loss can then come near 0. What does F.cross_entropy expect?"""
        return minus_log_p(torch.softmax(logits, dim=-1), targets)

    @slip("surprise", "softmax over the positions")
    def over_the_positions(logits, targets):
        """Your softmax runs over the positions and not over the vocabulary. Whose probabilities
        have to add up to 1, those of all words at one place or those of one word at all places?"""
        return -chosen(log_softmax(logits, dim=-2), targets)

    @slip("surprise", "softmax over axis 1")
    def over_axis_1(logits, targets):
        """Your softmax runs over axis 1. Without a batch that is the vocabulary; with one it is
        the positions. Which number means 'the vocabulary' for any number of axes?"""
        return -chosen(log_softmax(logits, dim=1), targets)

    @slip("surprise", "softmax over axis 0")
    def over_axis_0(logits, targets):
        """Your softmax runs over axis 0, so the items of a batch mix. Which number means 'the
        vocabulary' for any number of axes?"""
        return -chosen(log_softmax(logits, dim=0), targets)

    @slip("surprise", "the mean of log p, with its sign")
    def sign_left_out(logits, targets):
        """You left the minus out: log p is negative, and training would make it smaller still.
        Should a likely token cost little or much?"""
        return -minus_log_p(logits, targets)

    @slip("surprise", "the loss in bits, log₂")
    def in_bits(logits, targets):
        """You took logarithms to base 2, so the loss comes in bits: about 1.44 times the number
        that torch gives. Which base is meant by log?"""
        return minus_log_p(logits, targets) / torch.log(torch.tensor(2.0, dtype=logits.dtype))

    @slip("surprise", "log of the softmax, in two steps")
    def log_of_a_softmax(logits, targets):
        """Softmax and logarithm come one after the other. A very unlikely token gets probability
        0 in floating point, and its surprise is infinite. Which function takes both in one
        step?"""
        return -chosen(torch.softmax(logits, dim=-1), targets).log()

    @slip("surprise", "log of the sum of exp, minus the logit, overflowing at large logits")
    def exp_overflows(logits, targets):
        """The formula is right for small logits, but exp of a large one is infinite, and so is the
        loss. What can you subtract from all logits of a position without changing their
        probabilities?"""
        return torch.exp(logits).sum(dim=-1).log() - chosen(logits, targets)

    @slip("surprise", "log of exp / sum of exp, overflowing at large logits")
    def softmax_overflows(logits, targets):
        """The formula is right for small logits, but exp of a large one is infinite. What is
        divided by infinity is 0, or not a number. What can you subtract from all logits of a
        position without changing their probabilities?"""
        exps = torch.exp(logits)
        return -chosen(exps / exps.sum(dim=-1, keepdim=True), targets).log()

    @slip("surprise", "the share of wrong guesses")
    def error_rate(logits, targets):
        """You count wrong guesses. That has no slope: a guess that gets a little better counts as
        wrong as before. What changes smoothly with every logit?"""
        return (logits.argmax(dim=-1) != targets).to(logits.dtype)

    @slip("surprise", "squared distance between probabilities and a one-hot target")
    def squared_distance(logits, targets):
        """You measure the squared distance between the probabilities and a one-hot target. Then
        nothing costs more than 2, however sure and wrong. What does cross-entropy look at?"""
        probabilities = torch.softmax(logits, dim=-1)
        wanted = one_hot(targets, logits.shape[-1]).to(logits.dtype)
        return (probabilities - wanted).square().sum(dim=-1)
