"""MultiHeadAttention"""

from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from grader.attention.heads import (
    ROLES,
    Parts,
    attend,
    heads_module,
    merge,
    split,
    the_past_matters,
)
from grader.attention.kernels import (
    as_they_are,
    attention,
    attention_in_loops,
    causal,
    causal_attention_in_loops,
)
from grader.attention.modules import NOT_FOR_MODULES
from grader.attention.parts import add_parameter_mistakes, add_part_mistakes
from grader.attention.slips import NOT_A_NUMBER, add_slips
from grader.attention.slips.heads import HEADS, told_whether_causal
from grader.exercise import Exercise
from grader.laws import future_does_not_matter, items_stay_apart
from grader.probes import (
    BATCHES,
    EDGES,
    EXTREMES,
    FLOAT64,
    LAYOUT,
    SQUARE,
    VALUES,
    Draw,
    Probe,
    strided,
)

UNTOLD = "causal where nothing is said"
UNMASKED = "every token is seen with causal=False"
LENGTHS = "one module takes sequences of several lengths"

exercise = Exercise(
    "MultiHeadAttention",
    "07-multi-head",
    place=4,
    points=5,
    signature="MultiHeadAttention(d_model, n_heads, causal=True); forward(x) -> (..., T, d_model)",
    laws=(future_does_not_matter(0), items_stay_apart(), the_past_matters()),
    hints=(
        "Write down the shape after each line: x, q, the heads of q, the scores, the context, the "
        "heads side by side. Which line adds an axis, and which takes it away?",
        "Each head attends by itself, on vectors of its own size. Which size does the scale use?",
        "Four maps in __init__. In forward: project, split, score, scale, mask if self.causal, "
        "normalise, mix, merge, and W_o at the end.",
        "q, k, v = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v)), "
        "the five steps, then self.W_o(merge_heads(context))",
    ),
)


def _call(
    draw: Draw, lead: tuple[int, ...], T: int, d_model: int, n_heads: int, shows: str, *flag: bool
) -> Probe:
    weights = {f"{name}.weight": draw(d_model, d_model) / d_model**0.5 for name in (*ROLES, "W_o")}
    shape = "×".join(map(str, (*lead, T, d_model)))
    init = d_model, n_heads, *flag
    label = f"x {shape} with ({', '.join(map(str, init))})"
    return Probe(label, (draw(*lead, T, d_model),), shows, init=init, weights=weights)


@exercise.probe
def _(draw: Draw):
    yield _call(draw, (), 5, 12, 3, VALUES, True)
    again = _call(draw, (), 5, 12, 3, VALUES, True)
    again.args[0][0] = 0  # for an answer that takes zeros for gaps
    yield replace(again, label=f"{again.label}, the first row zero")
    yield _call(draw, (), 19, 10, 2, VALUES, True)
    yield _call(draw, (), 7, 20, 4, UNTOLD)
    yield _call(draw, (), 6, 15, 3, UNMASKED, False)
    yield _call(draw, (), 6, 20, 4, FLOAT64, True).exact
    yield _call(draw, (2,), 5, 21, 3, BATCHES, True)
    yield _call(draw, (2, 3), 7, 20, 4, BATCHES, True)
    yield _call(draw, (1, 2, 1), 4, 15, 3, BATCHES, True)
    for plain in (
        _call(draw, (), 7, 12, 2, LAYOUT, True),
        _call(draw, (3, 2), 7, 20, 4, LAYOUT, True),
    ):
        label = f"{plain.label}, not contiguous"
        yield replace(plain, args=(strided(plain.args[0]),), label=label)
    yield _call(draw, (2,), 6, 15, 5, UNMASKED, False)
    yield _call(draw, (), 6, 6, 2, SQUARE, True)  # T = d_model
    yield _call(draw, (), 3, 12, 3, SQUARE, True)  # T = n_heads
    yield _call(draw, (), 5, 9, 3, SQUARE, True)  # n_heads = head_size
    yield _call(draw, (3,), 3, 9, 3, BATCHES, True)
    yield _call(draw, (), 1, 6, 2, EDGES, True)
    yield _call(draw, (), 4, 5, 1, EDGES, True)
    yield _call(draw, (), 4, 3, 3, EDGES, True)
    for T, earlier in (7, 4), (4, 7):
        plain = _call(draw, (), T, 12, 3, LENGTHS, True)
        label = f"{plain.label}, after an x {earlier}×12"
        yield replace(plain, label=label, earlier=(draw(earlier, 12),))
    yield _far(draw)


