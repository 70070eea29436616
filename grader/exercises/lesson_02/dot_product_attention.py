"""dot_product_attention"""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.attention.kernels import (
    as_they_are,
    attention,
    attention_in_loops,
    by_root_of_d_k,
)
from grader.attention.slips import SLIPS, Slip, add_slips
from grader.exercise import Exercise
from grader.laws import (
    inside_the_values,
    items_stay_apart,
    permuted_with_the_tokens,
    rows_add_up_to_1,
)
from grader.probes import BATCHES, EDGES, EXTREMES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "dot_product_attention",
    "02-dot-product-weights",
    place=4,
    points=4,
    signature="dot_product_attention(x) -> (context, weights)",
    laws=(
        rows_add_up_to_1(lambda output: output[1]),
        inside_the_values(lambda probe: probe.args[0], lambda output: output[0]),
        permuted_with_the_tokens(0),
        items_stay_apart(),
    ),
    hints=(
        "Three lines: scores, weights, context. Which of the three has shape (T, d)?",
        "Every row of x is a query and a key at once. Which product holds all their dot products?",
        "Step score: x times its own transpose. Step normalise: softmax over the last axis. "
        "Step mix: weights times x.",
        "weights = softmax(x @ x.transpose(-2, -1)); return weights @ x, weights",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 3))
    yield from usual(draw, (9, 6))
    yield Probe("19×2", (draw(19, 2),))
    # Narrow columns far from 0 and from each other: whatever is no average of one leaves its range.
    narrow = draw(5, 3).abs() / 50 + torch.tensor([1.0, 2, 3])
    yield Probe("columns near 1, 2 and 3", (narrow,))
    yield Probe("4×4", (draw(4, 4),), SQUARE)
    yield Probe("a batch of 3, 3×3", (draw(3, 3, 3),), BATCHES)
    yield Probe("the identity", (torch.eye(3),), EDGES)
    yield Probe("one token", (draw(1, 3),), EDGES)
    yield Probe("one feature", (draw(6, 1),), EDGES)
    far = torch.tensor([[40.0, 1.0], [-39.0, 2.0], [0.5, -0.5]])
    near = torch.tensor([[10.0, 0.0], [9.5, 0.5], [0.0, 1.0]])
    for label, x in ("very long vectors", far), ("scores near 100", near):
        yield Probe(label, (x,), EXTREMES, rtol=1e-3, gradients="finite")


@exercise.reference
def attention_to_itself(x: Tensor) -> tuple[Tensor, Tensor]:
    return attention(x, x, x, scale=as_they_are)


@exercise.twin
def attention_to_itself_in_loops(x: Tensor) -> tuple[Tensor, Tensor]:
    return attention_in_loops(x, x, x, scale=1.0)


@exercise.variant
def itself_by_einsum(x):
    scores = torch.einsum("...id,...jd->...ij", x, x)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("...ij,...jd->...id", weights, x), weights


@exercise.variant
def itself_token_by_token(x):
    rows = [torch.softmax((x @ x[..., i, :, None]).squeeze(-1), dim=-1) for i in range(x.shape[-2])]
    weights = torch.stack(rows, dim=-2)
    return weights @ x, weights


@exercise.variant
def itself_by_torch(x):
    weights = (x @ x.mT).softmax(-1)
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, scale=1.0), weights


def _changed(output: tuple | Tensor, change: Callable) -> tuple | Tensor:
    """The output with its context changed; with some mistakes the context comes alone."""
    if isinstance(output, Tensor):
        return change(output)
    context, weights = output
    return change(context), weights


def scaled_already(scores, q, k, v):
    """You divided the scores by the root of d. That step comes in lesson 3; here the scores go
    into the softmax as they are. Which of the five steps does this exercise use?"""
    return by_root_of_d_k(scores, q, k, v)


@exercise.wrong("softmax(xᵀ x) x", "score")
def features_compared(x):
    """Your scores compare features with features: they are (d, d), and it only runs when x is
    square. Which product of x with itself has one row and one column per token?"""
    weights = torch.softmax(x.transpose(-2, -1) @ x, dim=-1)
    return weights @ x, weights


