"""softmax"""

import math
from functools import partial, reduce

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.laws import SLACK, items_stay_apart, on_each, rows_add_up_to_1
from grader.probes import BATCHES, EDGES, EXTREMES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "softmax",
    "02-dot-product-weights",
    place=2,
    points=3,
    signature="softmax(scores) -> weights, the same shape",
    forbidden=frozenset(
        "softmax _softmax _safe_softmax _masked_softmax log_softmax _log_softmax special_softmax "
        "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_attention_math".split()
    ),
    laws=(
        rows_add_up_to_1(lambda weights: weights),
        on_each(
            "no weight is negative", "Which step keeps signs?", lambda _, w: bool((w >= 0).all())
        ),
        on_each(
            "a larger score never gets a smaller weight",
            "Which step of yours can turn two scores of a row round?",
            lambda probe, weights: bool(
                (weights.gather(-1, probe.args[0].argsort(-1)).diff() >= -SLACK).all()
            ),
        ),
        items_stay_apart(),
    ),
    hints=(
        "Each row must add up to 1 by itself. Along which axis do you add?",
        "exp(1000) is infinite. What can you subtract from a whole row so that its largest "
        "exponent is 0, and why does that leave the weights as they were?",
        "Step normalise: subtract each row's maximum, take exp, divide by each row's sum. Keep the "
        "axis (keepdim=True), so that the sums stand beside their rows.",
        "exps = exp(scores - scores.amax(-1, True)), then exps / exps.sum(-1, keepdim=True)",
    ),
)


@exercise.probe
def _(draw: Draw):
    for shape in ((5, 7), (11, 3)):
        yield from usual(draw, shape, watched=True)
    yield Probe("19×67", (draw(19, 67),), watched=True)
    yield Probe("a single row of 23", (draw(23),), BATCHES, watched=True)
    yield Probe("4×4", (draw(4, 4),), SQUARE, watched=True)
    yield Probe("a batch of 3, 3×3", (draw(3, 3, 3),), BATCHES, watched=True)
    yield Probe("rows of one score", (draw(5, 1),), EDGES, watched=True)
    yield Probe("one row of 7", (draw(1, 7),), EDGES, watched=True)
    far = partial(Probe, shows=EXTREMES, rtol=1e-3, gradients="finite", watched=True)
    spread = torch.tensor([[0.0, -20, -30], [-5, 15, -9]]).double()
    yield far("scores 20 and more apart", (spread,), rtol=1e-5, atol=0.0)
    large = torch.tensor([[900.0, 930, 870], [-900, -930, -870], [-3, -3.5, -2], [0, 1e4, -1e4]])
    yield far("scores from -10000 to 10000", (large.double(),))
    yield far("scores from -10000 to 10000, float32", (large,))
    yield far("scores near 1000", (1000 + draw(4, 3).double(),), rtol=1e-4)
    huge = torch.tensor([[3e38, -3e38, 0], [-3e38, -1e38, -2e38]])
    yield far("scores near the limit of float32", (huge,))


@exercise.reference
def shifted_by_the_maximum(scores: Tensor) -> Tensor:
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


@exercise.twin
def one_exponential_at_a_time(scores: Tensor) -> Tensor:
    top = reduce(torch.maximum, scores.unbind(-1))
    exps = [torch.exp(s - top) for s in scores.unbind(-1)]
    return torch.stack([e / sum(exps) for e in exps], dim=-1)


@exercise.variant
def through_logarithms(scores):
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    return torch.exp(shifted - torch.log(torch.exp(shifted).sum(dim=-1, keepdim=True)))


@exercise.variant
def by_numpy_like_steps(scores):
    exps = (scores - torch.max(scores, -1)[0].unsqueeze(-1)).exp()
    return exps.div(torch.einsum("...k->...", exps).unsqueeze(-1))


@exercise.variant
def times_the_reciprocal(scores):
    flat = scores.reshape(-1, scores.shape[-1]).T
    powers = math.e ** (flat - flat.max(dim=0).values)
    return (powers * (1 / powers.sum(dim=0))).T.reshape(scores.shape)


@exercise.wrong("exp(scores) / sum of exp(scores), overflowing", "normalise")
def overflows(scores):
    """The formula is right for small scores, but exp of a large one is infinite, and infinity over
    infinity is not a number. What can you subtract from a row without changing its softmax?

    Seen in pytorch/executorch#18407, mila-iqia/blocks#727."""
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1, keepdim=True)


@exercise.wrong("exp(scores) / (sum of exp(scores) + a small number)", "normalise")
def small_number_added(scores):
    """A small number in the denominator keeps it from being 0, but a row of very low scores gets no
    weight at all, and large ones overflow. What can you subtract from a row instead?"""
    exps = torch.exp(scores)
    return exps / (exps.sum(dim=-1, keepdim=True) + 1e-12)


@exercise.wrong("shifted by the maximum of the whole tensor", "normalise")
def shifted_by_the_global_maximum(scores):
    """You subtracted one maximum from all rows. A row far below it turns into zeros, and zero
    over zero is not a number. Whose maximum should be subtracted from a row?"""
    exps = torch.exp(scores - scores.max())
    return exps / exps.sum(dim=-1, keepdim=True)