def _far(draw: Draw) -> Probe:
    """Scores near ±20000 that differ little within a row: the first feature is the query's."""
    plain = _call(draw, (), 4, 4, 2, EXTREMES, True)
    x = torch.cat(
        [torch.tensor([[-30000.0], [3000.0], [-25000.0], [3.0]]), torch.ones(4, 1), draw(4, 2)], 1
    )
    queries = torch.tensor([[1.0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    keys = torch.tensor([[0, 1, 1e-4, 0], [0, 0, 1, 0], [0, 1, 0, 1e-4], [0, 0, 0, 1]])
    weights = plain.weights | {"W_q.weight": queries, "W_k.weight": keys}
    far = replace(plain, args=(x,), weights=weights, label="scores near 20000 and -20000")
    return replace(far, rtol=1e-3, gradients="finite").exact


@exercise.reference
class WithHeads(nn.Module):
    def __init__(self, d_model, n_heads, causal=True):
        super().__init__()
        self.n_heads, self.causal = n_heads, causal
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        q = split(self.W_q(x), self.n_heads)
        k = split(self.W_k(x), self.n_heads)
        v = split(self.W_v(x), self.n_heads)
        return self.W_o(merge(attend(q, k, v, self.causal)))


@exercise.twin
class HeadByHeadInLoops(WithHeads):
    def forward(self, x):
        size = x.shape[-1] // self.n_heads
        in_loops = causal_attention_in_loops if self.causal else attention_in_loops
        heads = []
        for h in range(self.n_heads):
            own = slice(h * size, (h + 1) * size)
            q, k, v = (x @ W.weight[own].T for W in (self.W_q, self.W_k, self.W_v))
            heads.append(in_loops(q, k, v)[0])
        return torch.cat(heads, dim=-1) @ self.W_o.weight.T


@exercise.variant
class WithTorchsOwnAttention(WithHeads):
    def forward(self, x):
        fused = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        *lead, T, d_model = x.shape
        heads = F.linear(x, fused).reshape(*lead, T, 3, self.n_heads, d_model // self.n_heads)
        q, k, v = heads.movedim(-3, 0).transpose(-3, -2)
        context = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.W_o(context.transpose(-3, -2).reshape(*lead, T, d_model))


@exercise.variant
class WithTorchsOwnHeads(WithHeads):
    def forward(self, x):
        *lead, T, d_model = x.shape
        tokens_first = x.reshape(-1, T, d_model).transpose(0, 1)
        fused = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1) if self.causal else None
        result, _ = F.multi_head_attention_forward(
            *[tokens_first] * 3, d_model, self.n_heads, fused, None, None, None, False, 0.0,
            self.W_o.weight, None, attn_mask=hidden, need_weights=False,
        )  # fmt: skip
        return result.transpose(0, 1).reshape(*lead, T, d_model)


@exercise.variant
class MadeInAnotherOrder(nn.Module):
    def __init__(self, d_model, n_heads, causal=True):
        super().__init__()
        for name in ("W_o", "W_v", "W_k", "W_q"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.n_heads, self.size, self.causal = n_heads, d_model // n_heads, causal
        self.register_buffer("seen", torch.ones(32, 32).tril())

    def forward(self, x):
        T = x.shape[-2]
        q, k, v = (W(x).unflatten(-1, (-1, self.size)) for W in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("...ihd,...jhd->...hij", q * self.size**-0.5, k)
        if self.causal:
            scores = scores.masked_fill(self.seen[:T, :T] == 0, -1e9)
        context = torch.einsum("...hij,...jhd->...ihd", scores.softmax(dim=-1), v)
        return self.W_o(context.flatten(-2))


@exercise.variant
class AddedUpThroughSlicesOfTheOutputMap(WithHeads):
    def forward(self, x):
        size, result = x.shape[-1] // self.n_heads, 0
        for h in range(self.n_heads):
            own = slice(h * size, (h + 1) * size)
            q, k, v = (W(x)[..., own] for W in (self.W_q, self.W_k, self.W_v))
            scores = q @ k.mT / size**0.5
            if self.causal:
                scores = scores + torch.full_like(scores, -torch.inf).triu(1)
            result = result + torch.softmax(scores, dim=-1) @ v @ self.W_o.weight[:, own].T
        return result


add_part_mistakes(exercise)
add_parameter_mistakes(exercise)


@exercise.wrong("(result, weights)")
class weights_returned_too(WithHeads):
    """forward gave back the weights as well. A module that stands in a row of others should pass
    on the result alone. Which of the two is it?"""

    def forward(self, x):
        q, k, v = (split(getattr(self, name)(x), self.n_heads) for name in ROLES)
        weights = attention(q, k, v, mask=causal if self.causal else as_they_are)[1]
        return super().forward(x), weights


@exercise.wrong("x + the right result")
class added_to_x(WithHeads):
    """You added x to the result. Such a shortcut belongs to the block around the attention, not to
    the attention itself. Which line adds x?"""

    def forward(self, x):
        return x + super().forward(x)


add_slips(
    exercise,
    lambda kernel: heads_module(Parts(attend=told_whether_causal(kernel))),
    {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √head_size"},
    (*NOT_FOR_MODULES, *NOT_A_NUMBER),
    slips=HEADS,
    mask=causal,
)
