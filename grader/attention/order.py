"""Functions of tokens, for a test of equivariance: some use the order of the tokens, some do not.

Each takes x (..., T, d) to as many rows.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from grader.attention.kernels import attention, causal
from grader.probes import EDGES, FLOAT64, VALUES, BlackBox, Draw, Probe

EQUIVARIANT = "accepts functions that treat every token alike"
ORDER = "finds every use of the order"
ONE_ROW = "finds a difference in a few rows"
ROUNDING = "allows for rounding, and for no more"
GIVEN = "looks at the permutation that is given"


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


# -- the probes -----------------------------------------------------------------------------------


def _general(draw: Draw, T: int) -> Tensor:
    """A permutation in which nothing is blind.

    Every token moves, some to a place of other parity; it is not its own inverse and does not
    go together with turning the rows round. The first rows are not those that a box changes, nor
    is the last.
    """
    here = torch.arange(T)
    while True:
        p = torch.randperm(T, generator=draw.generator)
        inverse, mirrored = p.argsort(), (T - 1 - p).flip(0)
        if (
            not (p == here).any()
            and not (p == mirrored).all()
            and not (p == inverse).all()
            and not (p % 2 == here % 2).all()
            and 2 not in p[:2]
            and p[-1] > 2
        ):
            return p


def order_probes(draw: Draw) -> Iterator[Probe]:
    """Functions of both kinds, each with tokens and a permutation: `answer(function, x, p)`."""
    T = 6

    def call(
        name: str,
        kernel: Callable,
        shows: str = VALUES,
        p: Tensor | None = None,
        x: Tensor | None = None,
    ):
        x = draw(T, 8) if x is None else x
        p = _general(draw, T) if p is None else p
        label = f"{name}, in the order {', '.join(map(str, p.tolist()))}"
        return Probe(label, (boxed(kernel), x, p), shows)

    yield call("attention", plain)
    yield call("attention with positions added", with_positions)
    yield call("the mean of all rows", mean, EQUIVARIANT)
    yield call("a function that gives x back", as_it_is, EQUIVARIANT)
    yield call("a function of each token by itself", token_by_token, EQUIVARIANT)
    yield call("attention of features to features", over_features, EQUIVARIANT)
    yield call("attention to earlier tokens alone", looking_back, ORDER)
    yield call("attention, its rows turned round", reversed_rows, ORDER)
    yield call("attention, its rows shifted by one", shifted_rows, ORDER)
    yield call("a function that sorts each feature", sorted_rows, ORDER)
    yield call("the first row, everywhere", first_token, ORDER)
    yield call("attention with positions in feature 0 alone", in_one_feature(0), ORDER)
    yield call("attention with positions in feature 7 alone", in_one_feature(7), ORDER)
    yield call("attention, later rows longer", lengthened_by_place, ORDER)
    yield call("attention, the signs of every second row turned", signed_by_place, ORDER)
    x, p = draw(T, 8), _general(draw, T)
    lowered = lowered_by(x, p)
    yield call("attention plus a number that depends on the order", lowered, ORDER, p, x)
    yield call("x with the features of row 2 turned round", turned_in_row(2), ONE_ROW)
    yield call("x with the features of the last row turned round", turned_in_row(T - 1), ONE_ROW)
    yield call("attention, row 0 raised and row 1 lowered", moved_between_rows, ONE_ROW)
    for where, row in (("first", 0), ("last", -1)):
        x, p = draw(T, 8), _general(draw, T)
        x[p[row], 0] = (
            x[:, 0].max() + 1
        )  # one token alone stands out, after the shuffle in this row
        name = f"attention, the token that comes {where} raised by its place"
        yield call(name, marked_by_place, ONE_ROW, p, x)
    yield call("attention, rounded differently", rounded, ROUNDING)
    yield call("attention, 0.003 more for each row", slightly_by_place, ROUNDING)
    ahead = torch.arange(T)
    yield call("attention with positions added", with_positions, GIVEN, ahead)
    yield call("attention, its rows turned round", reversed_rows, GIVEN, ahead.flip(0))
    yield call("attention, its rows shifted by one", shifted_rows, GIVEN, ahead.roll(2))
    swapped = torch.tensor([3, 1, 2, 0, 4, 5])
    yield call("attention", plain, GIVEN, swapped)
    yield call("attention with positions added", with_positions, GIVEN, swapped)
    yield call("attention, rounded differently, float64", rounded, FLOAT64).exact
    yield call("attention to earlier tokens, float64", looking_back, FLOAT64).exact
    pair = torch.tensor([1, 0])
    yield call("attention to two tokens", plain, EDGES, pair, draw(2, 5))
    yield call("two tokens with positions", with_positions, EDGES, pair, draw(2, 5))
    yield call("one token with a position", with_positions, EDGES, ahead[:1], draw(1, 5))
