"""Layers from x (T, d) to (T, ...): some look at the past alone, others let the future in.

Each function draws the numbers of a layer and gives the layer back. Whatever leaks does so at
every x, with a gradient, and far above rounding.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.attention.kernels import as_they_are, attention, causal, later_keys, over_the_keys
from grader.attention.slips.mask import (
    filled_with_minus_10,
    masked_after_softmax,
    one_key_too_far,
    past_hidden,
    scores_times_mask,
)
from grader.attention.slips.normalise import over_the_queries
from grader.probes import Draw

Layer = Callable[[Tensor], Tensor]
SMALL = 2e-3  # beside the outputs; large beside rounding
BEND = (-7.0, -8.0, -9.0)  # far from what a test may put there


def _map(draw: Draw, d_in: int, d_out: int) -> Layer:
    matrix = draw(d_in, d_out) / d_in**0.5
    return lambda x: x @ matrix.to(x.dtype)


def attending(draw: Draw, d: int, **steps: Callable) -> Layer:
    """Attention with maps of its own; `steps` replace those of `kernels.attention`.

    The queries are short: near a one-hot softmax a leak would be too small to be found.
    """
    query, key, value = (_map(draw, d, d) for _ in range(3))
    return lambda x: attention(query(x) / 4, key(x), value(x), **steps)[0]


# --- right ones ----------------------------------------------------------------------------------


def masked(draw: Draw, d: int) -> Layer:
    return attending(draw, d, mask=causal)


def mean_so_far(draw: Draw, d: int) -> Layer:
    return lambda x: torch.stack([x[: i + 1].mean(dim=0) for i in range(len(x))])


def each_by_itself(draw: Draw, d: int) -> Layer:
    turn = _map(draw, d, d)
    return lambda x: torch.tanh(turn(x))


def recurrent(draw: Draw, d: int) -> Layer:
    """What a recurrent network does: a state that takes in one token after the other."""
    enter, go_on = _map(draw, d, d), _map(draw, d, d)

    def layer(x: Tensor) -> Tensor:
        states = [torch.zeros_like(x[0])]
        for token in enter(x):
            states.append(torch.tanh(token + go_on(states[-1])))
        return torch.stack(states[1:])

    return layer


def sum_so_far_over_T(draw: Draw, d: int) -> Layer:
    """Right, though it looks at how many rows there are."""
    return lambda x: x.cumsum(dim=0) / len(x)


def renormalised(draw: Draw, d: int, size: float = 1.0) -> Layer:
    """Masked after the softmax, and divided again: later tokens change the last digits alone.

    The scores and the values are bounded, and the values are far from 0, so that no test that
    allows for relative rounding sees more of it than rounding.
    """
    query, key, value = (_map(draw, d, d) for _ in range(3))

    def divided_again(scores: Tensor, *_: Tensor) -> Tensor:
        weights = over_the_keys(scores).tril()
        return weights / weights.sum(dim=-1, keepdim=True)

    def layer(x: Tensor) -> Tensor:
        q, k, v = (torch.tanh(role(x / size)) for role in (query, key, value))
        return size * attention(q, k, v + 2, normalise=divided_again)[0]

    return layer


# --- those that leak -----------------------------------------------------------------------------


def without_mask(draw: Draw, d: int) -> Layer:
    return attending(draw, d)


def open_in(features: slice) -> Callable[[Draw, int], Layer]:
    """Masked attention in which these features of the result are told of all tokens."""

    def make(draw: Draw, d: int) -> Layer:
        right, told = masked(draw, d), _map(draw, d, d)

        def layer(x: Tensor) -> Tensor:
            result = right(x).clone()
            result[:, features] += told(x.mean(dim=0))[features]
            return result

        return layer

    return make


def by_the_last_feature(draw: Draw, d: int, over: Layer = lambda v: v, **steps) -> Layer:
    """Attention whose queries and keys are read off the last feature, the values off the others.

    `over` is done to all values together.
    """
    direction, value = draw(1, 3), _map(draw, d - 1, d)
    direction = direction / direction.norm()  # whatever is drawn, a key matters, and not it alone

    def layer(x: Tensor) -> Tensor:
        match = x[:, -1:] + torch.where(x[:, -1:] < 0, -1, 1)  # not near 0, or nothing matches
        keys = match * direction.to(x.dtype)
        return attention(keys / 4, keys, over(value(x[:, :-1])), **steps)[0]

    return layer


def masked_after_the_softmax(draw: Draw, d: int) -> Layer:
    return by_the_last_feature(draw, d, mask=as_they_are, normalise=masked_after_softmax)


def softmax_over_the_queries(draw: Draw, d: int) -> Layer:
    return by_the_last_feature(draw, d, mask=causal, normalise=over_the_queries)


def values_centred(draw: Draw, d: int) -> Layer:
    return by_the_last_feature(draw, d, over=lambda v: v - v.mean(dim=0), mask=causal)


def weak(draw: Draw, d: int) -> Layer:
    layer, other = masked(draw, d), _map(draw, d, d)
    return lambda x: layer(x) + SMALL * other(x.sum(dim=0, keepdim=True))


def zeros_for_hidden(draw: Draw, d: int) -> Layer:
    return attending(draw, d, mask=scores_times_mask)


def minus_10_for_hidden(draw: Draw, d: int) -> Layer:
    """Scores that are low, as they may well be: -10 is then not far below them."""
    return attending(draw, d, mask=lambda scores, *_: filled_with_minus_10(scores - 6))


def the_past_hidden(draw: Draw, d: int) -> Layer:
    return attending(draw, d, mask=past_hidden)


def one_too_far(draw: Draw, d: int) -> Layer:
    return attending(draw, d, mask=one_key_too_far)


def peeking(row: int, at: int) -> Callable[[Draw, int], Layer]:
    """Masked, but that one query sees one later key."""

    def hide(scores: Tensor, *_: Tensor) -> Tensor:
        hidden = later_keys(scores)
        hidden[..., row : row + 1, at : at + 1] = False
        return scores.masked_fill(hidden, -torch.inf)

    return lambda draw, d: attending(draw, d, mask=hide)


def normal_over_the_tokens(draw: Draw, d: int) -> Layer:
    turn = _map(draw, d, d)
    return lambda x: turn(x - x.mean(dim=0)) / (1 + x.var(dim=0).mean())


def behind_a_layer_norm(draw: Draw, d: int) -> Layer:
    """Each token is centred and scaled: what is added to all its features is lost, and a factor."""
    layer = without_mask(draw, d)
    return lambda x: layer(torch.nn.functional.layer_norm(x, (d,), eps=1e-12))


def before_a_centring(draw: Draw, d: int) -> Layer:
    """Each row of the result adds up to 0, whatever it knows."""
    layer = zeros_for_hidden(draw, d)

    def centred(x: Tensor) -> Tensor:
        context = layer(x)
        return context - context.mean(dim=-1, keepdim=True)

    return centred


def from_the_last_row(draw: Draw, d: int) -> Layer:
    layer, other = masked(draw, d), _map(draw, d, d)
    return lambda x: layer(x) + other(x[-1:])


def from_the_last_row_centred(draw: Draw, d: int) -> Layer:
    """What is the same in all features of the last row is lost."""
    layer, other = masked(draw, d), _map(draw, d, d)
    return lambda x: layer(x) + other(x[-1:] - x[-1:].mean())


def bent(sign: int) -> Callable[[Draw, int], Layer]:
    """A last row other than BEND moves all results to one side, steeper one way than the other."""

    def make(draw: Draw, d: int) -> Layer:
        right = masked(draw, d)

        def layer(x: Tensor) -> Tensor:
            away = sum((i + 1) * (x[-1, i] - BEND[i]) for i in range(d)) / 6
            return right(x) + sign * torch.where(away > 0, 2 * away, -away)

        return layer

    return make
