"""causal_attention"""

from dataclasses import replace

import torch
from torch import nn

from grader.attention.kernels import attention, causal, causal_attention_in_loops
from grader.attention.slips import CAUSAL, add_slips
from grader.attention.slips.at_large_scores import AT_LARGE_SCORES
from grader.exercise import Exercise
from grader.laws import (
    future_does_not_matter,
    inside_the_values,
    items_stay_apart,
    rows_add_up_to_1,
)
from grader.probes import BATCHES, EDGES, EXTREMES, SQUARE, Draw, Probe, usual

exercise = Exercise(
    "causal_attention",
    "06-causal-mask",
    place=2,
    points=4,
    signature="causal_attention(q, k, v) -> (context, weights)",
    laws=(
        # Attention that sees the future is that of lesson 3, and earns nothing here.
        replace(future_does_not_matter(0, 1, 2), decisive=True),
        rows_add_up_to_1(lambda output: output[1]),
        inside_the_values(lambda probe: probe.args[2], lambda output: output[0]),
        items_stay_apart(),
    ),
    hints=(
        "Look at row 0 of your weights. Which of its entries may be above 0?",
        "A later key must get no weight, and must not count in what the row is divided by. Which "
        "score has an exponential of 0?",
        "Step mask: after the scale and before the softmax, set the scores of all later keys to "
        "-∞. The mask is square, for q, k and v have as many rows.",
        "scores = scores.masked_fill(~causal_mask(T), float('-inf')), then the softmax",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 6), (5, 6), (5, 3))
    yield from usual(draw, (9, 2), (9, 2), (9, 7))
    yield Probe("q and k 12×11, v 12×13", (draw(12, 11), draw(12, 11), draw(12, 13)))
    yield Probe("q and k 67×5, v 67×2", (draw(67, 5), draw(67, 5), draw(67, 2)))
    yield Probe("everything 3×3", (draw(3, 3), draw(3, 3), draw(3, 3)), SQUARE)
    cubes = (draw(3, 3, 3), draw(3, 3, 3), draw(3, 3, 3))
    yield Probe("a batch of 3, everything 3×3", cubes, BATCHES)
    yield Probe("one token", (draw(1, 6), draw(1, 6), draw(1, 3)), EDGES)
    yield Probe("two tokens", (draw(2, 5), draw(2, 5), draw(2, 4)), EDGES)
    yield Probe("one feature", (draw(6, 1), draw(6, 1), draw(6, 1)), EDGES)
    options = {"rtol": 1e-3, "gradients": "finite"}
    q, k = torch.tensor([[600.0], [-600], [-1]]), torch.tensor([[3.0], [-3.1], [2.9]])
    yield Probe("scores near 1800 and -1800", (q, k, draw(3, 2)), EXTREMES, **options)
    far = Probe("scores near 1800 and -1800, float64", (q, k, draw(3, 2)), EXTREMES, **options)
    yield far.exact
    # No rounding: the scores are whole numbers. A mask of -10000 lies above all of them.
    q, k = torch.full((4, 1), 512.0), -400 - torch.tensor([[2.0], [0], [1], [3]]) / 512
    yield Probe("all scores near -200000", (q, k, draw(4, 2)), EXTREMES, **options).exact
    # What is hidden is much the larger: next to nothing is left of row 0 after a softmax, but
    # something is, for whoever masks after it and divides again is right.
    q, k = torch.ones(4, 1), 100 * torch.arange(4.0).unsqueeze(-1)
    yield Probe("later scores far above", (q, k, draw(4, 2)), EXTREMES, **options).exact


@exercise.reference
def masked_before_the_softmax(q, k, v):
    return attention(q, k, v, mask=causal)


exercise.twin(causal_attention_in_loops)


@exercise.variant
def by_torch(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q, k) * k.size(-1) ** -0.5
    seen = torch.tril(torch.ones(q.shape[-2], q.shape[-2], device=q.device))
    weights = torch.softmax(scores.masked_fill(seen == 0, -torch.inf), dim=-1)
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), weights


@exercise.variant
def masked_after_and_renormalised(q, k, v):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    # Without the maxima of the visible scores a row of them could underflow.
    highest = scores.masked_fill(~scores.isfinite(), 0).cummax(-1).values
    highest = highest.diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    exps = torch.exp((scores - highest).clamp(max=80)).tril()
    weights = exps / exps.sum(-1, keepdim=True)
    return weights @ v, weights


@exercise.variant
def lowest_number_before_the_scale(q, k, v):
    scores = q @ k.transpose(-2, -1)
    T = torch.arange(q.shape[-2], device=q.device)
    scores = torch.where(T[:, None] >= T, scores, torch.finfo(q.dtype).min)
    weights = torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


@exercise.variant
def filled_with_minus_1e9(q, k, v):
    T = q.shape[-2]
    scores = (q * k.shape[-1] ** -0.5) @ k.mT
    hidden = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(diagonal=1)
    weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
    return weights @ v, weights


@exercise.variant
def infinity_added(q, k, v):
    T = q.shape[-2]
    bias = torch.full((T, T), -torch.inf, dtype=q.dtype, device=q.device).triu(1)
    weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5 + bias, dim=-1)
    return weights @ v, weights


@exercise.variant
def prefix_by_prefix(q, k, v):
    T, context, weights = q.shape[-2], [], []
    for i in range(1, T + 1):
        scores = (k[..., :i, :] @ q[..., i - 1, :, None]).squeeze(-1) / q.shape[-1] ** 0.5
        shares = torch.softmax(scores, dim=-1)
        context.append((shares.unsqueeze(-1) * v[..., :i, :]).sum(-2))
        weights.append(torch.cat([shares, shares.new_zeros(*shares.shape[:-1], T - i)], dim=-1))
    return torch.stack(context, dim=-2), torch.stack(weights, dim=-2)


_THREE_INPUTS = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}
add_slips(
    exercise, lambda kernel: kernel, _THREE_INPUTS, slips=[*CAUSAL, *AT_LARGE_SCORES], mask=causal
)
