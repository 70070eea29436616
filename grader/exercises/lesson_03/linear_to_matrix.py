"""linear_to_matrix"""

import torch
from torch import Tensor, nn

from grader.exercise import Exercise
from grader.probes import EDGES, FLOAT64, SQUARE, Draw, Linear, Probe

exercise = Exercise(
    "linear_to_matrix",
    "03-query-key-value",
    place=5,
    points=1,
    signature="linear_to_matrix(linear) -> (d_in, d_out)",
    hints=(
        "Print linear.weight.shape. Which way round is it stored?",
        "You want x @ W. Which axis of W must have the length d_in?",
        "nn.Linear computes x times the transpose of its weight.",
        "linear.weight.T",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield Probe("nn.Linear(5, 3)", (Linear(draw(3, 5)),))
    yield Probe("another nn.Linear(5, 3)", (Linear(draw(3, 5)),))
    yield Probe("nn.Linear(2, 19), float64", (Linear(draw(19, 2)),), FLOAT64).exact
    yield Probe("nn.Linear(4, 4)", (Linear(draw(4, 4)),), SQUARE)
    yield Probe("nn.Linear(1, 6)", (Linear(draw(6, 1)),), EDGES)


@exercise.reference
def weight_transposed(linear: nn.Linear) -> Tensor:
    return linear.weight.T


@exercise.twin
def entry_by_entry(linear: nn.Linear) -> Tensor:
    return torch.stack(
        [
            torch.stack([linear.weight[b, a] for b in range(linear.out_features)])
            for a in range(linear.in_features)
        ]
    )


@exercise.variant
def applied_to_the_identity(linear):
    return linear(torch.eye(linear.in_features, dtype=linear.weight.dtype))


@exercise.variant
def detached_copy(linear):
    return linear.weight.detach().clone().permute(1, 0).contiguous()


@exercise.variant
def as_a_parameter(linear):
    return nn.Parameter(linear.weight.data.t())


@exercise.on_top("linear.weight, not transposed", "score")
def not_transposed(kernel, linear):
    """You took the weight as it is stored, (d_out, d_in). For a square one nothing crashes, and
    the numbers are silently others. What does nn.Linear do with its weight before it
    multiplies?

    Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2, the PyTorch forum, "Understanding
    nn.MultiheadAttention".
    """
    return kernel(linear).T


@exercise.wrong("linear.weight, reshaped to (d_in, d_out)", "score")
def reshaped(linear):
    """The shape is right, but reshape only reads the same numbers on in rows of another length.
    What swaps two axes?"""
    return linear.weight.reshape(linear.in_features, linear.out_features)


@exercise.on_top("the pseudo-inverse of the weight", "score")
def inverted(kernel, linear):
    """You inverted the map: this matrix leads from the outputs back to the inputs. What does x
    times W have to give?"""
    return torch.linalg.pinv(kernel(linear).detach().T)


@exercise.on_top("the weight turned by 90 degrees", "score")
def rotated(kernel, linear):
    """You turned the matrix by a quarter, which exchanges the axes and reverses one of them. What
    swaps two axes and leaves the order along each of them as it is?"""
    return kernel(linear).flip(0)


@exercise.wrong("the linear map itself")
def map_itself(linear):
    """You gave back the linear map, not a matrix. Which attribute of it holds the numbers?"""
    return linear


@exercise.wrong("linear.weight, transposed in place")
def transposed_in_place(linear):
    """The numbers are right, but your function turned the weight of the linear map itself, so the
    caller's map is another one now. Which line writes into linear instead of making a new
    tensor?"""
    linear.weight.data = linear.weight.data.T
    return linear.weight
