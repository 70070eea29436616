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
    for shape, d_k in (((5, 7), 3), ((4, 8), 6)):
        for probe in usual(draw, shape):
            yield replace(probe, label=f"{probe.label}, d_k = {d_k}", args=(*probe.args, d_k))
    yield Probe("19×67, d_k = 12", (draw(19, 67), 12))
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
    If the variance is d_k, how large is the standard deviation?

    Seen in delzac/cntkx#10, YutaroOgawa/pytorch_advanced#174.
    """
    return scores / d_k


@exercise.wrong("scores / (d_k / 2)", "scale")
def divided_by_half_of_d_k(scores, d_k):
    """You divided by half of d_k. A power binds tighter than a division, so an exponent of 1/2
    needs parentheses. In which order does Python work through your exponent?"""
    return scores / (d_k / 2)


@exercise.wrong("scores / (2 d_k)", "scale")
def divided_by_twice_d_k(scores, d_k):
    """You divided by d_k and then by 2. A power binds tighter than a division, so an exponent of
    1/2 needs parentheses. In which order does Python work through your exponent?"""
    return scores / (2 * d_k)


@exercise.wrong("scores · √d_k", "scale")
def multiplied_by_root(scores, d_k):
    """You multiplied by the root: the scores grew. Watch the sign of the exponent. Should the
    variance go up or down?

    Seen in rasbt/LLMs-from-scratch#856, esceptico/perceiver-io#9, wxie9/CARD#3.
    """
    return scores * d_k**0.5


@exercise.wrong("scores · d_k", "scale")
def multiplied_by_d_k(scores, d_k):
    """You multiplied by d_k: the scores grew. Should the variance go up or down?"""
    return scores * d_k


@exercise.wrong("scores / 2", "scale")
def divided_by_2(scores, d_k):
    """You divided by 2 whatever d_k is: right for d_k = 4 alone. Where does d_k come in?"""
    return scores / 2


@exercise.wrong("scores / 4", "scale")
def divided_by_4(scores, d_k):
    """You divided by 4 whatever d_k is: right for d_k = 16 alone. Where does d_k come in?"""
    return scores / 4


@exercise.wrong("scores / 8", "scale")
def divided_by_8(scores, d_k):
    """You divided by 8 whatever d_k is: right for d_k = 64 alone. Where does d_k come in?

    Seen in lucidrains/muse-maskgit-pytorch#40.
    """
    return scores / 8


@exercise.wrong("scores / √3", "scale")
def divided_by_root_of_3(scores, d_k):
    """You divided by the root of 3 whatever d_k is. Where does d_k come in?"""
    return scores / 3**0.5


@exercise.wrong("scores, as they were", "scale")
def not_scaled(scores, d_k):
    """The scores came back as they were. What should their variance be afterwards?

    Seen in Kyubyong/transformer#60, PAIR-code/tiny-transformers#71, ethen8181/machine-learning#13.
    """
    return scores


@exercise.wrong("scores / √(number of keys)", "scale")
def divided_by_root_of_T(scores, d_k):
    """You divided by the root of the number of keys. A dot product does not add over tokens.
    Which of your two arguments says how many products it adds up?"""
    return scores / scores.shape[-1] ** 0.5


@exercise.wrong("scores / √(number of queries)", "scale")
def divided_by_root_of_T_q(scores, d_k):
    """You divided by the root of the number of queries. A dot product does not add over tokens.
    Which of your two arguments says how many products it adds up?"""
    return scores / scores.shape[-2] ** 0.5


@exercise.wrong("scores / d_k²", "scale")
def divided_by_square(scores, d_k):
    """You divided by the square of d_k instead of its root. Which exponent is a square root?"""
    return scores / d_k**2


@exercise.wrong("scores / the fourth root of d_k", "scale")
def divided_by_fourth_root(scores, d_k):
    """You divided by the root of the root of d_k. That is right for q and k each, and then the two
    together make the root. How often is the root taken here?"""
    return scores / d_k**0.25


@exercise.wrong("scores / log(d_k)", "scale")
def divided_by_logarithm(scores, d_k):
    """You divided by the logarithm of d_k. Which function turns a variance into a standard
    deviation?"""
    return scores / math.log(d_k)


@exercise.wrong("scores / log₂(d_k)", "scale")
def divided_by_binary_logarithm(scores, d_k):
    """You divided by the logarithm of d_k to base 2, which is its root only where d_k is 4 or 16.
    Which function turns a variance into a standard deviation?"""
    return scores / math.log2(d_k)


@exercise.wrong("scores / their own standard deviation", "scale")
def divided_by_own_spread(scores, d_k):
    """You divided by the spread of these very scores. Then every batch is scaled differently, and
    d_k has no say. Which fixed number belongs there?"""
    return scores / scores.std()


@exercise.wrong("√(scores / d_k)", "scale")
def root_of_everything(scores, d_k):
    """You took the root of the quotient, scores included. A negative score has no root, so NaN
    came back. Which of the two numbers is the root to be taken of?"""
    return (scores / d_k) ** 0.5


@exercise.wrong("scores - √d_k", "scale")
def root_subtracted(scores, d_k):
    """You subtracted the root. That moves all scores alike, and their spread stays what it was.
    Which operation changes a variance?"""
    return scores - d_k**0.5


@exercise.on_top("softmax first, then / √d_k", "normalise")
def softmax_first(kernel, scores, d_k):
    """You took the softmax and scaled the weights. Only the scores are to be scaled here. Which
    step comes first, scale or normalise?

    Seen in FrancescoSaverioZuppichini/ViT#2.
    """
    return kernel(torch.softmax(scores, dim=-1), d_k)


@exercise.wrong("softmax(scores)", "normalise")
def softmax_alone(scores, d_k):
    """You took the softmax, and d_k had no say. Only the scaled scores are asked for. Which step
    of the five comes before the softmax?"""
    return torch.softmax(scores, dim=-1)


@exercise.on_top("softmax(scores / √d_k)", "normalise")
def softmax_too(kernel, scores, d_k):
    """The scores are scaled, but you went on to the softmax. Only the scaled scores are asked
    for. Which step of the five is this one?"""
    return torch.softmax(kernel(scores, d_k), dim=-1)


@exercise.wrong("scores / √d_k, written into scores", "scale")
def in_place(scores, d_k):
    """The numbers are right, but your function changed its argument: the caller's scores are
    scaled now, too. What is the difference between a /= b and a / b?"""
    return scores.div_(d_k**0.5)
