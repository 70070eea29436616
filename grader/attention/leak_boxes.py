"""The black boxes on which tests for leaks are tried, and the property that shows on each."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from grader.attention import layers
from grader.probes import EDGES, VALUES, BlackBox, Draw, Probe

PAST = "accepts other layers that look back only"
ROUNDING = "accepts rounding"
LARGE_NUMBERS = "accepts rounding of large numbers"
KEYS = "finds leaks through the keys"
THROUGH_VALUES = "finds leaks through the values"
HIDDEN = "finds masks that do not hide"
ONE_ROW = "finds leaks from one row to another"
ALL_ROWS = "finds leaks without attention"
NORM = "finds leaks beside a normalisation"
WEAK = "finds weak leaks"
ONE_WAY = "finds leaks that only raise or only lower the result"
FLAT = "finds leaks from rows of equal numbers"
ALIKE = "finds leaks among equal rows"
LARGE = 1e5  # where rounding is of the size of 0.01


def _ending_in(number: float) -> Callable[[Draw], Tensor]:
    def made(draw: Draw) -> Tensor:
        x = draw(5, 3)
        x[3:] = number
        return x

    return made


def _ending_in_the_bend(draw: Draw) -> Tensor:
    return torch.cat([draw(4, 3), torch.tensor([layers.BEND])])


def _one_row_five_times(draw: Draw) -> Tensor:
    return draw(1, 3).repeat(5, 1)


class Box(NamedTuple):
    """What a layer is, the property that shows on it, how it is made, and its x."""

    what: str
    shows: str
    make: Callable[[Draw, int], layers.Layer]
    x: Callable[[Draw], Tensor] = lambda draw: draw(5, 3)

    def probe(self, draw: Draw) -> Probe:
        x = self.x(draw)
        label = f"a box ({self.what}), x {len(x)}×{x.shape[-1]}"
        return Probe(label, (BlackBox(self.make(draw, x.shape[-1])), x), self.shows)


BOXES = (
    Box("attention with a causal mask", VALUES, layers.masked),
    Box("attention without a mask", VALUES, layers.without_mask),
    Box("the mean of the tokens so far", PAST, layers.mean_so_far),
    Box("each token by itself", PAST, layers.each_by_itself),
    Box("a recurrent network", PAST, layers.recurrent),
    Box("the sum of the tokens so far, divided by T", PAST, layers.sum_so_far_over_T),
    Box("masked after the softmax, divided again", ROUNDING, layers.renormalised),
    Box(
        "large numbers, masked after the softmax, divided again",
        LARGE_NUMBERS,
        partial(layers.renormalised, size=LARGE),
        lambda draw: LARGE * draw(5, 3),
    ),
    Box("masked after the softmax", KEYS, layers.masked_after_the_softmax),
    Box("masked, softmax over the queries", KEYS, layers.softmax_over_the_queries),
    Box("masked, values centred over all tokens", THROUGH_VALUES, layers.values_centred),
    Box("later scores set to 0", HIDDEN, layers.zeros_for_hidden),
    Box("later scores set to -10", HIDDEN, layers.minus_10_for_hidden),
    Box("masked in the first feature alone", HIDDEN, layers.open_in(slice(1, None))),
    Box("masked in all but the first feature", HIDDEN, layers.open_in(slice(0, 1))),
    Box("the past hidden, not the future", HIDDEN, layers.the_past_hidden),
    Box("a mask one diagonal too far", HIDDEN, layers.one_too_far),
    Box("masked, but row 0 sees row 1", ONE_ROW, layers.peeking(0, 1)),
    Box("masked, but row 1 sees row 2", ONE_ROW, layers.peeking(1, 2)),
    Box("masked, but row 2 sees row 3", ONE_ROW, layers.peeking(2, 3)),
    Box("masked, but row 3 sees row 4", ONE_ROW, layers.peeking(3, 4)),
    Box("masked, but row 6 sees row 7", ONE_ROW, layers.peeking(6, 7), lambda draw: draw(8, 3)),
    Box("masked, but row 0 sees row 4", ONE_ROW, layers.peeking(0, 4)),
    Box("tokens centred over all tokens", ALL_ROWS, layers.normal_over_the_tokens),
    Box("no mask, behind a layer norm", NORM, layers.behind_a_layer_norm),
    Box("later scores set to 0, every row centred", NORM, layers.before_a_centring),
    Box("masked, and a little of all tokens added", WEAK, layers.weak),
    Box("masked, lowered if the last row moves", ONE_WAY, layers.bent(-1), _ending_in_the_bend),
    Box("masked, raised if the last row moves", ONE_WAY, layers.bent(1), _ending_in_the_bend),
    Box("masked, and the last row added", FLAT, layers.from_the_last_row, _ending_in(0)),
    Box(
        "masked, and the last row added, centred",
        FLAT,
        layers.from_the_last_row_centred,
        _ending_in(1),
    ),
    Box("no mask, all rows equal", ALIKE, layers.without_mask, _one_row_five_times),
    Box("masked, two tokens", EDGES, layers.masked, lambda draw: draw(2, 4)),
    Box("no mask, two tokens", EDGES, layers.without_mask, lambda draw: draw(2, 4)),
    Box("no mask, one token", EDGES, layers.without_mask, lambda draw: draw(1, 4)),
)