@exercise.on_top("exp(scores) / the sum over everything", "normalise")
def over_everything(kernel, scores):
    """Your weights add up to 1 over the whole tensor, not row by row. Whose shares should add up
    to 1?

    Seen in rickwierenga/MLFundamentals#1, deeplearning4j/nd4j#44, uTensor/uTensor#171."""
    return kernel(scores.flatten()).reshape(scores.shape)


@exercise.on_top("exp(scores) / the sum over axis -2", "normalise")
def over_the_rows(kernel, scores):
    """Your columns add up to 1, not your rows. Along which axis do the scores of one query lie?

    Seen in Open-Deep-ML/DML-OpenProblem#424, nerdai/llms-from-scratch-rs#30."""
    return kernel(scores.transpose(-2, -1)).transpose(-2, -1)


@exercise.on_top("exp(scores) / the sum over axis 0", "normalise")
def over_axis_0(kernel, scores):
    """You normalised along axis 0. With a batch that is the batch, and its items mix. Which
    number means 'the last axis'?

    Seen in PetrochukM/PyTorch-NLP#2, jadore801120/attention-is-all-you-need-pytorch#52."""
    return kernel(scores.transpose(0, -1)).transpose(0, -1)


@exercise.on_top("exp(scores) / the sum over axis 1", "normalise")
def over_axis_1(kernel, scores):
    """You normalised along axis 1. Without a batch that is the last axis; with one it is not.
    Which number means 'the last axis' for any number of axes?

    Seen in labmlai/annotated_deep_learning_paper_implementations#146."""
    return kernel(scores.transpose(1, -1)).transpose(1, -1)


@exercise.wrong("exp(scores) / sums laid along the columns", "normalise")
def without_keepdim(scores):
    """Your row sums lost their axis, so they were laid along the columns. On a square matrix
    nothing crashes. What does keepdim=True keep?

    Seen in triton-lang/triton#11409, sahandsafizadeh/qeep#29."""
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1)


@exercise.wrong("exp(scores) / sums laid along the columns, without a shift", "normalise")
def without_keepdim_or_shift(scores):
    """Your row sums lost their axis, so they were laid along the columns, and exp had no shift. On
    a square matrix nothing crashes. What does keepdim=True keep?"""
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1)


@exercise.wrong("scores / their sum", "normalise")
def divided_by_the_sum(scores):
    """You divided the scores by their sum. With scores of both signs some weights are negative or
    above 1. What makes every number positive first?"""
    return scores / scores.sum(dim=-1, keepdim=True)


@exercise.wrong("|scores| / the sum of |scores|", "normalise")
def absolute_values(scores):
    """You made the scores positive by dropping their sign. Then -2 weighs as much as 2. Which
    function is positive and still grows with its argument?"""
    return scores.abs() / scores.abs().sum(dim=-1, keepdim=True)


@exercise.wrong("exp(scores), not divided", "normalise")
def exp_alone(scores):
    """You took the exponentials but did not divide. What turns positive numbers into shares?"""
    return torch.exp(scores)


@exercise.wrong("exp(scores - maximum), not divided", "normalise")
def shifted_exp_alone(scores):
    """You shifted and took the exponentials but did not divide by their sum, so the largest weight
    is always 1. What turns positive numbers into shares?"""
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


@exercise.wrong("sigmoid(scores)", "normalise")
def sigmoid(scores):
    """You used a sigmoid: every weight lies between 0 and 1, but a row does not add up to 1. What
    should the tokens compete for?"""
    return torch.sigmoid(scores)


@exercise.wrong("log of the softmax", "normalise")
def logarithm_kept(scores):
    """These are the logarithms of the weights: all negative. What undoes a logarithm?"""
    return scores - scores.logsumexp(dim=-1, keepdim=True)


@exercise.on_top("softmax(softmax(scores))", "normalise")
def softmax_twice(kernel, scores):
    """You took the softmax of the weights again, so they are nearly equal. How far apart can two
    numbers between 0 and 1 be?"""
    return kernel(kernel(scores))


@exercise.on_top("2 to the power of scores, divided by the sum", "normalise")
def base_two(kernel, scores):
    """You used powers of 2, which makes the weights too even. Which base does exp use?"""
    return kernel(scores * math.log(2))


@exercise.on_top("softmax(-scores)", "normalise")
def sign_turned(kernel, scores):
    """Your largest score got the smallest weight: the sign was turned before exp. Should the
    maximum be subtracted from the scores, or the scores from the maximum?"""
    return kernel(-scores)


@exercise.wrong("one-hot of the largest score", "normalise")
def winner_takes_all(scores):
    """The largest score got everything. That is the hard choice; softmax is the soft one. How
    could the second largest keep a share?"""
    return torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)


@exercise.wrong("the library's softmax", "normalise")
def library_softmax(scores):
    """The numbers are right, but here the softmax is to be written by hand, with exp and a sum:
    that is the point of this exercise. Which three operations does it consist of?"""
    return torch.softmax(scores, dim=-1)
