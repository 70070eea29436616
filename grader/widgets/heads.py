"""What each head looks at, for any number of heads that the features can be cut into."""

from functools import lru_cache, partial

import torch

from grader.attention import kernels
from grader.figures.numbers import array, names
from grader.widgets.page import Explorer, View, one_line, slider, table
from grader.widgets.panels import Blocks
from grader.widgets.stage import Stage

MOST_WORDS, MOST_HEADS = 8, 12


@one_line
def heads(x, tokens, n_heads=None, W_q=None, W_k=None, causal=False) -> Explorer:
    """Show the weights of every head, with W_q and W_k as given or random ones.

    `x` is (T, d_model) with up to 8 tokens, each matrix (d_model, d_model). The slider offers the
    divisors of d_model up to 12 and begins at `n_heads`. With `causal` later tokens are hidden.

    Example: `heads(x, tokens, n_heads=2)`
    """
    x = torch.tensor(array(x, "x", 2), dtype=torch.float32)
    tokens, d_model = names(tokens, len(x), "tokens", "x"), x.shape[1]
    if len(x) > MOST_WORDS:
        raise ValueError(f"x should have at most {MOST_WORDS} tokens, but it has {len(x)}.")
    divisors = [n for n in range(1, min(d_model, MOST_HEADS) + 1) if d_model % n == 0]
    n_heads = divisors[min(1, len(divisors) - 1)] if n_heads is None else n_heads
    if n_heads not in divisors:
        offered = ", ".join(map(str, divisors))
        raise ValueError(
            f"n_heads should be one of {offered}, the divisors of d_model = {d_model}, "
            f"but {n_heads} came."
        )
    if (W_q is None) != (W_k is None):
        raise ValueError("W_q and W_k should be given together, but only one of them came.")
    controls = [slider("n_heads", "Heads", [(n, str(n)) for n in divisors], n_heads)]
    given = None
    if W_q is None:
        seeds = [(seed, str(seed)) for seed in range(20)]
        controls.append(slider("seed", "Seed of the random matrices", seeds, 0))
    else:
        given = _matrix(W_q, "W_q", d_model), _matrix(W_k, "W_k", d_model)
    view = partial(_view, x, tokens, given, causal)
    return Explorer("What does each head look at?", controls, view)


def head_weights(x, W_q, W_k, n_heads: int, causal: bool = False) -> torch.Tensor:
    """x (T, d_model), both matrices (d_model, d_model) -> weights (n_heads, T, T)."""
    q, k = ((x @ W).unflatten(-1, (n_heads, -1)).transpose(0, 1) for W in (W_q, W_k))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return torch.softmax(kernels.causal(scores) if causal else scores, dim=-1)


def random_matrices(d_model: int, seed: int) -> torch.Tensor:
    """W_q and W_k, (2, d_model, d_model), for queries and keys of about the size of a token."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, d_model, d_model, generator=generator) * 2 / d_model**0.5


def _matrix(W, name: str, d_model: int) -> torch.Tensor:
    W = torch.tensor(array(W, name, 2), dtype=torch.float32)
    if tuple(W.shape) != (d_model, d_model):
        raise ValueError(
            f"{name} should be {(d_model, d_model)}, but its shape is {tuple(W.shape)}."
        )
    return W


def _view(x, tokens, given, causal: bool, n_heads: int, seed: int = 0) -> View:
    T, d_model = x.shape
    W_q, W_k = given or random_matrices(d_model, seed)
    weights = head_weights(x, W_q, W_k, n_heads, causal)
    stage = _stage(T, min(d_model, MOST_HEADS))
    stage.panels[0].set(tokens, weights.numpy())
    most = weights.argmax(dim=-1)
    alike = len({tuple(row) for row in most.tolist()})
    within = max(len(set(row)) for row in most.tolist())
    status = f"Heads: {n_heads}, features in each: {d_model // n_heads}. "
    status += f"Heads that choose otherwise than the others: {alike}. "
    status += f"Most looked at within one head: at most {within} different tokens."
    said = "; ".join(f"head {h}: {_choices(tokens, row)}" for h, row in enumerate(most.tolist()))
    alt = f"A table of coloured cells for each of {n_heads} heads, the weights of {T} tokens. "
    alt += f"Most looked at, {said}."
    rows = [
        (word, *(f"{tokens[most[h, i]]} {weights[h, i].max():.2f}" for h in range(n_heads)))
        for i, word in enumerate(tokens)
    ]
    head = ["token", *(f"head {h}" for h in range(n_heads))]
    return View(
        stage, alt, status, table("Whom each token looks at most, and its weight", head, rows)
    )


def _choices(tokens: list[str], most: list[int]) -> str:
    return ", ".join(f"{word} at {tokens[j]}" for word, j in zip(tokens, most, strict=True))


@lru_cache(4)
def _stage(T: int, most: int) -> Stage:
    down = -(-most // Blocks.ACROSS)
    tall = 1.6 * down - 0.2
    return Stage(7.8, tall + 0.9, lambda figure: [Blocks(figure, (0.9, 0.75, 6.8, tall), T, most)])
