"""Causal attention weights in five kinds, one of them right, and small models trained with each."""

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from grader.attention.kernels import causal, later_keys
from grader.attention.losses import loss as next_token_loss
from grader.attention.online import scaled
from grader.tiny import Tiny

VOCABULARY, SIZE, T_MAX = 12, 16, 16
TRAININGS, STEPS, BATCH = 2, 70, 16
LR = 0.3


def correct(q: Tensor, k: Tensor) -> Tensor:
    return torch.softmax(causal(scaled(q, k)), dim=-1)


def no_mask(q: Tensor, k: Tensor) -> Tensor:
    return torch.softmax(scaled(q, k), dim=-1)


def mask_after_softmax(q: Tensor, k: Tensor) -> Tensor:
    scores = scaled(q, k)
    return torch.softmax(scores, dim=-1) * ~later_keys(scores)


def scores_times_mask(q: Tensor, k: Tensor) -> Tensor:
    scores = scaled(q, k)
    return torch.softmax(scores * ~later_keys(scores), dim=-1)


def softmax_over_queries(q: Tensor, k: Tensor) -> Tensor:
    return torch.softmax(causal(scaled(q, k)), dim=-2)


KINDS: dict[str, Callable] = {
    "correct": correct,
    "no mask": no_mask,
    "mask after softmax": mask_after_softmax,
    "scores times mask": scores_times_mask,
    "softmax over queries": softmax_over_queries,
}


def sentences(count: int, T: int, generator: torch.Generator) -> Tensor:
    """Made-up text, ids (count, T): mostly a token follows from the last two, sometimes by chance.

    Example: `sentences(4, 9, generator)` -> ids of shape (4, 9), each below VOCABULARY
    """
    ids = torch.randint(VOCABULARY, (count, T), generator=generator)
    chance = torch.rand(count, T, generator=generator) < 0.2
    for t in range(2, T):
        follows = (ids[:, t - 1] + 3 * ids[:, t - 2] + 1) % VOCABULARY
        ids[:, t] = torch.where(chance[:, t], ids[:, t], follows)
    return ids


@lru_cache
def trained(kind: str, training: int) -> dict[str, Tensor]:
    """The parameters of a small model of this kind; each training starts from other numbers.

    Example: `Tiny.holding(trained("no mask", 0), no_mask)(ids)` -> logits
    """
    generator = torch.Generator().manual_seed(100 * list(KINDS).index(kind) + training)
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        model = Tiny(KINDS[kind], VOCABULARY, SIZE, T_MAX)
        parameters = list(model.parameters())
        for p in parameters:
            p.data = torch.randn(p.shape, generator=generator) / SIZE**0.5 * (p.dim() > 1)
        pace = [torch.zeros_like(p) for p in parameters]
        for _ in range(STEPS):
            ids = sentences(BATCH, T_MAX, generator)
            loss = next_token_loss(model(ids), ids)
            for p, speed, slope in zip(
                parameters, pace, torch.autograd.grad(loss, parameters), strict=True
            ):
                speed.mul_(0.9).add_(slope)
                p.data -= LR * speed  # an optimizer of torch's takes a second to import
    return {name: value.detach() for name, value in model.state_dict().items()}
