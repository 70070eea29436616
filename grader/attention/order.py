"""Functions of tokens, for a test of equivariance: some use the order of the tokens, some do not.

Each takes x (..., T, d) to as many rows.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.attention.kernels import attention, causal
from grader.probes import BlackBox


def boxed(kernel: Callable) -> BlackBox:
    """A box that works in float64, so that only its last step rounds as x does."""
    return BlackBox(lambda x: kernel(x.double().clone()).to(x.dtype))


def places(x: Tensor) -> Tensor:
    """0, 1, 2, ...: a column of length T."""
    return torch.arange(x.shape[-2], dtype=x.dtype).unsqueeze(-1)


# -- every token is treated alike -----------------------------------------------------------------


def plain(x: Tensor) -> Tensor:
    return attention(x, x, x)[0]


def mean(x: Tensor) -> Tensor:
    return x.mean(dim=-2, keepdim=True).expand_as(x)


def as_it_is(x: Tensor) -> Tensor:
    return x


def token_by_token(x: Tensor) -> Tensor:
    return torch.tanh(x) + x.flip(-1)


def over_features(x: Tensor) -> Tensor:
    """Attention of features to features: the sum over the tokens forgets their order."""
    return x @ torch.softmax(x.mT @ x, dim=-1)


def rounded(x: Tensor) -> Tensor:
    """Another rounding at every second place."""
    return plain(x) * (1 + 1e-7 * (places(x) % 2))


def on_a_border(x: Tensor) -> Tensor:
    """Halves of the last decimal, a little more or less by place: rounded, they come apart.

    Feature 0 lies between numbers of six decimals, feature 1 of five, and so on. They are small, so
    that the places differ by less than a millionth.
    """
    unit = 10.0 ** (torch.arange(x.shape[-1], dtype=x.dtype) % 6 - 6)
    halves = (torch.floor(plain(x) / 4 / unit) + 0.5) * unit
    return halves * (1 + 3e-7 * (2 * (places(x) % 2) - 1))


# -- the order counts -----------------------------------------------------------------------------


def with_positions(x: Tensor) -> Tensor:
    return plain(x + torch.cos(places(x) * torch.arange(1, x.shape[-1] + 1)))


def looking_back(x: Tensor) -> Tensor:
    return attention(x, x, x, mask=causal)[0]


def reversed_rows(x: Tensor) -> Tensor:
    return plain(x).flip(-2)


def shifted_rows(x: Tensor) -> Tensor:
    return plain(x).roll(1, -2)


def sorted_rows(x: Tensor) -> Tensor:
    """The same rows whatever the order of the tokens: invariant, and so not equivariant."""
    return x.sort(dim=-2).values


def first_token(x: Tensor) -> Tensor:
    return x[..., :1, :].expand_as(x)


def turned_in_row(i: int) -> Callable:
    """The features of row i are turned round; no sum over all numbers sees it."""
    return lambda x: torch.where(places(x) == i, x.flip(-1), x)


def moved_between_rows(x: Tensor) -> Tensor:
    """Row 0 gets what row 1 loses, so that sums over the tokens stay as they are."""
    return plain(x) + (places(x) == 0).to(x.dtype) - (places(x) == 1).to(x.dtype)


def marked_by_place(x: Tensor) -> Tensor:
    """One token's row is raised by its place: the token whose first feature is the largest."""
    marked = x[..., :1] == x[..., :1].amax(dim=-2, keepdim=True)
    return plain(x) + marked * places(x)


def in_one_feature(i: int) -> Callable:
    """Only this feature of the result knows of the order."""
    return lambda x: torch.cat(
        [
            with_positions(x)[..., j : j + 1] if j == i else plain(x)[..., j : j + 1]
            for j in range(8)
        ],
        dim=-1,
    )


def lengthened_by_place(x: Tensor) -> Tensor:
    """Every row points where it should, and is the longer the later it stands."""
    return plain(x) * (1 + places(x))


def signed_by_place(x: Tensor) -> Tensor:
    """Every row is as long as it should be, and the signs of every second one are turned."""
    return plain(x) * (1 - 2 * (places(x) % 2))


def slightly_by_place(x: Tensor) -> Tensor:
    return plain(x) + 3e-3 * places(x)


def lowered_by(x: Tensor, permutation: Tensor) -> Callable:
    """Adds a number that depends on the order to all rows; for x[permutation] it is 1 less."""

    def weighted(tokens: Tensor) -> Tensor:
        return (places(tokens) * tokens)[..., :1].sum(dim=-2, keepdim=True)

    gap = weighted(x.double()) - weighted(x.double()[permutation])
    return lambda tokens: plain(tokens) + weighted(tokens) / gap
