"""merge_heads"""

import torch
from torch import Tensor

from grader.attention.heads import merge, moving_laws, split
from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, LAYOUT, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "merge_heads",
    "07-multi-head",
    place=2,
    points=2,
    signature="merge_heads(x) -> (..., T, d_model)",
    laws=moving_laws(),
    hints=(
        "Undo split_heads step by step. What did it do last?",
        "First the axes of the heads and of the tokens change places back. What shape is x then?",
        "Now the heads of a token stand next to each other: the last two axes become one. After a "
        "transpose .view raises, because the numbers no longer lie in order; .reshape copies them.",
        "x.transpose(-3, -2).flatten(-2)",
    ),
)


def _from_split(draw: Draw, label: str, shape: tuple[int, ...], n_heads: int) -> Probe:
    """What really comes in: a tensor whose axes have been exchanged, so it is not contiguous."""
    return Probe(label, (split(draw(*shape), n_heads),), LAYOUT)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (4, 5, 7))
    yield from usual(draw, (6, 7, 5))
    yield Probe("2×19×11", (draw(2, 19, 11),))
    yield Probe("as many heads as tokens, 5×5×7", (draw(5, 5, 7),), SQUARE)
    yield Probe("as many tokens as features of a head, 3×4×4", (draw(3, 4, 4),), SQUARE)
    yield Probe("as many heads as features of a head, 3×5×3", (draw(3, 5, 3),), SQUARE)
    yield Probe("everything 3", (draw(3, 3, 3),), SQUARE)
    yield Probe("a batch of 3, everything 3", (draw(3, 3, 3, 3),), BATCHES)
    yield _from_split(draw, "fresh from a split, 4×5×7", (5, 28), 4)
    yield _from_split(draw, "fresh from a split, a batch of 2, each 6×7×5", (2, 7, 30), 6)
    yield Probe("one token", (draw(2, 1, 3),), EDGES)
    yield Probe("one head", (draw(1, 4, 6),), EDGES)
    yield Probe("one feature a head", (draw(6, 4, 1),), EDGES)


exercise.reference(merge)


@exercise.twin
def feature_by_feature(x: Tensor) -> Tensor:
    n_heads, T, size = x.shape[-3:]
    rows = [
        torch.stack([x[..., h, t, f] for h in range(n_heads) for f in range(size)], dim=-1)
        for t in range(T)
    ]
    return torch.stack(rows, dim=-2)


@exercise.variant
def heads_concatenated(x):
    return torch.cat(x.unbind(dim=-3), dim=-1)


@exercise.variant
def made_contiguous(x):
    *lead, n_heads, T, size = x.shape
    return x.transpose(-3, -2).contiguous().view(*lead, T, n_heads * size)


@exercise.variant
def moved_and_reshaped(x):
    return torch.movedim(x, -3, -2).reshape(*x.shape[:-3], x.shape[-2], -1)


@exercise.variant
def filled_in_slice_by_slice(x):
    *lead, n_heads, T, size = x.shape
    merged = torch.zeros(*lead, T, n_heads * size, dtype=x.dtype, device=x.device)
    for h in range(n_heads):
        merged[..., h * size : (h + 1) * size] = x[..., h, :, :]
    return merged


@exercise.variant
def transposed_twice(x):
    return x.mT.flatten(-3, -2).mT


@exercise.wrong("x read as (T, d_model)")
def reshape_without_transpose(x):
    """The shape is right, and the numbers are not: you read x on in memory order, so the first
    rows hold several tokens of head 0, and the last rows those of the last head. Which two axes
    must change places before the last two become one?

    Seen in jsbaan/transformer-from-scratch#4, ajhalthor/Transformer-Neural-Network#1,
    hackiey/QAnet-pytorch#2, jadore801120/attention-is-all-you-need-pytorch#7.
    """
    *lead, n_heads, T, size = x.shape
    return x.reshape(*lead, T, n_heads * size)


