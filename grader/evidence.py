"""One probe, what the answer did on it, what the right kernel does on it, and how they differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from grader.compare import ROUNDING, close, dtypes, structure_problem
from grader.exercise import Exercise
from grader.probes import Linear, Probe
from grader.record import Call

PARAMETERS = "exactly the parameters named"
PRECISION = "full precision in float64"
DTYPE = "keeps the dtype"
INPUTS = "leaves its inputs unchanged"
REPEAT = "the same answer on every call"
GRADIENTS = "the gradient reaches every input"
BY_HAND = "written by hand"
MANNERS = (DTYPE, INPUTS, REPEAT, GRADIENTS, BY_HAND)


@dataclass(frozen=True)
class Evidence:
    exercise: Exercise
    probe: Probe
    call: Call
    want: Call

    @cached_property
    def problem(self) -> str:
        """What is wrong with the type or shape of the output, or an empty string."""
        if self.exercise.compared:  # such an exercise judges the form itself
            return ""
        return structure_problem(self.call.output, self.want.output)

    @property
    def well_formed(self) -> bool:
        return not self.call.error and not self.problem

    @cached_property
    def right(self) -> bool:
        """The values are right, up to rounding in float32."""
        return self.well_formed and self._close(self.call.output, self.want.output, self._rough)

    @cached_property
    def is_precise(self) -> bool | None:
        """Right values are right to float64's precision; None where that is not the question."""
        if self.probe.dtype != torch.float64 or self.probe.rtol is not None or not self.right:
            return None
        return self._close(self.call.output, self.want.output, ROUNDING[torch.float64])

    def same_as(self, other: Call) -> bool:
        """Whether another kernel does the same on this probe: both fail, or the values agree."""
        if self.call.error or other.error:
            return bool(self.call.error and other.error)
        return self._close(self.call.output, other.output, self._rough)

    @cached_property
    def looked_at(self) -> frozenset[str]:
        return frozenset(label for label, _ in self._manners())

    @cached_property
    def faults(self) -> frozenset[str]:
        """The manners that fail here; for a missing gradient also where it is missing."""
        return frozenset(label for label, held in self._manners() if not held)

    def _manners(self) -> Iterator[tuple[str, bool]]:
        call, want, probe = self.call, self.want, self.probe
        if probe.init is not None:
            yield PARAMETERS, call.parameters == want.parameters and not call.shared
        if not self.well_formed:
            return
        leaf_dtypes = dtypes(want.output)
        if leaf_dtypes and not self.exercise.compared:
            dtype = probe.dtype or leaf_dtypes[0]
            yield DTYPE, all(got == dtype for got in dtypes(call.output))
        if any(isinstance(arg, Tensor | Linear) for arg in probe.args):
            yield INPUTS, not call.changed
        yield (
            REPEAT,
            not call.second_error and self._close(call.again, call.output, ROUNDING[torch.float32]),
        )
        if self.exercise.differentiable != () and want.gradients and probe.rtol is None:
            yield GRADIENTS, not call.gradient_error and self._gradients_right()
            missing = ["none: it raises"] if call.gradient_error else self.without_gradient
            yield from ((f"a gradient reaches {name}", False) for name in missing)
        if probe.watched:
            yield BY_HAND, not self.exercise.forbidden & set(call.operations)

    @cached_property
    def without_gradient(self) -> tuple[str, ...]:
        """Inputs and parameters that get no gradient though the right kernel gives them one."""
        got = self._judged(self.call.gradients)
        names = {n for g in self._judged(self.want.gradients) for n, v in g.items() if _moves(v)}
        return tuple(sorted(n for n in names if not any(_moves(g.get(n)) for g in got)))

    def _gradients_right(self) -> bool:
        """Where the values are right so are their gradients; elsewhere it is enough that they come."""
        if not self.right:
            return not self.without_gradient
        got, want = self._judged(self.call.gradients), self._judged(self.want.gradients)
        rtol, atol = (10 * t for t in ROUNDING[torch.float32])
        return len(got) == len(want) and all(
            close(_or_zero(g.get(name), w), _or_zero(w, g.get(name)), rtol, atol)
            for g, expected in zip(got, want, strict=True)
            for name, w in expected.items()
        )

    def _judged(self, gradients: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
        """The gradients of those outputs whose gradients count in this exercise."""
        chosen = self.exercise.differentiable
        return [g for i, g in enumerate(gradients) if chosen is None or i in chosen]

    @property
    def _rough(self) -> tuple[float, float]:
        """The tolerance for values: float32's rounding, or what the probe itself allows."""
        rtol = self.probe.rtol
        return ROUNDING[torch.float32] if rtol is None else (rtol, max(1e-5, 1e-3 * rtol))

    def _close(self, got: Any, want: Any, tolerance: tuple[float, float]) -> bool:
        if self.exercise.compared:
            got, want = (self.exercise.compared(self.probe, value) for value in (got, want))
        return close(got, want, *tolerance)


def _moves(gradient: Tensor | None) -> bool:
    return gradient is not None and bool(gradient.any())


def _or_zero(gradient: Tensor | None, like: Tensor | None) -> Any:
    if gradient is None and like is not None:
        return torch.zeros_like(like)
    return gradient
