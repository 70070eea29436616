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


@exercise.on_top("x Wᵀ", "score")
def matrices_transposed(kernel, x, W_q, W_k, W_v):
    """You transposed the matrices. A weight of nn.Linear is stored that way round, these are not,
    and it only runs when they are square. Which axis of W has the length of a token?

    Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2, the PyTorch forum, "Understanding
    nn.MultiheadAttention".
    """
    return kernel(x, W_q.T, W_k.T, W_v.T)


@exercise.on_top("k = x W_q", "score")
def one_matrix_for_queries_and_keys(kernel, x, W_q, W_k, W_v):
    """Your keys were made with W_q, so W_k is never used. Which matrix belongs to which role?"""
    return kernel(x, W_q, W_q, W_v)


@exercise.on_top("q = x W_k", "score")
def queries_are_keys(kernel, x, W_q, W_k, W_v):
    """Your queries were made with W_k, so W_q is never used. Which matrix belongs to which
    role?"""
    return kernel(x, W_k, W_k, W_v)


@exercise.on_top("q, k and v = x W_q", "score")
def one_matrix_for_all(kernel, x, W_q, W_k, W_v):
    """All three roles were made with W_q. Then there is only one role. Which matrix belongs to
    which?"""
    return kernel(x, W_q, W_q, W_q)


@exercise.on_top("v = x W_k", "mix")
def values_are_keys(kernel, x, W_q, W_k, W_v):
    """Your values were made with W_k, so W_v is never used. Is what a token is found by the same
    as what it hands over?

    Seen in yflyzhang/AnnotatedTransformer#1.
    """
    return kernel(x, W_q, W_k, W_k)


@exercise.on_top("v = x W_q", "mix")
def values_are_queries(kernel, x, W_q, W_k, W_v):
    """Your values were made with W_q, so W_v is never used. Is what a token looks for the same as
    what it hands over?"""
    return kernel(x, W_q, W_k, W_q)


@exercise.on_top("v = x", "mix")
def values_not_projected(kernel, x, W_q, W_k, W_v):
    """The values are x itself, so W_v is never used. What does a token hand over here?

    Seen in hmdolatabadi/denoising_diffusion#1.
    """
    q, k, _ = kernel(x, W_q, W_k, W_v)
    return q, k, x


@exercise.wrong("q, k and v = x", "score")
def nothing_projected(x, W_q, W_k, W_v):
    """All three are x itself, as in the lesson before, and no matrix is used. What does each of
    the three matrices turn a token into?"""
    return x, x, x


@exercise.wrong("k = q W_k and v = k W_v", "score")
def each_from_the_one_before(x, W_q, W_k, W_v):
    """You made the keys from the queries, and the values from the keys. It only runs when the
    matrices are square. What are all three roles made from?"""
    return x @ W_q, x @ W_q @ W_k, x @ W_q @ W_k @ W_v


@exercise.on_top("(k, q, v)")
def keys_first(kernel, x, W_q, W_k, W_v):
    """Queries and keys came back in each other's place. In which order does the task name them?"""
    q, k, v = kernel(x, W_q, W_k, W_v)
    return k, q, v


@exercise.on_top("(q, v, k)")
def keys_last(kernel, x, W_q, W_k, W_v):
    """Keys and values came back in each other's place. In which order does the task name them?"""
    q, k, v = kernel(x, W_q, W_k, W_v)
    return q, v, k


@exercise.on_top("q, k and v side by side in one tensor")
def joined_into_one(kernel, x, W_q, W_k, W_v):
    """Queries, keys and values came back in one tensor, side by side. The numbers are right, but
    the next step needs each role by itself. How many results does the task name?"""
    return torch.cat(kernel(x, W_q, W_k, W_v), dim=-1)


@exercise.on_top("W xᵀ", "score")
def matrix_on_the_left(kernel, x, W_q, W_k, W_v):
    """You put the matrices on the left, as one does with column vectors. Here tokens are rows. On
    which side must W stand so that it maps each row?"""
    return tuple(role.transpose(-2, -1) for role in kernel(x, W_q, W_k, W_v))
