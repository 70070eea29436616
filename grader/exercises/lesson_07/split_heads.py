"""split_heads"""

from dataclasses import replace

import torch
from torch import Tensor

from grader.attention.heads import moving_laws, split
from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, SQUARE, VALUES, Draw, Probe, usual

exercise = Exercise(
    "split_heads",
    "07-multi-head",
    place=1,
    points=2,
    signature="split_heads(x, n_heads) -> (..., n_heads, T, head_size)",
    laws=moving_laws(),
    hints=(
        "Take x = torch.arange(12).reshape(3, 4) and 2 heads. What should head 0 hold, by hand?",
        "A view keeps the order in which the numbers lie in memory: token by token. Which axis "
        "can a view cut in two without tearing a token apart?",
        "Cut the last axis into (n_heads, head_size): now each token has its heads. Then the axes "
        "of the tokens and of the heads change places.",
        "x.reshape(*x.shape[:-1], n_heads, -1).transpose(-3, -2)",
    ),
)


def _call(draw: Draw, label: str, shape: tuple[int, ...], n_heads: int, shows: str) -> Probe:
    return Probe(f"{label}, {n_heads} heads", (draw(*shape), n_heads), shows)


@exercise.probe
def _(draw: Draw):
    for shape, n_heads in (((5, 28), 4), ((7, 30), 6)):
        for probe in usual(draw, shape):
            label = f"{probe.label}, {n_heads} heads"
            yield replace(probe, label=label, args=(*probe.args, n_heads))
    yield _call(draw, "19×22", (19, 22), 2, VALUES)
    yield _call(draw, "8×20", (8, 20), 4, VALUES)  # the tokens could be cut as well
    yield _call(draw, "as many heads as tokens", (5, 35), 5, SQUARE)
    yield _call(draw, "as many tokens as features of a head", (4, 12), 3, SQUARE)
    yield _call(draw, "as many heads as features of a head", (5, 9), 3, SQUARE)
    yield _call(draw, "everything 3", (3, 9), 3, SQUARE)
    yield _call(draw, "a batch of 3, everything 3", (3, 3, 9), 3, BATCHES)
    yield _call(draw, "one token", (1, 6), 2, EDGES)
    yield Probe("one head", (draw(4, 6), 1), EDGES)
    yield _call(draw, "one feature a head", (4, 6), 6, EDGES)


exercise.reference(split)


@exercise.twin
def feature_by_feature(x: Tensor, n_heads: int) -> Tensor:
    T, size = x.shape[-2], x.shape[-1] // n_heads
    heads = [
        [[x[..., t, h * size + f] for f in range(size)] for t in range(T)] for h in range(n_heads)
    ]
    rows = [[torch.stack(row, dim=-1) for row in head] for head in heads]
    return torch.stack([torch.stack(head, dim=-2) for head in rows], dim=-3)


@exercise.variant
def cut_by_reshape(x, n_heads):
    *lead, T, d_model = x.shape
    return x.reshape(*lead, T, n_heads, d_model // n_heads).movedim(-2, -3)


@exercise.variant
def stacked_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=-3)


@exercise.variant
def slice_by_slice(x, n_heads):
    size = x.size(-1) // n_heads
    heads = [x[..., h * size : (h + 1) * size].unsqueeze(-3) for h in range(n_heads)]
    return torch.cat(heads, dim=-3).contiguous()