@exercise.wrong("x softmax(xᵀ x)", "score")
def over_the_features(x):
    """Your weights are (d, d): features pay attention to features, and no token hears of another.
    Which product of x with itself has one row and one column per token?"""
    weights = torch.softmax(x.transpose(-2, -1) @ x, dim=-1)
    return x @ weights, weights


@exercise.wrong("softmax(x) xᵀ x", "normalise")
def softmax_before_the_product(x):
    """You took the softmax of x, before there were any scores: features shared themselves out, and
    the rows of the weights do not add up to 1. What does the softmax have to be taken of?"""
    weights = torch.softmax(x, dim=-1) @ x.transpose(-2, -1)
    return weights @ x, weights


@exercise.wrong("softmax(softmax(x) xᵀ) x", "score")
def query_through_a_softmax(x):
    """You put the queries through a softmax before they met the keys, and the scores through
    another. What goes into a dot product of two tokens?"""
    weights = torch.softmax(torch.softmax(x, dim=-1) @ x.transpose(-2, -1), dim=-1)
    return weights @ x, weights


@exercise.wrong("softmax(x xᵀ x)", "normalise")
def softmax_after_the_mix(x):
    """You mixed with the scores and took the softmax of the result: two lines have changed places.
    Which of scores, weights and context comes out of a softmax?"""
    scores = x @ x.transpose(-2, -1)
    return torch.softmax(scores @ x, dim=-1), scores


@exercise.wrong("softmax(x xᵀ, each token's own score hidden) x", "mask")
def itself_hidden(x):
    """You hid each token's score with itself. Here a token attends to all tokens, and a single one
    would have nothing left. Is a token one of the keys it is compared with?"""
    return _without_itself(x, -torch.inf)


@exercise.wrong("softmax(x xᵀ, each token's own score pushed down) x", "mask")
def itself_pushed_down(x):
    """You pushed each token's score with itself so far down that it gets no weight. Here a token
    attends to all tokens. Is a token one of the keys it is compared with?"""
    return _without_itself(x, -1e9)


def _without_itself(x, fill):
    own = torch.eye(x.shape[-2], dtype=torch.bool, device=x.device)
    weights = torch.softmax((x @ x.transpose(-2, -1)).masked_fill(own, fill), dim=-1)
    return weights @ x, weights


@exercise.on_top("x + softmax(x xᵀ) x", "mix")
def x_added(kernel, x):
    """You added x to the context. The weights already hold a share of the token itself. What is the
    context a weighted sum of?"""
    return _changed(kernel(x), lambda context: context + x)


@exercise.on_top("(softmax(x xᵀ) x)ᵀ", "mix")
def context_transposed(kernel, x):
    """The numbers are right, but in your context the tokens stand in the columns. In which axis of
    x do they stand, and in which should they come out?"""
    return _changed(kernel(x), lambda context: context.transpose(-2, -1))


def weights_given_transposed(context, weights, scores, v):
    """The context is right, but the weights beside it are the transposed ones: their columns add up
    to 1, not their rows. With which of the two did you mix, and which did you return?"""
    return context, weights.transpose(-2, -1)


def _of_x(kernel):
    return lambda x: kernel(x, x, x)


_ONE_INPUT = {"q": "x", "k": "x", "v": "x", "s": "x xᵀ"}
_SAME_WHEN_ONE = (
    "keys_times_queries",
    "queries_with_queries",
    "keys_with_keys",
    "keys_as_values",
    "queries_with_values",
    "queries_as_values",
    "scaled_in_place",
)
_ALL_SCALES = tuple(s.id for s in SLIPS if s.step == "scale")
add_slips(exercise, _of_x, _ONE_INPUT, (*_SAME_WHEN_ONE, *_ALL_SCALES), scale=as_they_are)
_scaled = Slip("scale", "softmax({s} / √d) {v}", scaled_already, {"scale": scaled_already})
_transposed = Slip(
    "",
    "(context, weights transposed)",
    weights_given_transposed,
    {"give": weights_given_transposed},
)
for each in (_scaled, _transposed):
    each.add_to(exercise, _of_x, _ONE_INPUT, {"scale": as_they_are})
