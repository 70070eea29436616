"""scale_scores"""

import math
from dataclasses import replace

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, LARGE, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "scale_scores",
    "04-square-root-scaling",
    place=2,
    points=1,
    signature="scale_scores(scores, d_k) -> scores",
    hints=(
        "The variance of the scores is d_k, and it should be 1. What is their standard deviation?",
        "Dividing numbers by c divides their variance by c². Which c is it?",
        "Step scale: divide by the root of d_k.",
        "scores / d_k**0.5",
    ),
)


@exercise.probe
def _(draw: Draw):
    for shape, d_k in (((5, 7), 3), ((19, 8), 6)):
        for probe in usual(draw, shape):
            yield replace(probe, label=f"{probe.label}, d_k = {d_k}", args=(*probe.args, d_k))
    yield Probe("5×5, d_k = 7", (draw(5, 5), 7), SQUARE)
    yield Probe("a single row of 6, d_k = 64", (draw(6), 64), BATCHES)
    yield Probe("3×2, d_k = 1", (draw(3, 2), 1), EDGES)
    yield Probe("1×1, d_k = 2", (draw(1, 1), 2), EDGES)
    yield Probe("scores near 1e5, d_k = 5", (1e5 * draw(4, 3).double(), 5), LARGE)


@exercise.reference
def divided_by_root(scores: Tensor, d_k: int) -> Tensor:
    return scores / d_k**0.5


@exercise.twin
def each_score_by_itself(scores: Tensor, d_k: int) -> Tensor:
    flat = [s / math.sqrt(d_k) for s in scores.reshape(-1)]
    return torch.stack(flat).reshape(scores.shape)


@exercise.variant
def negative_exponent(scores, d_k):
    return scores * d_k**-0.5


@exercise.variant
def root_twice(scores, d_k):
    return scores.div(d_k**0.25).div(d_k**0.25)


@exercise.variant
def root_as_a_tensor(scores, d_k):
    return scores / torch.tensor(d_k, dtype=scores.dtype, device=scores.device).sqrt()


@exercise.wrong("scores / d_k", "scale")
def divided_by_d_k(scores, d_k):
    """You divided by d_k itself. Then the variance is 1/d_k, and the weights come out too even.
    If the variance is d_k, how large is the standard deviation?"""
    return scores / d_k


@exercise.wrong("scores · √d_k", "scale")
def multiplied_by_root(scores, d_k):
    """You multiplied by the root: the scores grew. Watch the sign of the exponent. Should the
    variance go up or down?"""
    return scores * d_k**0.5


@exercise.wrong("scores · d_k", "scale")
def multiplied_by_d_k(scores, d_k):
    """You multiplied by d_k: the scores grew. Should the variance go up or down?"""
    return scores * d_k


@exercise.wrong("scores / 4", "scale")
def divided_by_4(scores, d_k):
    """You divided by 4 whatever d_k is: right for d_k = 16 alone. Where does d_k come in?"""
    return scores / 4


@exercise.wrong("scores / √3", "scale")
def divided_by_root_of_3(scores, d_k):
    """You divided by the root of 3 whatever d_k is. Where does d_k come in?"""
    return scores / 3**0.5


@exercise.wrong("scores, as they were", "scale")
def not_scaled(scores, d_k):
    """The scores came back as they were. What should their variance be afterwards?"""
    return scores


@exercise.wrong("scores / √(number of keys)", "scale")
def divided_by_root_of_T(scores, d_k):
    """You divided by the root of the number of keys. A dot product does not add over tokens.
    Which size does it add over? It is among the arguments."""
    return scores / scores.shape[-1] ** 0.5


@exercise.wrong("scores / d_k²", "scale")
def divided_by_square(scores, d_k):
    """You divided by the square of d_k instead of its root. Which exponent is a square root?"""
    return scores / d_k**2


@exercise.wrong("scores / log(d_k)", "scale")
def divided_by_logarithm(scores, d_k):
    """You divided by the logarithm of d_k. Which function turns a variance into a standard
    deviation?"""
    return scores / math.log(d_k) if d_k > 1 else scores / 0.0


@exercise.wrong("scores / their own standard deviation", "scale")
def divided_by_own_spread(scores, d_k):
    """You divided by the spread of these very scores. Then every batch is scaled differently, and
    d_k has no say. Which fixed number belongs there?"""
    return scores / scores.std()


@exercise.wrong("softmax(scores) / √d_k", "normalise")
def softmax_first(scores, d_k):
    """You took the softmax and scaled the weights. Only the scores are to be scaled here. Which
    step comes first, scale or normalise?"""
    return torch.softmax(scores, dim=-1) / d_k**0.5


@exercise.wrong("softmax(scores / √d_k)", "normalise")
def softmax_too(scores, d_k):
    """The scale is right, but you went on to the softmax. Only the scaled scores are asked for.
    Which step of the five is this one?"""
    return torch.softmax(scores / d_k**0.5, dim=-1)


@exercise.wrong("scores / √d_k, written into scores", "scale")
def in_place(scores, d_k):
    """The numbers are right, but your function changed its argument: the caller's scores are
    scaled now, too. What is the difference between a /= b and a / b?"""
    return scores.div_(d_k**0.5)
