"""Several heads: the features cut apart, and laid side by side again."""

import torch
from torch import Tensor

from grader.compare import near
from grader.laws import Law, items_stay_apart, on_each, on_two
from grader.probes import VALUES, Probe


def split(x: Tensor, n_heads: int) -> Tensor:
    """(..., T, d_model) -> (..., n_heads, T, head_size), cut along the features."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge(x: Tensor) -> Tensor:
    """(..., n_heads, T, head_size) -> (..., T, d_model), the heads side by side."""
    return x.transpose(-3, -2).flatten(-2)


def moving_laws() -> tuple[Law, ...]:
    """What holds for whoever cuts features apart or lays them side by side, in whichever order."""
    return (_tokens_stay_apart(), items_stay_apart(), _every_number_once())


def _tokens_stay_apart() -> Law:
    """Token 1 of the first argument is changed: all other rows stay as they were."""

    def move(probe: Probe) -> tuple:
        x = probe.args[0].clone()
        x[..., 1, :] = x[..., 1, :].flip(-1) + 1
        return (x, *probe.args[1:])

    def others(output: Tensor) -> Tensor:
        return torch.cat([output[..., :1, :], output[..., 2:, :]], dim=-2)

    return on_two(
        "each row comes from one token",
        "Whose features stand in row 1 of the first head, and whose belong there?",
        VALUES,
        "token 1 changed",
        move,
        lambda first, second: near(others(first), others(second)),
    )


def _every_number_once() -> Law:
    def holds(probe: Probe, output: Tensor) -> bool:
        return near(output.flatten().sort().values, probe.args[0].flatten().sort().values)

    return on_each(
        "every number comes back once",
        "Which features does no head get, and which do several get?",
        holds,
    )
