"""chunked_attention"""

from dataclasses import replace

import torch
from torch import Tensor

from grader.attention.chunks import NOT_IN_BLOCKS, add_chunk_mistakes
from grader.attention.online import blocks, online_attention, scaled
from grader.attention.slips import add_slips
from grader.compare import near
from grader.exercise import Exercise
from grader.laws import (
    inside_the_values,
    items_stay_apart,
    on_two,
    permuted_with_the_tokens,
)
from grader.probes import BATCHES, EDGES, EXTREMES, SQUARE, VALUES, Draw, Probe, usual

exercise = Exercise(
    "chunked_attention",
    "05-order-and-cost",
    place=6,
    points=6,
    signature="chunked_attention(q, k, v, block) -> context",
    forbidden=frozenset(
        "scaled_dot_product_attention _scaled_dot_product_attention_math _safe_softmax "
        "_scaled_dot_product_flash_attention_for_cpu".split()
    ),
    laws=(
        on_two(
            "the same result for any block",
            "Which line of yours works differently when a block ends in another place?",
            VALUES,
            "in blocks of 2",
            lambda probe: (*probe.args[:3], 2),
            near,
        ),
        inside_the_values(lambda probe: probe.args[2], lambda context: context),
        permuted_with_the_tokens(0, 1, 2),
        items_stay_apart(),
    ),
    hints=(
        "Keep three things for each query while the keys pass by. Which of them says how large the "
        "scores were so far?",
        "A new block brings a larger maximum. By which factor do exponentials change that were "
        "measured from the old one?",
        "Step normalise: in each block, find the new maximum, multiply the running sum and the "
        "running context by exp(old - new), add what the block brings; divide once, at the end.",
        "total = total * fade + exps.sum(-1, keepdim=True) and context = context * fade + exps @ "
        "v_block, with fade = exp(old - new) and exps = exp(scores - new)",
    ),
)


def _inputs(draw: Draw, lead: tuple, T_q: int, T_k: int, d_k: int, d_v: int) -> tuple:
    return draw(*lead, T_q, d_k), draw(*lead, T_k, d_k), draw(*lead, T_k, d_v)


@exercise.probe
def _(draw: Draw):
    for i, probe in enumerate(usual(draw, (5, 6), (7, 6), (7, 3))):
        label = f"{probe.label}, in blocks of 3"
        yield replace(probe, args=(*probe.args, 3), label=label, watched=i == 0)
    for sizes, block, shows in (
        ((4, 20, 8, 9), 5, VALUES),
        ((3, 19, 5, 2), 8, VALUES),
        ((6, 9, 5, 4), 16, EDGES),
        ((5, 6, 7, 2), 1, EDGES),
        ((5, 1, 6, 3), 4, EDGES),
        ((1, 7, 6, 3), 2, EDGES),
        ((5, 7, 1, 1), 7, EDGES),
        ((4, 4, 4, 4), 3, SQUARE),
    ):
        q, k, v = _inputs(draw, (), *sizes)
        T_q, T_k, d_k, d_v = sizes
        label = f"q {T_q}×{d_k}, k {T_k}×{d_k}, v {T_k}×{d_v}, in blocks of {block}"
        yield Probe(label, (q, k, v, block), shows)
    cubes = _inputs(draw, (3,), 3, 3, 3, 3)
    yield Probe("a batch of 3, everything 3×3, in blocks of 2", (*cubes, 2), BATCHES)
    # The maximum moves in every block, or never after the first.
    q, k, v = _inputs(draw, (), 3, 11, 2, 4)
    q, k = q.abs() + 0.5, torch.linspace(-3, 4, 11).unsqueeze(-1) + 0.1 * k
    yield Probe("scores that grow with the keys, in blocks of 4", (q, k, v, 4))
    yield Probe("scores that fall with the keys, in blocks of 4", (-q, k, v, 4))
    options = {"rtol": 1e-3, "gradients": "finite"}
    q = torch.tensor([[600.0], [-600], [-1]])
    k = torch.tensor([[3.0], [3.1], [-2.9], [0.5], [-3.2]])
    yield Probe("scores from -1900 to 1900", (q, k, draw(5, 2), 2), EXTREMES, **options)
    # Far below any number that a maximum might start at; powers of 2, so that nothing is rounded.
    q = torch.tensor([[2.0**20], [-(2.0**20)], [-(2.0**10)]])
    k = 1 + torch.tensor([[0.0], [2], [-1], [3]]) / 2**20
    far = "scores near a million, minus a million, or minus a thousand, float64"
    yield Probe(far, (q, k, draw(4, 2), 3), EXTREMES, **options).exact
    # Shifted by a bound on the scores, |q| |k| / √d_k, in place of their maximum, all exp are 0.
    q, k = torch.tensor([[500.0, 1], [-400, 3]]), torch.tensor([[0.0, 2], [0, -1], [0, 0.5]])
    aside = "q at almost a right angle to k, in blocks of 2"
    yield Probe(aside, (q, k, draw(3, 2), 2), EXTREMES, **options)
    # The first block of queries with all its scores is everything here, and little there. There are
    # so many keys that (T_q, block, d_k) products and a block under ten names take less than all.
    for T_q, T_k, d_k, block in ((16, 320, 1, 16), (40, 160, 2, 8)):
        label = f"{T_q} queries and {T_k} keys, in blocks of {block}"
        args = (*_inputs(draw, (), T_q, T_k, d_k, 1), block)
        yield Probe(label, args, watched=True, most=T_q * T_k - 1)


