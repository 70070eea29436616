"""softmax_jacobian"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import EDGES, FLOAT64, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "softmax_jacobian",
    "04-square-root-scaling",
    place=3,
    points=3,
    signature="softmax_jacobian(weights) -> (..., T, T)",
    on_simplex=True,
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
    yield from usual(draw, (19,), make=draw.weights)
    ordinary = torch.softmax(draw(7).double(), dim=-1)  # not exact in float32
    yield Probe("a row of 7, float64", (ordinary,), FLOAT64)
    yield Probe("a batch of 4, rows of 4", (draw.weights(4, 4),), SQUARE)
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


@exercise.wrong("diag(w (1 - w)), zero elsewhere", "normalise")
def diagonal_alone(weights):
    """Your matrix is zero beside the diagonal, as if the scores did not compete. But when one
    weight grows, the others must shrink. What stands at (i, j) for i ≠ j?"""
    return torch.diag_embed(weights * (1 - weights))


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


@exercise.wrong("w wᵀ - diag(w)", "normalise")
def sign_turned(weights):
    """The sign is turned: raising a score would lower its own weight. What should stand on the
    diagonal, a positive number or a negative one?"""
    return weights.unsqueeze(-1) * weights.unsqueeze(-2) - torch.diag_embed(weights)


@exercise.wrong("I - w wᵀ", "normalise")
def identity_minus_outer(weights):
    """You subtracted the outer product from the identity. What belongs on the diagonal instead of
    1?"""
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    return eye - weights.unsqueeze(-1) * weights.unsqueeze(-2)


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


@exercise.wrong("the Jacobian of softmax(w)", "normalise")
def softmax_taken_again(weights):
    """You put the weights through another softmax first. They come as weights already. What is
    the argument of this function?"""
    return diagonal_minus_outer(torch.softmax(weights, dim=-1))
