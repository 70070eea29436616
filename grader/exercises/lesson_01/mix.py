"""mix"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import BATCHES, EDGES, LARGE, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "mix",
    "01-averaging",
    place=3,
    points=2,
    signature="mix(weights, x) -> (..., T_q, d)",
    hints=(
        "Row i of the result belongs to row i of weights. How many rows come out?",
        "Row i is weights[i, 0] times row 0 of x, plus weights[i, 1] times row 1 of x, and so on.",
        "Step mix: a matrix product does all rows at once.",
        "weights @ x",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 7), (7, 3))
    yield from usual(draw, (11, 2), (2, 6))
    yield Probe("4×4 and 4×4", (draw(4, 4), draw(4, 4)), SQUARE)
    yield Probe("a batch of 3, 4×4 and 4×4", (draw(3, 4, 4), draw(3, 4, 4)), BATCHES)
    yield Probe("19×67 and 67×4", (draw(19, 67), draw(67, 4)))
    yield Probe("5×1 and 1×3", (draw(5, 1), draw(1, 3)), EDGES)
    yield Probe("1×7 and 7×3", (draw(1, 7), draw(7, 3)), EDGES)
    yield Probe("5×7 and 7×1", (draw(5, 7), draw(7, 1)), EDGES)
    yield Probe("values near 1e5", (draw(5, 2).double(), 1e5 * draw(2, 6).double()), LARGE)


@exercise.reference
def weighted_sum(weights: Tensor, x: Tensor) -> Tensor:
    return weights @ x


@exercise.twin
def one_token_at_a_time(weights: Tensor, x: Tensor) -> Tensor:
    """What token j hands over, to all queries at once."""
    return sum(weights[..., j, None] * x[..., None, j, :] for j in range(x.shape[-2]))


@exercise.variant
def mixed_by_einsum(weights, x):
    return torch.einsum("...qk,...kd->...qd", weights, x)


@exercise.variant
def mixed_by_broadcasting(weights, x):
    return (weights.unsqueeze(-1) * x.unsqueeze(-3)).sum(dim=-2)


@exercise.variant
def transposed_twice(weights, x):
    return (x.transpose(-2, -1) @ weights.transpose(-2, -1)).transpose(-2, -1)


@exercise.on_top("weightsᵀ x", "mix")
def weights_transposed(kernel, weights, x):
    """You mixed with the weights transposed: each token collects what the others give away. Which
    index of weights says who is looking, and which who is looked at?

    Seen in heykeetae/Self-Attention-GAN#11."""
    return kernel(weights.transpose(-2, -1), x)


@exercise.on_top("x weights", "mix")
def wrong_order(kernel, weights, x):
    """You multiplied the other way round: x times weights mixes features, not tokens. Whose
    columns must match the rows of x?"""
    return kernel(x, weights)


@exercise.on_top("weights xᵀ", "mix")
def x_transposed(kernel, weights, x):
    """You mixed with x transposed, so the weights met the features of one token. Which axis of x
    do the columns of weights belong to?"""
    return kernel(weights, x.transpose(-2, -1))


@exercise.on_top("(weights x)ᵀ", "mix")
def result_transposed(kernel, weights, x):
    """The numbers are right, but the tokens stand in the columns of your result. In which axis of x
    do they stand, and in which should they come out?"""
    return kernel(weights, x).transpose(-2, -1)


@exercise.wrong("weights * x, not added up", "mix")
def multiplied_number_by_number(weights, x):
    """You multiplied number by number, which only runs where the shapes happen to fit. Nothing was
    added up over the tokens. How many products go into one number of the result?"""
    return weights * x


@exercise.on_top("(weights / their row sums) x", "normalise")
def normalised_again(kernel, weights, x):
    """You divided the weights by their row sums first. mix takes the weights as they come. Whose
    job is it to make them add up to 1?"""
    return kernel(weights / weights.sum(dim=-1, keepdim=True), x)


@exercise.on_top("softmax(weights) x", "normalise")
def softmaxed_again(kernel, weights, x):
    """You put the weights through a softmax first. mix takes the weights as they come. What would
    a softmax do to weights that already add up to 1?"""
    return kernel(torch.softmax(weights, dim=-1), x)


@exercise.on_top("|weights| x", "normalise")
def signs_dropped(kernel, weights, x):
    """You dropped the signs of the weights. mix takes the weights as they come, even where they are
    no shares. What should a row of x with a negative weight do to the sum?"""
    return kernel(weights.abs(), x)


@exercise.on_top("weights x / T", "mix")
def divided_by_T(kernel, weights, x):
    """You divided by the number of tokens once more. The weights already hold the shares. What
    does the sum of 1/T over T tokens give?"""
    return kernel(weights, x) / x.shape[-2]


@exercise.on_top("the mean of the rows of x, whatever the weights", "mix")
def weights_ignored(kernel, weights, x):
    """Every token got the plain mean of the rows of x: the weights had no say. How much of row j
    should go into row i?"""
    return kernel(torch.full_like(weights, 1 / x.shape[-2]), x)


@exercise.on_top("the sum of the rows of x, whatever the weights", "mix")
def weights_as_ones(kernel, weights, x):
    """Every token got the sum of all rows of x: the weights had no say. How much of row j should go
    into row i?"""
    return kernel(torch.ones_like(weights), x)


@exercise.on_top("weights x, only where a weight is positive", "mask")
def negative_weights_dropped(kernel, weights, x):
    """You set the negative weights to zero. mix takes the weights as they come, even where they are
    no shares. What should a row of x with a negative weight do to the sum?"""
    return kernel(weights.clamp(min=0), x)


@exercise.on_top("the row of x with the largest weight", "normalise")
def largest_weight_only(kernel, weights, x):
    """Each token took the one row with its largest weight and dropped the rest. What happens to
    the other shares?"""
    largest = torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])
    return kernel(largest.to(weights.dtype), x)


@exercise.on_top("weights of the first item, for the whole batch", "mix")
def first_item_only(kernel, weights, x):
    """The weights of the first item in the batch were used for all items. What does an index of 0
    do when there is a batch?"""
    return kernel(weights.reshape(-1, *weights.shape[-2:])[0], x)


@exercise.wrong("xᵀ weights", "mix")
def transposed_product(weights, x):
    """You multiplied x transposed by the weights, so the tokens stand in the columns. Which factor
    of the product says who is looking, and is it the left one?"""
    return x.transpose(-2, -1) @ weights
