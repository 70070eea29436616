"""Attention as an nn.Module: the right one, and any kernel dressed up as one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from grader.laws import Law, inside_the_values, items_stay_apart, permuted_with_the_tokens
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

#: slips that cannot be made, or cannot be seen, where one x goes in and the context comes out
NOT_FOR_MODULES = (
    "divided_by_root_of_T_q",  # one sequence: T_q and T_k are the same
    "divided_by_root_of_d_v",  # and so are d_k and d_v
    "context_alone",  # which is right here
    "scores_as_weights",
    "scores_mixed",  # the same as no softmax
    "other_order",
    "weights_alone",
    "scaled_in_place",
    "turned_into_float32",
)


class Halves(NamedTuple):
    """A module cut in two, so that what many modules have in common is computed once.

    Modules with equal `maps` do the same up to the cut. `until()` is a class that stops there,
    and gives back a tuple; `after(*that)` is the output of the whole.
    """

    maps: tuple
    until: Callable[[], type[nn.Module]]
    after: Callable


def attention_module(
    kernel: Callable, roles: tuple[str, str, str], bias: bool = False, output: Any = 0
) -> type[nn.Module]:
    """A class with three linear maps named `roles` whose forward is `kernel(q, k, v)[output]`.

    Example: `attention_module(attention, ("W_q", "W_k", "W_v"))(3, 2)(x)` -> context (..., T, 2)
    """

    class Module(nn.Module):
        def __init__(self, d_in: int, d_out: int) -> None:
            super().__init__()
            for name in roles:
                setattr(self, name, nn.Linear(d_in, d_out, bias=bias))

        def roles(self, x: Tensor) -> tuple[Tensor, ...]:
            return tuple(getattr(self, name)(x) for name in roles)

        def forward(self, x: Tensor) -> Tensor:
            return kernel(*self.roles(x))[output]

    Module.halves = _halves(kernel, roles, bias, output)
    return Module


def _halves(kernel: Callable, roles: tuple[str, str, str], bias: bool, output: Any) -> Halves:
    def until() -> type[nn.Module]:
        return attention_module(lambda *qkv: (qkv,), roles, bias)

    return Halves((roles, bias), until, lambda *qkv: kernel(*qkv)[output])


def module_laws(value: str) -> tuple[Law, ...]:
    """What holds for every right module whose map to the values is called `value`."""

    def values(probe: Probe) -> Tensor:
        return probe.args[0] @ probe.weights[f"{value}.weight"].T

    return (
        inside_the_values(values, lambda context: context),
        permuted_with_the_tokens(0),
        items_stay_apart(),
    )


def module_probes(draw: Draw, roles: tuple[str, ...]) -> Iterator[Probe]:
    """Modules of different sizes, with weights to be loaded, called with and without batches."""

    def call(lead: tuple[int, ...], T: int, d_in: int, d_out: int, shows: str) -> Probe:
        weights = {f"{name}.weight": draw(d_out, d_in) / d_in**0.5 for name in roles}
        shape = "×".join(map(str, (*lead, T, d_in)))
        return Probe(
            f"x {shape} with sizes ({d_in}, {d_out})",
            (draw(*lead, T, d_in),),
            shows,
            init=(d_in, d_out),
            weights=weights,
        )

    yield call((), 5, 3, 6, VALUES)
    yield replace(call((), 5, 3, 6, VALUES), label="another x 5×3 with sizes (3, 6)")
    yield call((), 19, 8, 2, VALUES)
    yield call((), 6, 7, 3, FLOAT64).exact
    yield call((2,), 5, 7, 3, BATCHES)
    yield call((2, 3), 6, 4, 5, BATCHES)
    yield call((1, 2, 1), 4, 3, 2, BATCHES)
    for plain in (call((), 7, 4, 5, LAYOUT), call((3, 2), 7, 4, 5, BATCHES)):
        label = f"{plain.label}, not contiguous"
        yield replace(plain, args=(strided(plain.args[0]),), label=label)
    yield call((), 4, 4, 4, SQUARE)
    yield call((3,), 3, 3, 3, BATCHES)
    yield call((), 1, 5, 2, EDGES)
    yield call((), 6, 1, 1, EDGES)
    very = torch.tensor([[400.0, 1.0], [-390.0, 2.0], [0.5, -0.5]])
    for label, x in ("very long vectors", very), ("long vectors", 9 * draw(8, 2)):
        far = replace(call((), 3, 2, 4, EXTREMES), args=(x,), label=f"{label} with sizes (2, 4)")
        yield replace(far, rtol=1e-3, gradients="finite").exact