@exercise.variant
def one_batch_axis_for_the_time_being(x, n_heads):
    *lead, T, d_model = x.shape
    cut = x.reshape(-1, T, n_heads, d_model // n_heads).permute(0, 2, 1, 3)
    return cut.reshape(*lead, n_heads, T, -1)


@exercise.variant
def transposed_twice(x, n_heads):
    return x.mT.unflatten(-2, (n_heads, -1)).mT


@exercise.wrong("x read as (n_heads, T, head_size)")
def view_without_transpose(x, n_heads):
    """The shape is right, and the numbers are not: you read x on in memory order, so the first
    head gets the first tokens whole, cut into pieces. Which axis should be cut in two, and which
    two axes change places after that?

    Seen in reczoo/FuxiCTR#30, hyunwoongko/transformer#15,
    649453932/Chinese-Text-Classification-Pytorch#10.
    """
    *lead, T, d_model = x.shape
    return x.reshape(*lead, n_heads, T, d_model // n_heads)


@exercise.wrong("features h, h + n_heads, h + 2 n_heads, ... for head h")
def interleaved(x, n_heads):
    """You dealt the features out like cards: head 0 gets every n_heads-th one. A head is a block
    of neighbouring features. Which of the two new axes should come first when the last axis is
    cut, the heads or the features of a head?"""
    return x.unflatten(-1, (-1, n_heads)).movedim(-1, -3)


@exercise.wrong("(..., T, n_heads, head_size): the heads behind the tokens")
def heads_behind_the_tokens(x, n_heads):
    """You cut the features apart and stopped there, so each token still has its heads beside it.
    What does a matrix product take the last two axes for?

    Seen in kyegomez/FlashMHA#1.
    """
    return x.unflatten(-1, (n_heads, -1))


@exercise.wrong("(..., T, head_size, n_heads): the heads behind their features")
def heads_behind_their_features(x, n_heads):
    """The features are cut right. Your axes are those of the tokens, of a head's features, and of
    the heads, in this order. A matrix product takes the last two axes for the rows and columns of
    a table. Which two should those be?"""
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -1)


@exercise.on_top("(..., n_heads, head_size, T): tokens and features exchanged")
def features_before_tokens(kernel, x, n_heads):
    """In each head tokens and features have changed places. Which of the two should be the rows of
    a head?"""
    return kernel(x, n_heads).transpose(-2, -1)


@exercise.wrong("head_size heads of n_heads features each")
def number_and_size_exchanged(x, n_heads):
    """You made as many heads as a head should have features, and gave each as many features as
    there should be heads. In which order do the two new sizes stand in your cut?"""
    return x.unflatten(-1, (-1, n_heads)).transpose(-3, -2)


@exercise.wrong("xᵀ read as (n_heads, T, head_size)")
def transposed_then_read(x, n_heads):
    """You transposed first and cut afterwards: the numbers were read on feature by feature, and
    land in rows of other tokens. Which comes first, the cut or the exchange of two axes?"""
    *lead, T, d_model = x.shape
    return x.mT.reshape(*lead, n_heads, T, d_model // n_heads)


@exercise.on_top("the last head first")
def heads_reversed(kernel, x, n_heads):
    """The heads come in reverse order, the last one first. Which features belong to head 0?"""
    return kernel(x, n_heads).flip(-3)


@exercise.wrong("(..., n_heads, T / n_heads, d_model): the tokens are cut")
def cut_along_the_tokens(x, n_heads):
    """You cut the tokens into groups; each group kept all its features. Then a head would see
    only a part of the sentence. Which axis is shared out among the heads?"""
    return x.unflatten(-2, (n_heads, -1))


@exercise.wrong("each head starts one feature after the one before")
def slices_overlap(x, n_heads):
    """Your slices overlap: each starts one feature after the one before it. Where does head h
    start if every head before it has taken head_size features?"""
    size = x.shape[-1] // n_heads
    return torch.stack([x[..., h : h + size] for h in range(n_heads)], dim=-3)


@exercise.wrong("the first head_size features, for every head")
def one_slice_for_all(x, n_heads):
    """Every head got the same slice, the first one. Where in your code does the number of the head
    come in?"""
    first = x[..., : x.shape[-1] // n_heads]
    return torch.stack([first] * n_heads, dim=-3)


@exercise.wrong("all of x, for every head")
def copied_to_every_head(x, n_heads):
    """Every head got all the features of every token. Then n_heads heads cost n_heads times as
    much. How long should the last axis be?"""
    return torch.stack([x] * n_heads, dim=-3)


@exercise.wrong("axes 1 and 2 exchanged")
def axes_from_the_front(x, n_heads):
    """You exchanged axes 1 and 2. With one batch axis those are tokens and heads; without one, or
    with two, they are others. Which numbers mean the same two axes however many stand in front?"""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@exercise.wrong("axes 0 and 1 exchanged")
def first_axes_exchanged(x, n_heads):
    """You exchanged axes 0 and 1. Without a batch those are tokens and heads; with one, items and
    tokens change places. Which numbers mean the same two axes however many stand in front?"""
    return x.unflatten(-1, (n_heads, -1)).transpose(0, 1)


@exercise.wrong("the heads at axis 0, before the batch")
def heads_before_the_batch(x, n_heads):
    """Your heads stand in front of everything. Without a batch that is right; with one, the items
    come second. Where is the axis of the heads, counted from the back?"""
    return torch.stack(x.chunk(n_heads, dim=-1))


@exercise.wrong("the heads at axis 1")
def heads_at_axis_1(x, n_heads):
    """Your heads stand at axis 1. With one batch axis that is right; without one they stand behind
    the tokens, and with two inside the batch. Where is that axis, counted from the back?"""
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@exercise.on_top("batch and heads in one axis")
def batch_and_heads_in_one_axis(kernel, x, n_heads):
    """You made one axis of the batch and the heads. Without a batch that is right; with one, the
    heads of an item can no longer be told from its neighbours'. How many axes should come back?"""
    return kernel(x, n_heads).flatten(0, -3)


@exercise.wrong("a list of heads")
def a_list(x, n_heads):
    """You gave back the heads one by one, in a list or tuple. The next steps want one tensor, so
    that all heads are computed at once. Which function of torch makes one tensor of several?"""
    return list(x.chunk(n_heads, dim=-1))


@exercise.wrong("x, as it was")
def unchanged(x, n_heads):
    """You gave x back as it was. How many axes has it, and how many should come back?"""
    return x
