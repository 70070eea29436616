"""add_positions"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "add_positions",
    "05-order-and-cost",
    place=2,
    points=1,
    signature="add_positions(x, positions) -> (..., T, d)",
    hints=(
        "Token 0 gets the first row of the table, token 1 the second. How many rows are needed?",
        "The table has T_max rows, and x has T. Which axis of x is T, counted from the back?",
        "Cut the table to its first T rows; they are added to every item of a batch.",
        "return x + positions[: x.shape[-2]]",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 3), fixed=((8, 3),))
    yield from usual(draw, (11, 7), fixed=((19, 7),))
    yield Probe("x 67×2, a table of 68 rows", (draw(67, 2), draw(68, 2)))
    yield Probe("x 4×4, a table of 6 rows", (draw(4, 4), draw(6, 4)), SQUARE)
    yield Probe("everything 5×5", (draw(5, 5), draw(5, 5)), SQUARE)
    yield Probe("a batch of 3, 3×3, a table of 4 rows", (draw(3, 3, 3), draw(4, 3)), BATCHES)
    yield Probe("a table with no row to spare", (draw(6, 2), draw(6, 2)), EDGES)
    yield Probe("one token, a table of 83 rows", (draw(1, 3), draw(83, 3)), EDGES)
    yield Probe("a batch of 2, one feature", (draw(2, 5, 1), draw(7, 1)), EDGES)
    yield Probe("a table of one row", (draw(2, 1, 3), draw(1, 3)), EDGES)


@exercise.reference
def first_rows_added(x: Tensor, positions: Tensor) -> Tensor:
    return x + positions[: x.shape[-2]]


@exercise.twin
def one_token_at_a_time(x: Tensor, positions: Tensor) -> Tensor:
    rows = [x[..., i, :] + positions[i] for i in range(x.shape[-2])]
    return torch.stack(rows, dim=-2)


@exercise.variant
def looked_up(x, positions):
    return x + positions[torch.arange(x.shape[-2], device=x.device)]


@exercise.variant
def narrowed_and_expanded(x, positions):
    return positions.narrow(0, 0, x.size(-2)).expand_as(x) + x


@exercise.variant
def with_an_embedding(x, positions):
    places = torch.arange(x.shape[-2], device=x.device)
    return x.add(torch.nn.functional.embedding(places, positions))


@exercise.wrong("x + positions[0]")
def the_same_everywhere(x, positions):
    """Every token got the first row of the table, so all places look alike and a shuffle still
    goes unnoticed. Which row belongs to token i?"""
    return x + positions[0]


@exercise.wrong("x + the last T rows of positions")
def last_rows(x, positions):
    """You added the last T rows of the table, so token 0 gets another row in a sentence of another
    length. Which row should the first token always get?"""
    return x + positions[len(positions) - x.shape[-2] :]


@exercise.wrong("x + positions, all T_max rows")
def whole_table(x, positions):
    """You added the whole table. It only runs when there are as many tokens as rows, or one token
    alone, which then becomes T_max. How many rows does a sentence of T tokens need?"""
    return x + positions


@exercise.wrong("x + positions[1 : T + 1]")
def counted_from_one(x, positions):
    """Token 0 got the second row of the table, token 1 the third. A sentence as long as the table
    runs out of rows. With which number does Python begin to count?"""
    return x + positions[1 : x.shape[-2] + 1]


@exercise.wrong("x + the first T rows of positions, turned round")
def turned_round(x, positions):
    """The right rows were added in reverse: token 0 got row T - 1. Which row belongs to the first
    token?"""
    return x + positions[: x.shape[-2]].flip(0)


@exercise.wrong("x + positions[T - 1]")
def last_place_everywhere(x, positions):
    """Every token got the row of the last one, so all places look alike and a shuffle still goes
    unnoticed. Which row belongs to token i?"""
    return x + positions[x.shape[-2] - 1]


@exercise.wrong("x beside positions[:T]")
def laid_beside(x, positions):
    """You laid the rows of the table beside the tokens, so each token has twice as many features.
    Which operation keeps the size d?"""
    rows = positions[: x.shape[-2]].expand_as(x)
    return torch.cat([x, rows], dim=-1)


@exercise.wrong("positions[:T] as further tokens")
def laid_below(x, positions):
    """You laid the rows of the table below the tokens, as if they were tokens themselves. How many
    rows should come back for T tokens?"""
    rows = positions[: x.shape[-2]].expand_as(x)
    return torch.cat([x, rows], dim=-2)


@exercise.wrong("x · positions[:T]")
def multiplied(x, positions):
    """You multiplied each token by its row of the table, number by number. Which operation does
    the name of the function ask for?"""
    return x * positions[: x.shape[-2]]


@exercise.wrong("x - positions[:T]")
def subtracted(x, positions):
    """You subtracted the rows of the table. Which operation does the name of the function ask
    for?"""
    return x - positions[: x.shape[-2]]


@exercise.wrong("(x + positions[:T]) / 2")
def averaged(x, positions):
    """You took the mean of each token and its row of the table, so every number is half of what
    it should be. What is left to do once the two are added?"""
    return (x + positions[: x.shape[-2]]) / 2


@exercise.wrong("(x + positions[:T]) / √2")
def variance_kept(x, positions):
    """You divided the sum by the root of 2, as lesson 4 did to keep the variance at 1. The task
    asks for the plain sum. What is left to do once the two are added?"""
    return (x + positions[: x.shape[-2]]) / 2**0.5


@exercise.wrong("x · √d + positions[:T]")
def tokens_scaled(x, positions):
    """You multiplied the tokens by the root of d before adding, as the first transformer did with
    its embeddings. Does the task say so?"""
    return x * x.shape[-1] ** 0.5 + positions[: x.shape[-2]]


@exercise.wrong("x + 0, 1, 2, ...")
def plain_numbers(x, positions):
    """You added the number of the place itself to every feature; the table was never used. What
    does the table hold for each place?"""
    return x + torch.arange(x.shape[-2], dtype=x.dtype).unsqueeze(-1)


@exercise.wrong("x, unchanged")
def unchanged(x, positions):
    """x came back as it was. Does the result of your sum have a name, and is it what you
    return?"""
    return x


@exercise.wrong("positions[:T] alone")
def only_the_table(x, positions):
    """The rows of the table came back by themselves, and the tokens are gone. What are the rows to
    be added to?"""
    return positions[: x.shape[-2]].expand_as(x)


@exercise.wrong("x + positions[: length of axis 0]")
def T_from_axis_0(x, positions):
    """You read T from axis 0. Without a batch that is the number of tokens; with one it is the
    number of items. Which number means 'the tokens' for any number of axes?"""
    return x + positions[: x.shape[0]]


@exercise.wrong("x + positions[: length of axis 1]")
def T_from_axis_1(x, positions):
    """You read T from axis 1. With one batch axis that is the tokens; without one it is the
    features. Which number means 'the tokens' for any number of axes?"""
    return x + positions[: x.shape[1]]


@exercise.wrong("x + positions[: length of the last axis]")
def T_from_the_features(x, positions):
    """You read T from the last axis, which runs over the features. It only runs where there are as
    many features as tokens, or one. Which axis runs over the tokens?"""
    return x + positions[: x.shape[-1]]


@exercise.wrong("x + positions[:T]ᵀ")
def table_transposed(x, positions):
    """You transposed the rows of the table. It only runs when there are as many tokens as features.
    What does one row of the table belong to?"""
    return x + positions[: x.shape[-2]].T


@exercise.wrong("x + one row of positions for each item of the batch")
def one_row_per_item(x, positions):
    """All tokens of an item got the same row, and the next item the next row. Is it the items of a
    batch that should be told apart, or the tokens within each?"""
    rows = positions[: x.shape[0]]
    return x + rows.reshape(-1, *(1,) * (x.dim() - 2), rows.shape[-1])


@exercise.wrong("x += positions[:T]")
def added_in_place(x, positions):
    """The numbers are right, but your function changed its own argument on the way: whoever called
    it finds another x than before. What makes a new tensor where += writes into the old one?"""
    x += positions[: x.shape[-2]]
    return x


@exercise.wrong("x + positions[:T], the table cut off from the gradient")
def table_detached(x, positions):
    """The numbers are right, but no gradient reaches the table, so a model could never learn its
    rows. Is there a detach(), a no_grad() or a .data on the way?"""
    return x + positions[: x.shape[-2]].detach()


@exercise.wrong("x + positions[:T], cut off from both inputs")
def gradient_cut(x, positions):
    """The numbers are right, but no gradient finds its way back, so nothing could be trained. Is
    there a detach(), a no_grad(), a .data or a trip to numpy on the way?

    Seen in LunaBlack/KGAT-pytorch#15, bboylyg/NAD#8, kevinzakka/recurrent-visual-attention#4.
    """
    return (x + positions[: x.shape[-2]]).detach()


@exercise.wrong("x + positions[:T] in float32")
def turned_into_float32(x, positions):
    """The numbers are right, but they came back in float32 although float64 went in. Which line
    names a dtype, or creates a tensor without one?"""
    return (x + positions[: x.shape[-2]]).float()
