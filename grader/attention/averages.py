"""What goes wrong in an average over the tokens: the axis, the divisor, what is given back."""

from collections.abc import Callable
from functools import partial

import torch

from grader.exercise import Exercise

#: divided by something else than the number of tokens, or by nothing
DIVISORS = (
    "sum_of_the_tokens",
    "divided_by_features",
    "divided_by_first_axis",
    "divided_by_one_less",
)


def on_top_but_of(exercise: Exercise, *ids: str) -> Callable:
    """Like `exercise.on_top`, but never together with the mistakes of these ids.

    With the axes of x exchanged, "divided by d" is divided by T: what is said would be false.
    """

    def declare(formula: str, step: str) -> Callable:
        def register(change: Callable) -> Callable:
            def onto(kernel: Callable) -> Callable | None:
                first = next(m.id for m in exercise.known_wrong if m.kernel is kernel)
                return None if first in ids else partial(change, kernel)

            alone = partial(change, exercise.right)
            alone.__name__, alone.__doc__ = change.__name__, change.__doc__
            exercise.wrong(formula, step, onto)(alone)
            return change

        return register

    return declare


def add_average_mistakes(exercise: Exercise) -> None:
    """Give an exercise with `(x)` what people write in place of the mean over the tokens."""
    over_the_features = on_top_but_of(exercise, *DIVISORS)
    over_axis_0 = on_top_but_of(exercise, "divided_by_first_axis")

    @exercise.wrong("each row is filled with the sum of its own numbers", "mix")
    def sum_over_features(x):
        """Every row came out as the sum of its own numbers: nothing was shared between tokens, and
        nothing was divided. Which axis of x runs over the tokens, and how many are there?"""
        return x.sum(dim=-1, keepdim=True).expand_as(x)

    @exercise.wrong("each row is filled with the sum of its own numbers / T", "mix")
    def sum_over_features_by_tokens(x):
        """Every row came out as the sum of its own numbers, divided by the number of tokens:
        nothing was shared between tokens. The divisor is the right one. Along which axis of x must
        the numbers be added, if T of them go into one sum?"""
        return (x.sum(dim=-1, keepdim=True) / x.shape[-2]).expand_as(x)

    @exercise.wrong("x.sum(-1), one number per token", "mix")
    def one_sum_per_token(x):
        """You added up the features of each token, so one number per token is left of the vectors,
        and nothing was divided. Which axis of x runs over the tokens, and how many are there?"""
        return x.sum(dim=-1)

    @exercise.wrong("x.sum(-1) / T, one number per token", "mix")
    def one_sum_per_token_by_tokens(x):
        """You added up the features of each token and divided by the number of tokens, so one
        number per token is left of the vectors. Along which axis of x must the numbers be added, if
        T of them go into one sum?"""
        return x.sum(dim=-1) / x.shape[-2]

    @over_the_features("each row is filled with its own mean over the features", "mix")
    def mean_over_features(kernel, x):
        """Every row came out as the mean of its own numbers: nothing was shared between tokens.
        Which axis of x runs over the tokens, and which over the features of one token?"""
        return kernel(x.transpose(-2, -1)).transpose(-2, -1)

    @exercise.wrong("x.mean(-1, keepdim=True), one number per token", "mix")
    def one_mean_per_token_kept(x):
        """You averaged the features of each token, so one number per token is left, in a column.
        Which axis of x runs over the tokens?"""
        return x.mean(dim=-1, keepdim=True)

    @over_the_features("x.mean(-1), one number per token", "mix")
    def one_number_per_token(kernel, x):
        """You averaged the features of each token, so one number per token is left of the vectors.
        Which axis of x runs over the tokens?"""
        return kernel(x.transpose(-2, -1))[..., 0, :]

    @exercise.on_top("x.mean(-2), one row", "mix")
    def one_row(kernel, x):
        """The mean itself is right, but it came back once. Every token needs its copy, so that row
        i can replace row i of x. What shape must the result have?"""
        return kernel(x)[..., 0, :]

    @exercise.on_top("x.mean(-2, keepdim=True), one row", "mix")
    def one_row_kept(kernel, x):
        """The mean itself is right, but only one row came back. Every token needs its copy, so that
        row i can replace row i of x. How many rows must the result have?"""
        return kernel(x)[..., :1, :]

    @exercise.wrong("x.mean(0), one row", "mix")
    def axis_0_gone(x):
        """You averaged over axis 0 and one row came back. Every token needs its copy, and with a
        batch axis 0 is the batch. Which axis are the tokens, counted from the back, and how many
        rows must come out?"""
        return x.mean(dim=0)

    @exercise.wrong("x.sum(0), one row", "normalise")
    def axis_0_added_up(x):
        """You added up over axis 0: one row came back, and it was not divided. With a batch axis 0
        is the batch. What turns a sum over T tokens into a mean, and how many rows need it?"""
        return x.sum(dim=0)

    @exercise.wrong("x.mean(1), axis 1 gone", "mix")
    def axis_1_gone(x):
        """You averaged over axis 1. Without a batch that is the features of each token, and one
        number per token is left. Which number means 'rows' for any number of axes?"""
        return x.mean(dim=1)

    @over_axis_0("the mean over axis 0", "mix")
    def mean_over_first_axis(kernel, x):
        """You averaged over axis 0. Without a batch that is the tokens; with one it is the batch,
        and the items leak into each other. Which number means 'rows' for any number of axes?"""
        return kernel(x.transpose(0, -2)).transpose(0, -2)

    @exercise.on_top("the mean over axis 1", "mix")
    def mean_over_axis_1(kernel, x):
        """You averaged over axis 1. With one batch axis that is the tokens; without one it is the
        features. Which number means 'rows' for any number of axes?"""
        return kernel(x.transpose(1, -2)).transpose(1, -2)

    @exercise.on_top("the mean over all tokens of all items", "mix")
    def batch_and_tokens_together(kernel, x):
        """You averaged over the batch as well: all items of a batch share one mean. An item may not
        know of the others. Over how many axes should the mean run?"""
        return kernel(x.reshape(-1, x.shape[-1])).reshape(x.shape)

    @exercise.wrong("one mean over all numbers of x", "mix")
    def mean_of_everything(x):
        """Every entry is the same number: tokens and features were averaged together. Over which
        one axis should the mean run?"""
        return torch.zeros_like(x) + x.mean()

    @exercise.wrong("x.mean(), one number", "mix")
    def one_number(x):
        """One number came back: tokens and features were averaged together, and no row is left.
        Over which one axis should the mean run?"""
        return x.mean()

    @exercise.on_top("the sum of the tokens", "normalise")
    def sum_of_the_tokens(kernel, x):
        """You added the tokens up but did not divide. With more tokens the result grows. What turns
        a sum over T tokens into a mean?"""
        return kernel(x) * x.shape[-2]

    @exercise.on_top("the sum of the tokens / d", "normalise")
    def divided_by_features(kernel, x):
        """You divided the sum by the number of features, not by the number of tokens. How many rows
        did you add up?"""
        return kernel(x) * x.shape[-2] / x.shape[-1]

    @exercise.on_top("the sum of the tokens / the length of axis 0", "normalise")
    def divided_by_first_axis(kernel, x):
        """You divided the sum by the length of axis 0. Without a batch that is the number of
        tokens; with one it is the number of items. Which entry of x.shape counts the tokens for any
        number of axes?"""
        return kernel(x) * x.shape[-2] / x.shape[0]

    @exercise.on_top("the sum of the tokens / (T - 1)", "normalise")
    def divided_by_one_less(kernel, x):
        """You divided the sum of T tokens by T - 1. The last index is T - 1, but counting starts at
        0. How many tokens did you add up?"""
        return kernel(x) * x.shape[-2] / (x.shape[-2] - 1)

    @exercise.wrong("row i is the mean of rows 0..i", "mix")
    def mean_of_the_past(x):
        """Each row is the mean of the rows up to it: a running average, which comes later in this
        lesson. Which tokens should row 0 see here?"""
        count = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype).unsqueeze(-1)
        return x.cumsum(dim=-2) / count

    @exercise.wrong("row i is the mean of all rows but row i", "mix")
    def mean_of_the_others(x):
        """Each row is the mean of the other tokens: it leaves itself out. Every token should get
        the same blend. Does a token belong to the tokens it averages over?"""
        return (x.sum(dim=-2, keepdim=True) - x) / (x.shape[-2] - 1)

    @exercise.on_top("x minus its mean", "mix")
    def centred(kernel, x):
        """You took the mean away from each token: what is left is how far it is from the average.
        Which of the two was asked for, the mean or the rest?"""
        return x - kernel(x)

    @exercise.wrong("x, unchanged", "mix")
    def unchanged(x):
        """Your function gave x back as it was, so no token learned anything from another one. Which
        operation makes one row out of many?"""
        return x
