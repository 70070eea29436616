"""scaled_dot_product_attention"""

import torch
from torch import nn

from grader.attention.kernels import attention, attention_in_loops
from grader.attention.slips import add_slips
from grader.exercise import Exercise
from grader.laws import (
    inside_the_values,
    items_stay_apart,
    permuted_with_the_tokens,
    rows_add_up_to_1,
)
from grader.probes import BATCHES, EDGES, EXTREMES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "scaled_dot_product_attention",
    "03-query-key-value",
    place=3,
    points=5,
    signature="scaled_dot_product_attention(q, k, v) -> (context, weights)",
    laws=(
        rows_add_up_to_1(lambda output: output[1]),
        inside_the_values(lambda probe: probe.args[2], lambda output: output[0]),
        permuted_with_the_tokens(0, 1, 2),
        items_stay_apart(),
    ),
    hints=(
        "Write one line for each step: score, scale, normalise, mix. Which shape has each result?",
        "d_k is the number of features in a key. Which axis is that, counted from the back?",
        "Step scale: divide by the root of d_k before the softmax. Step normalise: over the last "
        "axis, so that each query's weights add up to 1.",
        "weights = torch.softmax(q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5, dim=-1)",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 6), (7, 6), (7, 3))
    yield from usual(draw, (4, 8), (10, 8), (10, 9))
    yield Probe("q 19×11, k 12×11, v 12×13", (draw(19, 11), draw(12, 11), draw(12, 13)))
    yield Probe("q 4×5, k 67×5, v 67×2", (draw(4, 5), draw(67, 5), draw(67, 2)))
    yield Probe("q and k 5×6, v 5×3", (draw(5, 6), draw(5, 6), draw(5, 3)), SQUARE)
    yield Probe(
        "a batch of 2, q and k 5×6, v 5×3",
        (draw(2, 5, 6), draw(2, 5, 6), draw(2, 5, 3)),
        BATCHES,
    )
    yield Probe("everything 3×3", (draw(3, 3), draw(3, 3), draw(3, 3)), SQUARE)
    cubes = (draw(3, 3, 3), draw(3, 3, 3), draw(3, 3, 3))
    yield Probe("a batch of 3, everything 3×3", cubes, BATCHES)
    yield Probe("one key", (draw(5, 6), draw(1, 6), draw(1, 3)), EDGES)
    yield Probe("one query", (draw(1, 6), draw(7, 6), draw(7, 3)), EDGES)
    yield Probe("one feature", (draw(5, 1), draw(7, 1), draw(7, 1)), EDGES)
    q, k = torch.tensor([[600.0], [-600], [-1]]), torch.tensor([[3.0], [-3.1], [2.9]])
    options = {"rtol": 1e-3, "gradients": "finite"}
    yield Probe("scores near 1800 and -1800", (q, k, draw(3, 2)), EXTREMES, **options)
    far = Probe("scores near 1800 and -1800, float64", (q, k, draw(3, 2)), EXTREMES, **options)
    yield far.exact


exercise.reference(attention)
exercise.twin(attention_in_loops)


@exercise.variant
def by_torch(q, k, v):
    weights = torch.softmax(torch.einsum("...qd,...kd->...qk", q, k) * k.size(-1) ** -0.5, dim=-1)
    return nn.functional.scaled_dot_product_attention(q, k, v), weights


@exercise.variant
def scaled_queries_first(q, k, v):
    scores = (q / q.shape[-1] ** 0.5) @ k.mT
    exps = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exps @ v / exps.sum(-1, keepdim=True), exps / exps.sum(-1, keepdim=True)


@exercise.variant
def root_on_both_sides(q, k, v):
    root = k.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).mT
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


@exercise.variant
def transposed_with_axis_minus_two(q, k, v):
    weights = torch.softmax(k @ q.mT / q.shape[-1] ** 0.5, dim=-2)
    return weights.mT @ v, weights.mT


@exercise.variant
def query_by_query(q, k, v):
    rows = [
        torch.softmax((k @ q[..., i, :, None]).squeeze(-1) / k.shape[-1] ** 0.5, dim=-1)
        for i in range(q.shape[-2])
    ]
    weights = torch.stack(rows, dim=-2)
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2), weights


_THREE_INPUTS = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}
add_slips(exercise, lambda kernel: kernel, _THREE_INPUTS)
