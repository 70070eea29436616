"""cross_attention"""

import torch
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from grader.attention.crossed import add_crossed_sequences
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
    "cross_attention",
    "05-order-and-cost",
    place=5,
    points=3,
    signature="cross_attention(x, source, W_q, W_k, W_v) -> (context, weights)",
    laws=(
        rows_add_up_to_1(lambda output: output[1]),
        inside_the_values(lambda p: p.args[1] @ p.args[4], lambda output: output[0]),
        permuted_with_the_tokens(0, 1),
        items_stay_apart(),
    ),
    hints=(
        "Two sequences, three roles. Which of them looks, and which is looked at?",
        "The context has one row for each token of x. Which role decides how many rows come out?",
        "Step score: the queries are made from x. Keys and values are made from source, as what is "
        "found and what is handed over belong together.",
        "q, k, v = x @ W_q, source @ W_k, source @ W_v, then the five steps as before",
    ),
)


def _matrices(draw: Draw, d_x: int, d_s: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    """W_q, W_k and W_v that keep numbers of variance 1 at variance 1."""
    shapes = (d_x, d_k), (d_s, d_k), (d_s, d_v)
    return tuple(draw(*shape) / shape[0] ** 0.5 for shape in shapes)


@exercise.probe
def _(draw: Draw):
    yield from usual(draw, (5, 4), (7, 3), fixed=((4, 6), (3, 6), (3, 2)))
    yield Probe("x 9×5, source 6×5", (draw(9, 5), draw(6, 5), *_matrices(draw, 5, 5, 3, 8)))
    yield Probe("x 4×6, source 67×2", (draw(4, 6), draw(67, 2), *_matrices(draw, 6, 2, 11, 3)))
    yield Probe("x and source 5×6", (draw(5, 6), draw(5, 6), *_matrices(draw, 6, 6, 7, 3)), SQUARE)
    yield Probe(
        "x 5×4, source 8×4, all matrices 4×4",
        (draw(5, 4), draw(8, 4), *_matrices(draw, 4, 4, 4, 4)),
        SQUARE,
    )
    yield Probe("everything 4×4", (draw(4, 4), draw(4, 4), *_matrices(draw, 4, 4, 4, 4)), SQUARE)
    yield Probe(
        "a batch of 3, everything 3×3",
        (draw(3, 3, 3), draw(3, 3, 3), *_matrices(draw, 3, 3, 3, 3)),
        BATCHES,
    )
    for label, T_q, T_k, sizes in (
        ("one token to look at", 5, 1, (3, 4, 6, 2)),
        ("one token that looks", 1, 7, (3, 4, 6, 2)),
        ("one feature", 5, 7, (1, 1, 1, 1)),
    ):
        x, source = draw(T_q, sizes[0]), draw(T_k, sizes[1])
        yield Probe(label, (x, source, *_matrices(draw, *sizes)), EDGES)
    x, source = torch.tensor([[600.0], [-600], [-1]]), torch.tensor([[3.0], [-3.1], [2.9]])
    far = (x, source, *(torch.ones(1, 1) for _ in range(2)), draw(1, 2))
    very = Probe("scores near 1800 and -1800", far, EXTREMES, rtol=1e-3, gradients="finite")
    yield very.exact


@exercise.reference
def looks_at_the_source(x, source, W_q, W_k, W_v):
    return attention(x @ W_q, source @ W_k, source @ W_v)


@exercise.twin
def in_loops(x, source, W_q, W_k, W_v):
    def projected(tokens, W):
        rows = [(token.unsqueeze(-1) * W).sum(-2) for token in tokens.unbind(-2)]
        return torch.stack(rows, dim=-2)

    return attention_in_loops(projected(x, W_q), projected(source, W_k), projected(source, W_v))


@exercise.variant
def by_torch(x, source, W_q, W_k, W_v):
    q, k, v = linear(x, W_q.T), linear(source, W_k.T), linear(source, W_v.T)
    weights = torch.softmax(torch.einsum("...id,...jd->...ij", q, k) * k.size(-1) ** -0.5, dim=-1)
    return scaled_dot_product_attention(q, k, v), weights


@exercise.variant
def values_projected_last(x, source, W_q, W_k, W_v):
    scores = x @ (W_q @ W_k.T) @ source.mT / W_k.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ source @ W_v, weights


@exercise.variant
def keys_and_values_in_one(x, source, W_q, W_k, W_v):
    k, v = (source @ torch.cat([W_k, W_v], dim=-1)).split([W_k.shape[1], W_v.shape[1]], dim=-1)
    q = x @ W_q / W_q.shape[1] ** 0.5
    exps = torch.exp(q @ k.mT - (q @ k.mT).amax(dim=-1, keepdim=True))
    weights = exps / exps.sum(dim=-1, keepdim=True)
    return weights @ v, weights


add_crossed_sequences(exercise)


@exercise.on_top("queries x W_k and keys source W_q", "score")
def matrices_exchanged(kernel, x, source, W_q, W_k, W_v):
    """Queries were made with W_k and keys with W_q. It only runs when x and source have as many
    features. Which matrix belongs to which role?"""
    return kernel(x, source, W_k, W_q, W_v)


@exercise.on_top("keys source W_q", "score")
def keys_with_W_q(kernel, x, source, W_q, W_k, W_v):
    """Your keys were made with W_q, so W_k is never used. Which matrix belongs to which role?"""
    return kernel(x, source, W_q, W_q, W_v)


@exercise.on_top("values source W_k", "mix")
def values_with_W_k(kernel, x, source, W_q, W_k, W_v):
    """Your values are the keys, made with W_k, so W_v is never used. Is what a token is found by
    the same as what it hands over?

    Seen in yflyzhang/AnnotatedTransformer#1.
    """
    return kernel(x, source, W_q, W_k, W_k)


@exercise.on_top("W transposed", "score")
def matrices_transposed(kernel, x, source, W_q, W_k, W_v):
    """You transposed the matrices. A weight of nn.Linear is stored that way round, these are not,
    and it only runs when they are square. Which axis of W has the length of a token?

    Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2, the PyTorch forum, "Understanding
    nn.MultiheadAttention".
    """
    return kernel(x, source, W_q.T, W_k.T, W_v.T)


@exercise.on_top("softmax(q kᵀ / √d_x) v", "scale")
def scaled_by_d_x(kernel, x, source, W_q, W_k, W_v):
    """You divided by the root of d_x, the number of features of x. The dot product adds over the
    size of a query and a key. How long is a query here?

    Seen in lucidrains/vit-pytorch#65, Graylab/DL4Proteins-notebooks#12,
    juho-lee/set_transformer#18.
    """
    return kernel(x, source, W_q * (W_q.shape[1] / W_q.shape[0]) ** 0.5, W_k, W_v)


@exercise.on_top("softmax(q kᵀ / √d_s) v", "scale")
def scaled_by_d_s(kernel, x, source, W_q, W_k, W_v):
    """You divided by the root of d_s, the number of features of source. The dot product adds over
    the size of a query and a key. How long is a key here?"""
    return kernel(x, source, W_q * (W_k.shape[1] / W_k.shape[0]) ** 0.5, W_k, W_v)


@exercise.wrong("softmax(q kᵀ / √d_k) source", "mix")
def values_not_projected(x, source, W_q, W_k, W_v):
    """You mixed source itself, so W_v is never used. What does a token hand over once it is picked?

    Seen in hmdolatabadi/denoising_diffusion#1.
    """
    return attention(x @ W_q, source @ W_k, source)


@exercise.wrong("softmax(x kᵀ / √d_k) v", "score")
def queries_not_projected(x, source, W_q, W_k, W_v):
    """Your queries are x itself, so W_q is never used. It only runs where x has as many features as
    a key. What turns a token into what it looks for?"""
    return attention(x, source @ W_k, source @ W_v)


@exercise.wrong("softmax(q sourceᵀ / √d_s) v", "score")
def keys_not_projected(x, source, W_q, W_k, W_v):
    """Your keys are source itself, so W_k is never used. It only runs where source has as many
    features as a query. What turns a token into what it is found by?"""
    return attention(x @ W_q, source, source @ W_v)


@exercise.wrong("softmax(x sourceᵀ / √d) source", "score")
def nothing_projected(x, source, W_q, W_k, W_v):
    """x met source as it is, and no matrix was used. What does each of the three matrices turn a
    token into?"""
    return attention(x, source, source)


_FROM_BOTH = {"q": "q", "k": "k", "v": "v", "s": "q kᵀ / √d_k"}
add_slips(
    exercise,
    lambda kernel: lambda x, source, W_q, W_k, W_v: kernel(x @ W_q, source @ W_k, source @ W_v),
    _FROM_BOTH,
    # q is made inside, so nobody else can see it change; to mix the keys is values_with_W_k
    ("scaled_in_place", "keys_as_values"),
)
