"""softmax"""

import math
from functools import partial, reduce

import torch
from torch import Tensor

from grader.attention.softmaxes import add_softmax_mistakes
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
    yield far("scores near -1000", (draw(4, 3).double() - 1000,), rtol=1e-4)
    # In float32 the exponentials of the first are finite and their sum is not; those of the second
    # keep a digit or two, and whoever looks for zeros or NaN finds nothing.
    yield far("scores near 88, float32", (torch.tensor([[88.5, 88.4, 88.3], [88.2, 88, 88.6]]),))
    low = torch.tensor([[-88.4, -103, -95], [-103, -88.3, -102.5]])
    yield far("scores near -100, float32", (low,), atol=1e-8)
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


add_softmax_mistakes(exercise)
