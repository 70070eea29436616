"""A language model small enough to train in a blink, whose attention can be exchanged."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class Tiny(nn.Module):
    """ids (B, T) -> logits (B, T, vocabulary), with one layer of attention inside.

    Where each token looks is up to `weights_of(q, k)`, which makes weights (B, T, T) of queries
    and keys (B, T, size); they are mixed here, as `weights @ v`.
    Example: `Tiny(weights_of, vocabulary=12, size=16, T_max=20)(ids)`
    """

    def __init__(self, weights_of: Callable, vocabulary: int, size: int, T_max: int) -> None:
        super().__init__()
        self.weights_of = weights_of
        self.token = nn.Embedding(vocabulary, size)
        self.position = nn.Embedding(T_max, size)
        self.W_q = nn.Linear(size, size, bias=False)
        self.W_k = nn.Linear(size, size, bias=False)
        self.W_v = nn.Linear(size, size, bias=False)
        self.W_o = nn.Linear(size, size, bias=False)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.ReLU(), nn.Linear(2 * size, size))
        self.logits = nn.Linear(size, vocabulary)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token(ids) + self.position.weight[: ids.shape[-1]]
        weights, v = self.weights_of(self.W_q(x), self.W_k(x)), self.W_v(x)
        x = x + self.W_o(weights @ v)
        return self.logits(x + self.mlp(x))

    @classmethod
    def holding(cls, state: dict[str, Tensor], weights_of: Callable) -> "Tiny":
        """A model with a copy of these parameters; the random streams stay where they are."""
        (vocabulary, size), T_max = state["token.weight"].shape, len(state["position.weight"])
        with torch.random.fork_rng(devices=[]):
            model = cls(weights_of, vocabulary, size, T_max)
        model.load_state_dict(state)
        return model
