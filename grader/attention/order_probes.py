"""The probes of a test of equivariance: functions of both kinds, with tokens and a permutation."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from grader.attention.order import (
    as_it_is,
    boxed,
    first_token,
    in_one_feature,
    lengthened_by_place,
    looking_back,
    lowered_by,
    marked_by_place,
    mean,
    moved_between_rows,
    on_a_border,
    over_features,
    plain,
    reversed_rows,
    rounded,
    shifted_rows,
    signed_by_place,
    slightly_by_place,
    sorted_rows,
    token_by_token,
    turned_in_row,
    with_positions,
)
from grader.probes import EDGES, FLOAT64, VALUES, Draw, Probe

EQUIVARIANT = "accepts functions that treat every token alike"
ORDER = "finds every use of the order"
ONE_ROW = "finds a difference in a few rows"
ROUNDING = "allows for rounding, and for no more"
GIVEN = "looks at the tokens and the permutation given"


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
    for where, row in (("first", 0), ("second", 1), ("fifth", 4), ("last", -1)):
        x, p = draw(T, 8), _general(draw, T)
        # One token alone stands out, after the shuffle in this row.
        x[p[row], 0] = x[:, 0].max() + 1
        name = f"attention, the token that comes {where} raised by its place"
        yield call(name, marked_by_place, ONE_ROW, p, x)
    yield call("attention, rounded differently", rounded, ROUNDING)
    yield call("attention, halves of the last decimal", on_a_border, ROUNDING)
    yield call("attention, 0.003 more for each row", slightly_by_place, ROUNDING)
    ahead = torch.arange(T)
    yield call("attention with positions added", with_positions, GIVEN, ahead)
    yield call("attention, its rows turned round", reversed_rows, GIVEN, ahead.flip(0))
    yield call("attention, its rows shifted by one", shifted_rows, GIVEN, ahead.roll(2))
    swapped = torch.tensor([3, 1, 2, 0, 4, 5])
    yield call("attention", plain, GIVEN, swapped)
    yield call("attention with positions added", with_positions, GIVEN, swapped)
    # It depends on the tokens whether one sees the order, and then on the permutation.
    same = draw(1, 8).repeat(T, 1)
    yield call("the first row, everywhere, of tokens all alike", first_token, GIVEN, None, same)
    p = _general(draw, T)
    while p[0] == p.argsort()[0]:
        p = _general(draw, T)
    x = same.clone()
    x[p[0]] = draw(8)
    one = "the first row, everywhere, of tokens alike but for the one moved to the front"
    yield call(one, first_token, GIVEN, p, x)
    yield call("attention, rounded differently, float64", rounded, FLOAT64).exact
    yield call("attention to earlier tokens, float64", looking_back, FLOAT64).exact
    pair = torch.tensor([1, 0])
    yield call("attention to two tokens", plain, EDGES, pair, draw(2, 5))
    yield call("two tokens with positions", with_positions, EDGES, pair, draw(2, 5))
    yield call("one token with a position", with_positions, EDGES, ahead[:1], draw(1, 5))
