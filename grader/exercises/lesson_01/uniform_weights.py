"""uniform_weights"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import EDGES, LARGE, Draw, Probe

exercise = Exercise(
    "uniform_weights",
    "01-averaging",
    place=2,
    points=1,
    signature="uniform_weights(T) -> (T, T)",
    hints=(
        "Row i holds the shares that token i takes of every token. What do the shares add up to?",
        "All T shares in a row are equal. How large is each?",
        "Step normalise: a (T, T) matrix whose every entry is 1/T.",
        "torch.full((T, T), 1 / T)",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from (Probe(f"T = {T}", (T,)) for T in (5, 2, 8, 13))
    # Compared relatively: 1/43 rounded to five or six places is another share.
    yield Probe("T = 43", (43,), LARGE, rtol=5e-6, atol=0.0)
    yield Probe("T = 1", (1,), EDGES)


@exercise.reference
def every_entry_one_over_T(T: int) -> Tensor:
    return torch.full((T, T), 1 / T)


@exercise.twin
def one_entry_at_a_time(T: int) -> Tensor:
    return torch.tensor([[1 / T for _ in range(T)] for _ in range(T)])


@exercise.variant
def ones_divided(T):
    return torch.ones(T, T) / T


@exercise.variant
def softmax_of_zeros(T):
    return torch.zeros(T, T).softmax(dim=-1)


@exercise.variant
def expanded(T):
    return torch.tensor(1.0 / T).expand(T, T)


@exercise.on_top("every entry is 1", "normalise")
def all_ones(kernel, T):
    """Every entry is 1, so each row adds up to T: the result would be a sum, not an average. What
    must the entries of one row add up to?"""
    return kernel(T) * T


@exercise.wrong("1 on the diagonal, 0 elsewhere", "mix")
def identity(T):
    """This is the identity: every token takes all of itself and nothing of the others. What share
    should token 0 take of token 1?"""
    return torch.eye(T)


@exercise.wrong("1/T on the diagonal, 0 elsewhere", "mix")
def identity_divided(T):
    """The share 1/T is right, but only the diagonal holds it: no token takes anything of another
    one. What share should token 0 take of token 1?"""
    return torch.eye(T) / T


@exercise.on_top("every entry is 1/T²", "normalise")
def whole_matrix_sums_to_one(kernel, T):
    """The whole matrix adds up to 1, so each row adds up to only 1/T. Which entries are the
    shares of one token?"""
    return kernel(T) / T


@exercise.wrong("every entry is 1/(T-1)", "normalise")
def divided_by_one_less(T):
    """Every entry is 1/(T-1), so each row adds up to more than 1. How many entries has a row?"""
    return torch.full((T, T), 1 / (T - 1))


@exercise.wrong("1/(T-1) off the diagonal, 0 on it", "mask")
def itself_left_out(T):
    """Every token shares itself out among the others and takes nothing of itself. With one token
    nothing would be left. Does a token belong to the tokens it averages over?"""
    return (1 - torch.eye(T)) / (T - 1)


@exercise.wrong("1 // T, which is 0", "normalise")
def rounded_down(T):
    """Your shares were rounded down to whole numbers, so they are 0 for every T above 1. Which
    division keeps what comes after the point?"""
    return torch.ones(T, T) // T


@exercise.on_top("one row of 1/T", "mix")
def one_row_of_weights(kernel, T):
    """The shares are right, but there is one row of them. Every token has a row of its own. How
    many tokens look at how many tokens?"""
    return kernel(T)[0]


@exercise.on_top("one column of 1/T", "mix")
def one_column_of_weights(kernel, T):
    """The shares are right, but each token has only one. It needs a share for every token it looks
    at. How many tokens look at how many tokens?"""
    return kernel(T)[:, :1]


@exercise.wrong("row i has 1/(i+1) up to the diagonal", "mask")
def only_the_past(T):
    """Row i only looks at the tokens up to i. That matrix comes later in this lesson. Which
    tokens should row 0 see here?"""
    return torch.ones(T, T).tril() / torch.arange(1, T + 1).unsqueeze(-1)
