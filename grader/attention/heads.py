"""Several heads: the features cut apart, attended to, laid side by side, and mixed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from grader.attention.kernels import attention, causal
from grader.attention.modules import Halves
from grader.compare import near
from grader.laws import Law, items_stay_apart, on_each, on_two
from grader.probes import VALUES, Probe

ROLES = ("W_q", "W_k", "W_v")


def split(x: Tensor, n_heads: int) -> Tensor:
    """(..., T, d_model) -> (..., n_heads, T, head_size), cut along the features."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge(x: Tensor) -> Tensor:
    """(..., n_heads, T, head_size) -> (..., T, d_model), the heads side by side."""
    return x.transpose(-3, -2).flatten(-2)


def square_maps(d_model: int, n_heads: int) -> dict[str, nn.Module]:
    return {name: nn.Linear(d_model, d_model, bias=False) for name in (*ROLES, "W_o")}


def by_role(module: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    return tuple(getattr(module, name)(x) for name in ROLES)


def attend(q: Tensor, k: Tensor, v: Tensor, is_causal: bool) -> Tensor:
    return attention(q, k, v, **({"mask": causal} if is_causal else {}))[0]


def through_output_map(merged: Tensor, W_o: Tensor) -> Tensor:
    return merged @ W_o.T


class Parts(NamedTuple):
    """What a module with heads is made of; a mistake replaces one of them, or a few.

    Example: `Parts(cut=lambda x, n_heads: split(x, 1))` has one big head, whatever is asked.
    """

    maps: Callable = square_maps
    default: bool = True  # of the flag `causal`
    flag: Callable[[bool], bool] = bool
    project: Callable = by_role
    cut: Callable = split
    attend: Callable = attend
    join: Callable = merge
    finish: Callable = through_output_map

    @property
    def replaced(self) -> dict[str, Any]:
        """Those that are not as they should be."""
        pairs = zip(self._fields, self, RIGHT, strict=True)
        return {name: part for name, part, right in pairs if part is not right}

    def after_the_maps(
        self, q: Tensor, k: Tensor, v: Tensor, W_o: Tensor, is_causal: bool
    ) -> Tensor:
        """The module's output, from the heads that its maps have made."""
        return self.finish(self.join(self.attend(q, k, v, is_causal)), W_o)


RIGHT = Parts()


def heads_module(parts: Parts = RIGHT, whole: bool = True) -> type[nn.Module]:
    """A class made of these parts; if not `whole` it stops where the heads are cut.

    Example: `heads_module()(6, 2)(x)` -> (..., T, 6) with 2 heads, causal
    """

    class Module(nn.Module):
        def __init__(self, d_model: int, n_heads: int, causal: bool = parts.default) -> None:
            super().__init__()
            self.n_heads, self.causal = n_heads, parts.flag(causal)
            for name, each in parts.maps(d_model, n_heads).items():
                setattr(self, name, each)

        def forward(self, x: Tensor) -> Any:
            q, k, v = (parts.cut(role, self.n_heads) for role in parts.project(self, x))
            made = q, k, v, self.W_o.weight, self.causal
            return parts.after_the_maps(*made) if whole else made

    Module.parts = parts
    Module.halves = Halves(
        (parts.maps, parts.default, parts.flag, parts.project, parts.cut),
        lambda: heads_module(parts, whole=False),
        parts.after_the_maps,
    )
    return Module


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


def the_past_matters() -> Law:
    """Token 0 of the first argument is changed: every row becomes another one."""

    def move(probe: Probe) -> tuple:
        x = probe.args[0].clone()
        x[..., 0, :] = x[..., 0, :].flip(-1) + 1
        return (x, *probe.args[1:])

    def all_rows_differ(first: Tensor, second: Tensor) -> bool:
        rows = zip(first.unbind(-2), second.unbind(-2), strict=True)
        return not any(near(a, b) for a, b in rows)

    law = on_two(
        "every row hears the tokens before it",
        "Which part of your result changes when token 0 does, and which should?",
        VALUES,
        "token 0 changed",
        move,
        all_rows_differ,
    )
    return replace(law, decisive=True)
