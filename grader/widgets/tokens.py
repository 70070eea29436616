"""Which tokens does a token look at? Move its vector, or write another sentence, and see."""

import zlib
from dataclasses import dataclass
from functools import lru_cache, partial

import torch

from grader.figures.numbers import array, cell, names, say
from grader.widgets.asking import Asked
from grader.widgets.page import Explorer, View, choice, one_line, slider, table, text
from grader.widgets.panels import Bars
from grader.widgets.stage import Stage

MOST_WORDS, MOST_FEATURES = 8, 6
MOVES = [(step / 10, f"{step / 10:+.1f}") for step in range(-20, 21)]


@dataclass(frozen=True)
class Look:
    """What one query sees: scores (T,), weights (T,), its vector and its context (d,)."""

    scores: torch.Tensor
    weights: torch.Tensor
    vector: torch.Tensor
    context: torch.Tensor
    note: str = ""


@one_line
def which_token(x, tokens, attention=None, scores=True) -> Explorer:
    """Show what one of the tokens looks at; `attention` may be the learner's own function.

    `x` is (T, d) with up to 8 tokens and 6 features. The sentence can be changed: words of
    `tokens` keep their vectors, others get one that is made up from their letters. The scores, dot
    products of the tokens, can be left out.

    Example: `which_token(x, tokens, dot_product_attention)`
    """
    x = torch.tensor(array(x, "x", 2), dtype=torch.float32)
    tokens = names(tokens, len(x), "tokens", "x")
    if len(x) > MOST_WORDS or x.shape[1] > MOST_FEATURES:
        raise ValueError(
            f"x should have at most {MOST_WORDS} tokens and {MOST_FEATURES} features, "
            f"but its shape is {tuple(x.shape)}."
        )
    known = dict(zip(map(str.casefold, reversed(tokens)), x.flip(0), strict=True))
    features = [f"move_{k}" for k in range(x.shape[1])]
    controls = [
        text("sentence", "Sentence", " ".join(tokens)),
        choice("query", "Query", list(enumerate(tokens)), min(1, len(tokens) - 1)),
        *(slider(name, f"Move feature {k} by", MOVES, 0) for k, name in enumerate(features)),
    ]
    view = partial(_view, known, Asked(attention), scores)
    return Explorer("Which token does it look at?", controls, view)


def look(x: torch.Tensor, query: int, move: torch.Tensor, attention: Asked) -> Look:
    """x (T, d), its row `query` moved by (d,) -> what that token sees."""
    x = x.clone()
    x[query] += move
    context, weights, note = attention(x)
    return Look(x @ x[query], weights[query], x[query], context[query], note)


def vectors(sentence: str, known: dict) -> tuple[list[str], torch.Tensor, list[str]]:
    """Up to 8 words, their vectors (T, d), and those words whose vectors are made up."""
    words = sentence.split()[:MOST_WORDS]
    if not words:
        raise ValueError("Write at least one word.")
    made_up = [word for word in dict.fromkeys(words) if word.casefold() not in known]
    width = len(next(iter(known.values())))
    return words, torch.stack([known.get(w.casefold(), _made_up(w, width)) for w in words]), made_up


def _made_up(word: str, width: int) -> torch.Tensor:
    """The same numbers for the same letters, between 0 and 1."""
    seed = zlib.crc32(word.casefold().encode())
    return torch.rand(width, generator=torch.Generator().manual_seed(seed)).mul(100).round() / 100


def _view(known, attention, with_scores, sentence: str, query: int, **moves: float) -> View:
    words, x, made_up = vectors(sentence, known)
    query = min(query, len(words) - 1)
    seen = look(x, query, torch.tensor(list(moves.values())), attention)
    word, top = words[query], int(seen.weights.argmax())
    features = [f"feature {k}" for k in range(x.shape[1])]
    bars = {"score": seen.scores, "weight": seen.weights}
    if not with_scores:
        del bars["score"]
    stage = _stage(len(words), x.shape[1], with_scores)
    for panel, values in zip(stage.panels, bars.values(), strict=False):
        panel.set(words, values.numpy())
    stage.panels[-1].set(features, seen.vector.numpy(), seen.context.numpy())
    context = ", ".join(say(c, seen.context.numpy()) for c in seen.context.tolist())
    alike = len(words) > 1 and torch.allclose(seen.weights, seen.weights[top], rtol=1e-5)
    where = "at all tokens alike" if alike else f"most at {words[top]}"
    status = f"{word} looks {where}, with weight {seen.weights[top]:.2f}. "
    status += f"Its context is {context}."
    if len(sentence.split()) > MOST_WORDS:
        status += f" Only the first {MOST_WORDS} words are used."
    if made_up:
        status += f" Vectors made up from their letters: {', '.join(made_up)}."
    if seen.note:
        status += f" {seen.note}"
    shares = ", ".join(f"{w} {v:.2f}" for w, v in zip(words, seen.weights.tolist(), strict=True))
    alt = f"Bars of the {' and '.join(f'{name}s' for name in bars)} of {word} for {len(words)} "
    alt += f"tokens, and of its context. Weights: {shares}. Context: {context}."
    rows = zip(words, *map(_cells, bars.values()), strict=True)
    parts = zip(features, *(_cells(v) for v in (seen.vector, seen.context)), strict=True)
    tables = table(f"What {word} looks at", ["token", *bars], rows)
    tables += table(f"{word} before and after", ["feature", "vector", "context"], parts)
    return View(stage, alt, status, tables, {"query": [list(pair) for pair in enumerate(words)]})


def _cells(values: torch.Tensor) -> list[str]:
    return [cell(value, values.numpy()) for value in values.tolist()]


@lru_cache(8)
def _stage(count: int, features: int, with_scores: bool) -> Stage:
    places = [(0.5 + 2.9 * column, 0.85, 2.4, 1.5) for column in range(2 + with_scores)]

    def build(figure):
        scores = [Bars(figure, places[0], "Scores", count, signed=True)] if with_scores else []
        return [
            *scores,
            Bars(figure, places[-2], "Weights", count, end=1),
            Bars(figure, places[-1], "", features, ("vector", "context"), signed=True),
        ]

    return Stage(2.9 * len(places) + 0.1, 2.8, build)