exercise.reference(online_attention)


@exercise.twin
def key_by_key(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    def score(key: Tensor) -> Tensor:
        return (q * key.unsqueeze(-2)).sum(-1, keepdim=True) / q.shape[-1] ** 0.5

    keys, values = k.unbind(-2), v.unbind(-2)
    largest = score(keys[0])
    for key in keys:
        largest = torch.maximum(largest, score(key))
    total, context = 0, 0
    for key, value in zip(keys, values, strict=True):
        share = torch.exp(score(key) - largest)
        total = total + share
        context = context + share * value.unsqueeze(-2)
    return context / total


@exercise.variant
def in_two_passes(q, k, v, block):
    largest, total, context = -torch.inf, 0, 0
    for keys, _ in blocks(k, v, block):
        scores = scaled(q, keys)
        new = scores.amax(-1, keepdim=True).clamp(min=largest)
        fade = torch.exp(largest - new)
        total = total * fade + torch.exp(scores - new).sum(-1, keepdim=True)
        largest = new
    for keys, values in blocks(k, v, block):
        context = context + torch.exp(scaled(q, keys) - largest) / total @ values
    return context


@exercise.variant
def merged_by_logsumexp(q, k, v, block):
    context, log_total = None, None
    for keys, values in zip(k.split(block, -2), v.split(block, -2), strict=True):
        scores = torch.einsum("...id,...jd->...ij", q, keys) * k.size(-1) ** -0.5
        part, log_part = scores.softmax(-1) @ values, scores.logsumexp(-1, keepdim=True)
        if context is None:
            context, log_total = part, log_part
            continue
        together = torch.logaddexp(log_total, log_part)
        share = torch.exp(log_part - together)
        context = context * torch.exp(log_total - together) + part * share
        log_total = together
    return context


@exercise.variant
def parts_kept_and_weighed_at_the_end(q, k, v, block):
    pieces = -(-k.shape[-2] // block)
    parts, logs = [], []
    for keys, values in zip(k.chunk(pieces, -2), v.chunk(pieces, -2), strict=True):
        scores = q @ keys.mT / q.size(-1) ** 0.5
        parts.append(torch.softmax(scores, dim=-1) @ values)
        logs.append(torch.logsumexp(scores, dim=-1))
    shares = torch.softmax(torch.stack(logs, dim=-1), dim=-1)
    return sum(shares[..., i, None] * part for i, part in enumerate(parts))


@exercise.variant
def always_divided(q, k, v, block):
    q = q / q.shape[-1] ** 0.5
    largest = torch.full_like(q[..., :1], -1e30)
    total, context = torch.zeros_like(largest), torch.zeros_like(q[..., :1] * v[..., :1, :])
    for start in range(0, k.shape[-2], block):
        scores = q @ k[..., start : start + block, :].transpose(-2, -1)
        new = torch.maximum(largest, scores.max(dim=-1, keepdim=True).values)
        exps, old = torch.exp(scores - new), total * torch.exp(largest - new)
        total = old + exps.sum(dim=-1, keepdim=True)
        context = (context * old + exps @ v[..., start : start + block, :]) / total
        largest = new
    return context


@exercise.variant
def by_broadcasting(q, k, v, block):
    largest = torch.full_like(q[..., :1], -torch.inf)
    total, context = torch.zeros_like(largest), torch.zeros_like(q[..., :1] * v[..., :1, :])
    for keys, values in blocks(k, v, block):
        products = q.unsqueeze(-2) * keys.unsqueeze(-3)
        scores = products.sum(-1) / q.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        shifted = scores - new
        exps, fade = torch.exp(shifted), torch.exp(largest - new)
        parts = exps.unsqueeze(-1) * values.unsqueeze(-3)
        total = total * fade + exps.sum(-1, keepdim=True)
        context = context * fade + parts.sum(-2)
        largest = new
    return context / total


@exercise.variant
def queries_in_blocks_as_well(q, k, v, block):
    tiles = [online_attention(part, k, v, block) for part in q.split(block, dim=-2)]
    return torch.cat(tiles, dim=-2)


add_chunk_mistakes(exercise)
_NAMES = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}
add_slips(exercise, lambda kernel: lambda q, k, v, block: kernel(q, k, v)[0], _NAMES, NOT_IN_BLOCKS)