@exercise.wrong("feature 0 of all heads, then feature 1 of all heads, ...")
def interleaved(x):
    """You shuffled the heads like cards: first feature 0 of every head, then feature 1 of every
    head. Each head should stay together. Which of the two axes varies faster in a row of the
    result, the heads or the features?"""
    return x.movedim(-3, -1).flatten(-2)


@exercise.wrong("the heads one below the other, (..., n_heads T, head_size)")
def heads_below_each_other(x):
    """You put the heads one below the other, so there are n_heads times as many rows. A token
    wants the results of all its heads in its own row. Which axis should grow longer?"""
    return x.flatten(-3, -2)


@exercise.wrong("each head transposed, then read as (T, d_model)")
def features_exchanged_with_tokens(x):
    """You exchanged tokens and features inside each head, and read on from there. Which two axes
    change places, when the heads of a token are to stand beside each other?"""
    *lead, n_heads, T, size = x.shape
    return x.mT.reshape(*lead, T, n_heads * size)


@exercise.on_top("the last head first")
def heads_reversed(kernel, x):
    """The heads come in reverse order, the last one first. Which features of a row belong to head
    0?"""
    return kernel(x.flip(-3))


@exercise.wrong("the mean of the heads")
def mean_of_heads(x):
    """You averaged the heads, and what one of them found is blurred by the others. What keeps all
    of it?"""
    return x.mean(dim=-3)


@exercise.wrong("the sum of the heads")
def sum_of_heads(x):
    """You added the heads up, and what one of them found can no longer be told from the others.
    What keeps all of it?"""
    return x.sum(dim=-3)


@exercise.wrong("the largest of the heads, feature by feature")
def largest_of_heads(x):
    """You took the largest value of all heads, feature by feature. The others are lost. What keeps
    all of it?

    Seen in broadinstitute/CellCap#40.
    """
    return x.amax(dim=-3)


@exercise.wrong("head 0 alone")
def first_head_alone(x):
    """Only head 0 came back. What becomes of what the others found?"""
    return x[..., 0, :, :]


@exercise.wrong("(..., T, n_heads, head_size)")
def not_joined(x):
    """The heads of a token stand beside each other now, but still on two axes. Which function makes
    one axis of two?"""
    return x.transpose(-3, -2)


@exercise.wrong("axes 1 and 2 exchanged, the last two joined")
def axes_from_the_front(x):
    """You exchanged axes 1 and 2. With one batch axis those are heads and tokens; without one, or
    with two, they are others. Which numbers mean the same two axes however many stand in front?"""
    return x.transpose(1, 2).flatten(-2)


@exercise.wrong("axes 0 and 1 exchanged, the last two joined")
def first_axes_exchanged(x):
    """You exchanged axes 0 and 1. Without a batch those are heads and tokens; with one, items and
    heads change places. Which numbers mean the same two axes however many stand in front?"""
    return x.transpose(0, 1).flatten(-2)


@exercise.wrong("what stands along axis 0, side by side")
def items_side_by_side(x):
    """You laid side by side what stands along axis 0. Without a batch those are the heads; with one
    they are its items. Where is the axis of the heads, counted from the back?"""
    return torch.cat(x.unbind(dim=0), dim=-1)


@exercise.wrong("what stands along axis 1, side by side")
def axis_1_side_by_side(x):
    """You laid side by side what stands along axis 1. With one batch axis those are the heads;
    without one they are the tokens. Where is the axis of the heads, counted from the back?"""
    return torch.cat(x.unbind(dim=1), dim=-1)


@exercise.on_top("the items of the batch one below the other")
def batch_below_each_other(kernel, x):
    """You made one axis of the batch and the tokens. Without a batch that is right; with one, the
    items can no longer be told apart. How many axes should come back?"""
    return kernel(x).flatten(0, -2)


@exercise.wrong("x, as it was")
def unchanged(x):
    """You gave x back as it was. How many axes has it, and how many should come back?"""
    return x
