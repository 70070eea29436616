"""softmax_jacobian"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.laws import SLACK, items_stay_apart, on_each
from grader.probes import BATCHES, EDGES, FLOAT64, Draw, Probe, usual


def columns_cancel(probe: Probe, jacobian: Tensor) -> bool:
    return bool((jacobian.double().sum(dim=-2).abs() < SLACK).all())


def is_symmetric(probe: Probe, jacobian: Tensor) -> bool:
    jacobian = jacobian.double()
    return bool(((jacobian - jacobian.transpose(-2, -1)).abs() < SLACK).all())


exercise = Exercise(
    "softmax_jacobian",
    "04-square-root-scaling",
    place=3,
    points=3,
    signature="softmax_jacobian(weights) -> (..., T, T)",
    on_simplex=True,
    laws=(
        on_each(
            "each column adds up to 0",
            "One score grows, and the weights still add up to 1. What must their changes add up "
            "to?",
            columns_cancel,
        ),
        on_each(
            "the matrix is symmetric",
            "How does weight i change with score j, compared to weight j with score i?",
            is_symmetric,
        ),
        items_stay_apart(shift=0.0),
    ),
    hints=(
        "Entry (i, j) says how weight i changes when score j grows. When i = j, and when not?",
        "If one score grows, its own weight rises, the others fall. What does a column add up to?",
        "w_i · (1 - w_i) on the diagonal and -w_i · w_j beside it: a diagonal matrix minus an "
        "outer product.",
        "torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5,), make=draw.weights)
    yield from usual(draw, (6,), make=draw.weights)
    yield Probe("a row of 19", (draw.weights(19),))
    ordinary = torch.softmax(draw(7).double(), dim=-1)  # not exact in float32
    yield Probe("a row of 7, float64", (ordinary,), FLOAT64)
    yield Probe("a batch of 4, rows of 4", (draw.weights(4, 4),), BATCHES)
    yield Probe("one token", (draw.weights(1),), EDGES)
    hard = torch.tensor([[0.0, 1.0, 0.0], [0.25, 0.0, 0.75]], dtype=torch.float64)
    yield Probe("rows with weights of 0", (hard,), EDGES, gradients="none")


@exercise.reference
def diagonal_minus_outer(weights: Tensor) -> Tensor:
    return torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@exercise.twin
def entry_by_entry(weights: Tensor) -> Tensor:
    T = weights.shape[-1]
    rows = [
        [weights[..., i] * (float(i == j) - weights[..., j]) for j in range(T)] for i in range(T)
    ]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


@exercise.variant
def weights_times_what_is_left(weights):
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return weights[..., :, None] * (eye - weights[..., None, :])


@exercise.variant
def jacobian_by_einsum(weights):
    outer = torch.einsum("...i,...j->...ij", weights, weights)
    return weights.diag_embed().sub(outer)


@exercise.variant
def with_the_diagonal_filled_in(weights):
    jacobian = -weights.unsqueeze(-1) @ weights.unsqueeze(-2)
    own = weights * (1 - weights)
    return jacobian - torch.diag_embed(jacobian.diagonal(dim1=-2, dim2=-1)) + torch.diag_embed(own)


@exercise.on_top("diag(w (1 - w)), zero elsewhere", "normalise")
def diagonal_alone(kernel, weights):
    """Your matrix is zero beside the diagonal, as if the scores did not compete. But when one
    weight grows, the others must shrink. What stands at (i, j) for i ≠ j?"""
    return torch.diag_embed(kernel(weights).diagonal(dim1=-2, dim2=-1))


@exercise.wrong("-w wᵀ", "normalise")
def outer_alone(weights):
    """The outer product is right, but the diagonal lacks its own term: no weight ever grows. What
    does a score do to its own weight?"""
    return -weights.unsqueeze(-1) * weights.unsqueeze(-2)


@exercise.wrong("diag(w)", "normalise")
def diagonal_of_weights(weights):
    """You put the weights on the diagonal and stopped. That would be the derivative of exp alone.
    What does the division by the sum add?"""
    return torch.diag_embed(weights)


@exercise.wrong("diag(w) + w wᵀ", "normalise")
def outer_added(weights):
    """You added the outer product instead of subtracting it: then raising one score would raise
    every weight. Can all weights rise while they add up to 1?"""
    return torch.diag_embed(weights) + weights.unsqueeze(-1) * weights.unsqueeze(-2)


@exercise.wrong("diag(w (1 - w)), and w wᵀ beside it", "normalise")
def positive_beside_the_diagonal(weights):
    """Your diagonal is right, but the entries beside it have the wrong sign: all weights would
    rise at once. What do the other weights do when one of them grows?"""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.diag_embed(weights - 2 * weights.square()) + outer


@exercise.wrong("diag(w (1 - w)) - w wᵀ", "normalise")
def squares_subtracted_twice(weights):
    """Your entries beside the diagonal are right, but on it the square of the weight is taken off
    twice. What does the outer product contribute to the diagonal already?"""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.diag_embed(weights * (1 - weights)) - outer


@exercise.on_top("w wᵀ - diag(w)", "normalise")
def sign_turned(kernel, weights):
    """The sign is turned: raising a score would lower its own weight. What should stand on the
    diagonal, a positive number or a negative one?"""
    return -kernel(weights)


@exercise.wrong("I - w wᵀ", "normalise")
def identity_minus_outer(weights):
    """You subtracted the outer product from the identity. What belongs on the diagonal instead of
    1?"""
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return eye - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@exercise.wrong("1 - w on the diagonal, -w beside it", "normalise")
def own_weight_left_out(weights):
    """In each entry a factor is missing, so the rows are those of the identity with the weights
    taken off. A weight near 0 can hardly change. Which factor makes row i small when weight i is
    small?"""
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return eye - weights.unsqueeze(-2)


@exercise.wrong("diag(w) minus the number w · w", "normalise")
def inner_product(weights):
    """You subtracted one number, the dot product of the weights with themselves, from every entry.
    Which product of two vectors has one entry for each pair of numbers?"""
    turned = weights.permute(*reversed(range(weights.dim())))  # what weights.T is
    return torch.diag_embed(weights) - weights @ turned


@exercise.wrong("w (1 - w), one number for each weight", "normalise")
def vector_of_derivatives(weights):
    """You gave one derivative per weight. But each weight depends on every score. How many pairs
    of a weight and a score are there?"""
    return weights * (1 - weights)


@exercise.wrong("w wᵀ", "normalise")
def outer_product(weights):
    """This is the outer product of the weights, with no sign and no diagonal term. What happens
    to the other weights when one score grows?"""
    return weights.unsqueeze(-1) * weights.unsqueeze(-2)


@exercise.on_top("the Jacobian of softmax(w)", "normalise")
def softmax_taken_again(kernel, weights):
    """You put the weights through another softmax first. They come as weights already. What is
    the argument of this function?"""
    return kernel(torch.softmax(weights, dim=-1))
