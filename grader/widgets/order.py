"""Order, positions and masks: who sees a change to one token?"""

from dataclasses import dataclass
from functools import lru_cache, partial

import torch

from grader.figures.numbers import array, names
from grader.widgets.page import Explorer, View, choice, one_line, order, switch, table
from grader.widgets.panels import Cells
from grader.widgets.stage import Stage

MOST_WORDS = 8
SEEN = 1e-5  # an output that moves by less has not changed
SHARP = 4  # the six tokens resemble each other: larger scores let one see who looks at whom
MASKS = {
    "none": "none",
    "before": "causal: −∞ before the softmax",
    "after": "causal: zeros after the softmax, rows left as they are",
    "zeros": "causal, but 0 in place of −∞",
    "queries": "causal: −∞, but softmax over the queries",
}


@dataclass(frozen=True)
class Seen:
    """Weights (T, T), context (T, d), and how far each context moves (T,) with the change."""

    weights: torch.Tensor
    context: torch.Tensor
    moved: torch.Tensor


@one_line
def order_and_masks(x, tokens) -> Explorer:
    """Show the weights for any order and mask, and which outputs a change to one token reaches.

    `x` is (T, d) with up to 8 tokens: queries, keys and values at once, its scores made four times
    as large. The changed token is given the opposite vector.

    Example: `order_and_masks(x, tokens)`
    """
    x = torch.tensor(array(x, "x", 2), dtype=torch.float32)
    tokens = names(tokens, len(x), "tokens", "x")
    if len(x) > MOST_WORDS:
        raise ValueError(f"x should have at most {MOST_WORDS} tokens, but it has {len(x)}.")
    places = list(enumerate(tokens))
    controls = [
        order("arranged", "Order of the tokens", places, list(range(len(x)))),
        choice("changed", "Opposite vector for", [(-1, "no token"), *places], len(x) - 1),
        choice("mask", "Mask", MASKS.items(), "none"),
        switch("positions", "Add positions", False),
    ]
    return Explorer("Who sees what?", controls, partial(_view, x, tokens))


def see(x: torch.Tensor, changed: int, mask: str) -> Seen:
    """x (T, d); the token at place `changed` is turned to its opposite, or none where it is -1."""
    context, weights = masked_attention(x, mask)
    other = x.clone()
    if changed >= 0:
        other[changed] *= -1
    moved = (masked_attention(other, mask)[0] - context).abs().amax(dim=-1)
    return Seen(weights, context, moved)


def masked_attention(x: torch.Tensor, mask: str) -> tuple[torch.Tensor, torch.Tensor]:
    """x (T, d) -> context (T, d), weights (T, T), with one of the MASKS."""
    scores = SHARP * x @ x.T / x.shape[-1] ** 0.5
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    if mask in ("before", "queries"):
        scores = scores.masked_fill(future, -torch.inf)
    elif mask == "zeros":
        scores = scores.masked_fill(future, 0)
    weights = torch.softmax(scores, dim=-2 if mask == "queries" else -1)
    if mask == "after":
        weights = weights.masked_fill(future, 0)
    return weights @ x, weights


def positions(T: int, d: int) -> torch.Tensor:
    """Sines and cosines of the place, (T, d): each row is another one."""
    at = torch.arange(T).unsqueeze(-1) / 100 ** (torch.arange(d) // 2 * 2 / d)
    return torch.where(torch.arange(d) % 2 == 0, at.sin(), at.cos())


def _view(x, tokens, arranged: list, changed: int, mask: str, positions: bool) -> View:
    words, T = [tokens[token] for token in arranged], len(arranged)
    rows = x[arranged] + _positions(T, x.shape[1]) if positions else x[arranged]
    place = arranged.index(changed) if changed >= 0 else -1
    seen = see(rows, place, mask)
    reached = [bool(far) for far in seen.moved > SEEN]
    stage = _stage(T)
    stage.panels[0].set(words, words, seen.weights.numpy())
    said = ["yes" if far else "no" for far in reached]
    stage.panels[1].set(words, [""], [[float(far)] for far in reached], said)
    who = [word for word, far in zip(words, reached, strict=True) if far]
    if changed < 0:
        status = "No token is changed."
    else:
        heard = f"the outputs of {', '.join(who)}" if who else "no output"
        status = f"The opposite vector for {tokens[changed]}, at place {place}, changes {heard}: "
        status += f"{len(who)} of {T}."
    sums = seen.weights.sum(dim=-1)
    status += f" The rows of weights add up to {_range(sums)}."
    alt = f"Weights of {T} tokens in the order {', '.join(words)}; mask: {MASKS[mask]}; "
    alt += f"positions {'added' if positions else 'not added'}. {status}"
    lines = [
        (word, far, f"{by:.2f}", f"{total:.2f}", *_two(context))
        for word, far, by, total, context in zip(
            words, said, seen.moved.tolist(), sums.tolist(), seen.context.tolist(), strict=True
        )
    ]
    head = ["token", "the opposite reaches it", "by at most", "weights add up to"]
    head += [f"output {k}" for k in range(x.shape[1])]
    shares = [(word, *_two(row)) for word, row in zip(words, seen.weights.tolist(), strict=True)]
    tables = table("What the change reaches", head, lines)
    tables += table("Weights: who looks, at whom", ["looks", *words], shares)
    return View(stage, alt, status, tables)


_positions = positions


def _two(values) -> list[str]:
    return [f"{value + 0.0:.2f}" for value in values]


def _range(values) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


@lru_cache(8)
def _stage(T: int) -> Stage:
    wide, tall = 0.5 * T, 0.36 * T
    return Stage(
        wide + 4.2,
        tall + 1.3,
        lambda figure: [
            Cells(figure, (1.0, 0.9, wide, tall), "Weights", T, T),
            Cells(figure, (wide + 2.3, 0.9, 0.7, tall), "Opposite reaches", T, 1),
        ],
    )
