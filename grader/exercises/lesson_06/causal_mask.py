"""causal_mask"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import EDGES, Draw, Probe

exercise = Exercise(
    "causal_mask",
    "06-causal-mask",
    place=1,
    points=1,
    signature="causal_mask(T) -> (T, T) bool",
    hints=(
        "Row i belongs to query i. Which entries of row 0 are True, and how many in the last row?",
        "True means 'may attend'. May token i attend to itself?",
        "Step mask: entry (i, j) is True where j is at most i, a lower triangle with its diagonal.",
        "torch.ones(T, T, dtype=torch.bool).tril()",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from (Probe(f"T = {T}", (T,)) for T in (5, 2, 8, 13, 67))
    yield Probe("T = 1", (1,), EDGES)


@exercise.reference
def key_not_after_query(T: int) -> Tensor:
    place = torch.arange(T)
    return place[None, :] <= place[:, None]


@exercise.twin
def one_entry_at_a_time(T: int) -> Tensor:
    return torch.tensor([[j <= i for j in range(T)] for i in range(T)])


@exercise.variant
def lower_triangle(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


@exercise.variant
def not_the_upper_triangle(T):
    return ~torch.triu(torch.ones(T, T), diagonal=1).bool()


@exercise.variant
def identity_added_up(T):
    return torch.eye(T).cumsum(dim=0) > 0


@exercise.variant
def row_by_row(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, : i + 1] = True
    return mask


@exercise.variant
def by_indices(T):
    mask = torch.full((T, T), False)
    rows, columns = torch.tril_indices(T, T)
    mask[rows, columns] = True
    return mask


@exercise.wrong("True where j < i", "mask")
def diagonal_hidden(T):
    """You left out the diagonal: no token may attend to itself, and row 0 may attend to nothing. A
    softmax of nothing but -∞ is not a number. Is key i one of the keys up to i?

    Seen in pbloem/former#10.
    """
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


@exercise.wrong("True where j ≤ i + 1", "mask")
def one_key_too_far(T):
    """Your triangle reaches one diagonal too far: each token may look at the next one. In which
    column is the last True of row 0?

    Seen in RVC-Boss/GPT-SoVITS#965.
    """
    return torch.ones(T, T, dtype=torch.bool).tril(1)


@exercise.wrong("True where j ≥ i", "mask")
def transposed(T):
    """Your triangle is the upper one: each token may attend to itself and to what comes after it.
    Which index stands for the query, that of the row or that of the column?

    Seen in harvard-edge/cs249r_book#1785.
    """
    return torch.ones(T, T, dtype=torch.bool).triu()


@exercise.wrong("True where j > i", "mask")
def meaning_turned_round(T):
    """Your mask is True where a key has to be hidden. Some libraries want it so; in this course
    True means 'may attend'. Which sign turns the one into the other?

    Seen in rasbt/LLMs-from-scratch#1061, InseeFrLab/torchTextClassifiers#92,
    lucidrains/halonet-pytorch#4.
    """
    return torch.ones(T, T, dtype=torch.bool).triu(1)


@exercise.wrong("True everywhere", "mask")
def everything_seen(T):
    """Every entry is True, so that nothing is hidden. Which keys come after query 0?"""
    return torch.ones(T, T, dtype=torch.bool)


@exercise.wrong("False everywhere", "mask")
def nothing_seen(T):
    """Every entry is False or 0, so that no token may attend to anything, not even to itself. Which
    keys does query i know?"""
    return torch.zeros(T, T, dtype=torch.bool)


@exercise.wrong("the last row False", "mask")
def last_row_missing(T):
    """The last row is False everywhere: the last token may attend to nothing. Which query does your
    last row belong to, and which row is the last that you fill?"""
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    mask[-1] = False
    return mask


@exercise.wrong("True at (0, 0) alone", "mask")
def only_the_first_row(T):
    """Only row 0 is right, and all after it are False, as when a return stands inside the loop and
    ends it after the first round. How often does your loop run?"""
    mask = torch.zeros(T, T, dtype=torch.bool)
    mask[0, 0] = True
    return mask


@exercise.wrong("True where j = i", "mask")
def only_itself(T):
    """Only the diagonal is True: a token may attend to itself and to nothing before it. Which
    other keys does the last token know?"""
    return torch.eye(T, dtype=torch.bool)


@exercise.wrong("1 where j ≤ i, 0 elsewhere", "mask")
def ones_and_zeros(T):
    """The triangle is right, but it holds numbers, not True and False. With them the sign ~ does
    not turn the mask round, and as an index they are places. Which dtype has a mask?"""
    return torch.ones(T, T).tril()


@exercise.wrong("0 where j ≤ i, -∞ elsewhere", "mask")
def added_to_the_scores(T):
    """You made what is added to the scores: 0 where a key may be seen and -∞ where not. The task
    asks for the mask itself. Which two values can its entries have?"""
    return torch.full((T, T), -torch.inf).triu(1)


@exercise.wrong("0 where j ≤ i, -1e9 elsewhere", "mask")
def a_large_number_added(T):
    """You made what is added to the scores: 0 where a key may be seen and a huge negative number
    where not. The task asks for the mask itself. Which two values can its entries have?"""
    return torch.full((T, T), -1e9).triu(1)


@exercise.wrong("the triangle as nested lists", "mask")
def nested_lists(T):
    """The entries are right, but they stand in lists, and lists cannot be broadcast against scores.
    What makes a tensor of them?"""
    return [[j <= i for j in range(T)] for i in range(T)]


@exercise.wrong("the triangle with an axis of length 1 in front", "mask")
def axes_in_front(T):
    """The triangle is right, but there are axes of length 1 in front of it. Scores without a batch
    would come out with one. How many axes has a table of queries and keys?"""
    return torch.ones(1, T, T, dtype=torch.bool).tril()
