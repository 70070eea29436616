"""project"""

import torch
from torch import Tensor, nn

from grader.exercise import Exercise
from grader.probes import EDGES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "project",
    "03-query-key-value",
    place=1,
    points=1,
    signature="project(x, W_q, W_k, W_v) -> (q, k, v)",
    hints=(
        "Three products, each with a matrix of its own. What is multiplied by what?",
        "Tokens are rows. On which side of x does a matrix stand that maps each row?",
        "Row vectors: x (..., T, d_in) times W (d_in, d_out) gives (..., T, d_out).",
        "return x @ W_q, x @ W_k, x @ W_v",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 4), fixed=((4, 6), (4, 2), (4, 3)))
    yield from usual(draw, (19, 3), fixed=((3, 7), (3, 5), (3, 8)))
    yield Probe("x 5×3, all matrices 3×3", (draw(5, 3), *(draw(3, 3) for _ in range(3))), SQUARE)
    yield Probe("everything 4×4", tuple(draw(4, 4) for _ in range(4)), SQUARE)
    yield Probe("one token", (draw(1, 3), draw(3, 2), draw(3, 5), draw(3, 4)), EDGES)
    yield Probe("one feature", (draw(6, 1), draw(1, 2), draw(1, 5), draw(1, 1)), EDGES)


@exercise.reference
def three_products(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, ...]:
    return x @ W_q, x @ W_k, x @ W_v


@exercise.twin
def number_by_number(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> tuple[Tensor, ...]:
    def times(W):
        columns = [sum(x[..., a] * W[a, b] for a in range(W.shape[0])) for b in range(W.shape[1])]
        return torch.stack(columns, dim=-1)

    return times(W_q), times(W_k), times(W_v)


@exercise.variant
def projected_by_einsum(x, W_q, W_k, W_v):
    return tuple(torch.einsum("...td,de->...te", x, W) for W in (W_q, W_k, W_v))


@exercise.variant
def projected_by_linear(x, W_q, W_k, W_v):
    return [nn.functional.linear(x, W.T) for W in (W_q, W_k, W_v)]


@exercise.variant
def fused_and_split(x, W_q, W_k, W_v):
    widths = [W.shape[1] for W in (W_q, W_k, W_v)]
    return (x @ torch.cat([W_q, W_k, W_v], dim=1)).split(widths, dim=-1)


@exercise.wrong("x Wᵀ", "score")
def matrices_transposed(x, W_q, W_k, W_v):
    """You transposed the matrices. nn.Linear stores its weight that way round, these are not
    stored so; it only runs when they are square. Which axis of W has the length of a token?"""
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


@exercise.wrong("k = x W_q", "score")
def one_matrix_for_queries_and_keys(x, W_q, W_k, W_v):
    """Your keys were made with W_q, so W_k is never used. Which matrix belongs to which role?"""
    return x @ W_q, x @ W_q, x @ W_v


@exercise.wrong("q, k and v = x W_q", "score")
def one_matrix_for_all(x, W_q, W_k, W_v):
    """All three roles were made with W_q. Then there is only one role. Which matrix belongs to
    which?"""
    return x @ W_q, x @ W_q, x @ W_q


@exercise.wrong("v = x W_k", "mix")
def values_are_keys(x, W_q, W_k, W_v):
    """Your values were made with W_k, so W_v is never used. Is what a token is found by the same
    as what it hands over?"""
    return x @ W_q, x @ W_k, x @ W_k


@exercise.wrong("v = x", "mix")
def values_not_projected(x, W_q, W_k, W_v):
    """The values are x itself, so W_v is never used. What does a token hand over here?"""
    return x @ W_q, x @ W_k, x


@exercise.wrong("(k, q, v)")
def keys_first(x, W_q, W_k, W_v):
    """Queries and keys came back in each other's place. In which order does the task name them?"""
    return x @ W_k, x @ W_q, x @ W_v


@exercise.wrong("(q, v, k)")
def keys_last(x, W_q, W_k, W_v):
    """Keys and values came back in each other's place. In which order does the task name them?"""
    return x @ W_q, x @ W_v, x @ W_k


@exercise.wrong("W xᵀ", "score")
def matrix_on_the_left(x, W_q, W_k, W_v):
    """You put the matrices on the left, as one does with column vectors. Here tokens are rows. On
    which side must W stand so that it maps each row?"""
    return tuple(W.T @ x.transpose(-2, -1) for W in (W_q, W_k, W_v))
