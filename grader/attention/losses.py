"""The loss of next tokens in three parts, pair – surprise – average."""

from collections.abc import Callable

from torch import Tensor
from torch.nn.functional import log_softmax


def next_ones(logits: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return logits[..., :-1, :], tokens[..., 1:]


def minus_log_p(logits: Tensor, targets: Tensor) -> Tensor:
    return -chosen(log_softmax(logits, dim=-1), targets)


def mean(surprises: Tensor, tokens: Tensor) -> Tensor:
    return surprises.mean()


def loss(
    logits: Tensor,
    tokens: Tensor,
    *,
    pair: Callable = next_ones,
    surprise: Callable = minus_log_p,
    average: Callable = mean,
) -> Tensor:
    """logits (..., T, V), tokens (..., T) -> the mean surprise at each token after the first.

    Example: `loss(logits, tokens, average=lambda surprises, tokens: surprises.sum())`
    """
    return average(surprise(*pair(logits, tokens)), tokens)


def chosen(table: Tensor, targets: Tensor) -> Tensor:
    """The entry of each target along the last axis."""
    return table.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
