"""What goes wrong in a running average: which rows go in, and what their sum is divided by."""

import torch
from torch import Tensor

from grader.exercise import Exercise


def counts(x: Tensor) -> Tensor:
    """How many rows go into each row: a column of 1, 2, ..., T."""
    return torch.arange(1, x.shape[-2] + 1, dtype=x.dtype, device=x.device).unsqueeze(-1)


def add_running_mistakes(exercise: Exercise) -> None:
    """Give an exercise with `(x)` what people write in place of the mean of rows 0..i."""

    @exercise.on_top("the running sum", "normalise")
    def running_sum(kernel, x):
        """You added up the rows so far but did not divide, so later rows grow. How many rows went
        into row i?"""
        return kernel(x) * counts(x)

    @exercise.on_top("tril(1) x / T", "normalise")
    def divided_by_all_tokens(kernel, x):
        """Every row was divided by T, though row i is a mean of i + 1 rows. Only the last row is
        right. What must each row of the weights add up to?"""
        return kernel(x) * counts(x) / x.shape[-2]

    @exercise.wrong("tril(1) / its column sums, times x", "normalise")
    def normalised_by_columns(x):
        """You divided the triangle by the sums of its columns. Then the columns add up to 1. Along
        which axis do the shares of one token lie?"""
        triangle = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype).tril()
        return triangle / triangle.sum(dim=-2, keepdim=True) @ x

    @exercise.wrong("tril(1) / its row sums laid along the columns, times x", "normalise")
    def sums_without_keepdim(x):
        """You divided by row sums that had lost their axis, so they were laid along the columns.
        The triangle is square, so nothing crashes. What does keepdim=True keep?

        Seen in triton-lang/triton#11409, sahandsafizadeh/qeep#29."""
        triangle = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype).tril()
        return triangle / triangle.sum(dim=-1) @ x

    @exercise.wrong("(tril(1) / its row sums) transposed, times x", "mix")
    def weights_transposed(x):
        """You divided the triangle by its row sums and then mixed with it transposed: each token
        gives to the later rows what it should collect from the earlier ones. Which index of the
        weights says who is looking?"""
        triangle = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype).tril()
        return (triangle / triangle.sum(dim=-1, keepdim=True)).T @ x

    @exercise.on_top("row i is the mean of rows 0..i, but row 0 is left at 0", "mix")
    def first_row_left_at_0(kernel, x):
        """Row 0 is left at 0, as happens when a loop starts at 1 and nothing was put into row 0
        before. Which rows go into the mean of row 0?"""
        return torch.cat([torch.zeros_like(x[..., :1, :]), kernel(x)[..., 1:, :]], dim=-2)

    @exercise.on_top("row i is the mean of rows 0..i-1", "mask")
    def without_itself(kernel, x):
        """Row i leaves itself out, so row 0 has nothing to average. Is the diagonal part of 'rows 0
        to i'?

        Seen in pbloem/former#10."""
        return torch.cat(
            [torch.full_like(x[..., :1, :], torch.nan), kernel(x)[..., :-1, :]], dim=-2
        )

    @exercise.on_top("row i is the mean of rows 0..i-1, and row 0 is 0", "mask")
    def without_itself_filled(kernel, x):
        """Row i leaves itself out, and row 0 was filled with zeros because nothing was left for it.
        Is the diagonal part of 'rows 0 to i'?"""
        return torch.cat([torch.zeros_like(x[..., :1, :]), kernel(x)[..., :-1, :]], dim=-2)

    @exercise.wrong("row i is the mean of rows 0..i+1", "mask")
    def one_row_too_many(x):
        """Row i also takes in row i + 1: each token looks one step into the future. Is the last row
        that row i may use before the diagonal, on it, or after it?"""
        triangle = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype).tril(1)
        return triangle / triangle.sum(dim=-1, keepdim=True) @ x

    @exercise.on_top("row i is the mean of rows i..T-1", "mask")
    def mean_of_the_future(kernel, x):
        """Row i is the mean of itself and everything after it: the triangle points the wrong way.
        Which tokens does row 0 know?

        Seen in harvard-edge/cs249r_book#1785."""
        return kernel(x.flip(-2)).flip(-2)

    @exercise.wrong("the mean of all rows, for every row", "mask")
    def future_included(x):
        """Every row is the mean of all tokens: row 0 already knows the last one. Where do the
        weights have to be zero?"""
        return x.mean(dim=-2, keepdim=True).expand_as(x)

    @exercise.on_top("the running sum / i instead of i + 1", "normalise")
    def divided_by_index(kernel, x):
        """Row i was divided by i. Python counts from 0, so row 0 is divided by nothing. How many
        rows are there from 0 to i?"""
        return kernel(x) * counts(x) / (counts(x) - 1)

    @exercise.on_top("the running sum / (i + 2)", "normalise")
    def divided_by_one_more(kernel, x):
        """Row i was divided by i + 2, so even row 0 is only half of itself. How many rows are there
        from 0 to i?"""
        return kernel(x) * counts(x) / (counts(x) + 1)

    @exercise.on_top("the running mean over axis 0", "mix")
    def along_first_axis(kernel, x):
        """You ran along axis 0. Without a batch that is the tokens; with one it is the batch. Which
        number means 'rows' for any number of axes?"""
        return kernel(x.transpose(0, -2)).transpose(0, -2)

    @exercise.on_top("the running mean over axis 1", "mix")
    def along_axis_1(kernel, x):
        """You ran along axis 1. With one batch axis that is the tokens; without one it is the
        features. Which number means 'rows' for any number of axes?"""
        return kernel(x.transpose(1, -2)).transpose(1, -2)

    @exercise.on_top("the running mean over the features", "mix")
    def along_features(kernel, x):
        """You ran along the features of each token, so nothing was shared between tokens. Which
        axis of x runs over the tokens?"""
        return kernel(x.transpose(-2, -1)).transpose(-2, -1)

    @exercise.wrong("softmax(tril(1)) x", "mask")
    def zeros_in_the_softmax(x):
        """You put a triangle of ones and zeros through a softmax. exp(0) is 1, so later tokens
        still get a share. What must a score be so that its exponential is 0?

        Seen in georg-wolflein/good-features#1,
        jadore801120/attention-is-all-you-need-pytorch#16."""
        return torch.softmax(torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype).tril(), dim=-1) @ x

    @exercise.wrong("row i is the mean of row i-1 of the result and row i of x", "normalise")
    def half_and_half(x):
        """Each row is half of the previous result and half of the new token, so the newest token
        always counts half. What share should each of i + 1 tokens have?"""
        rows = [x[..., 0, :]]
        for i in range(1, x.shape[-2]):
            rows.append((rows[-1] + x[..., i, :]) / 2)
        return torch.stack(rows, dim=-2)

    @exercise.wrong("row i is the mean of rows i-1 and i of x", "mask")
    def last_two_rows(x):
        """Each row is the mean of itself and the one row before it: older tokens are forgotten. How
        far back may row i look?"""
        return torch.cat([x[..., :1, :], (x[..., :-1, :] + x[..., 1:, :]) / 2], dim=-2)

    @exercise.wrong("row i is the mean of rows 0..i-1 of the result and row i of x", "mix")
    def results_averaged_again(x):
        """Row i averages the means before it, not the tokens, as happens when the result is written
        into x. Early tokens count more than once. Where should your results go while x is still
        needed?"""
        rows = [x[..., 0, :]]
        for i in range(1, x.shape[-2]):
            rows.append((sum(rows) + x[..., i, :]) / (i + 1))
        return torch.stack(rows, dim=-2)

    @exercise.wrong("x, unchanged", "mix")
    def unchanged(x):
        """Your function gave x back as it was, so no row knows of the rows before it. Which rows go
        into row 1?"""
        return x

    @exercise.wrong("rows 0..i-1 added up, divided by i + 1", "mask")
    def itself_not_added(x):
        """Row i was divided by i + 1, but row i itself was not added. Is the diagonal part of 'rows
        0 to i'?"""
        return (x.cumsum(dim=-2) - x) / counts(x)

    @exercise.wrong("row i is the mean of the rows after it", "mask")
    def only_the_rows_after(x):
        """Row i is the mean of the rows after it alone, and the last row has none. Which tokens
        does row i know?"""
        return (x.flip(-2).cumsum(dim=-2).flip(-2) - x) / (counts(x).flip(-2) - 1)
