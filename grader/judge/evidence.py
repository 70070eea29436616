"""One probe, what the answer did on it, what the right kernel does on it, and how they differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor

from grader.compare import ROUNDING, close, dtypes, near, structure_problem
from grader.exercise import Exercise
from grader.probes import BESIDES, VALUES, BlackBox, Linear, Models, Probe
from grader.quiet import fresh_state
from grader.record import Call

PARAMETERS = "exactly the parameters named"
PRECISION = "full precision in float64"
DTYPE = "the expected dtype"
INPUTS = "leaves its inputs unchanged"
REPEAT = "the same answer on every call"
WEIGHTS = "follows its weights, in train and eval mode"
GRADIENTS = "the gradient reaches every input"
BY_HAND = "written by hand"
MEMORY = "never holds the whole score matrix"
MANNERS = (REPEAT, WEIGHTS, INPUTS, BY_HAND, MEMORY, DTYPE, GRADIENTS)


@lru_cache(maxsize=256)
def drawn(exercise: Exercise, seed: int) -> tuple[Probe, ...]:
    """The probes of one seed, drawn once."""
    with fresh_state():
        return exercise.probes(seed)


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
    def is_core(self) -> bool:
        """Plain inputs, on which another kernel gives other values."""
        return self.probe.compare and self.probe.shows not in BESIDES

    @property
    def is_box(self) -> bool:
        """The answer was given something to call, and said what it found."""
        given = (isinstance(arg, BlackBox | Models) for arg in self.probe.args)
        return bool(self.exercise.compared) and any(given)

    @property
    def is_one_number(self) -> bool:
        want = self.want.output
        return isinstance(want, int | float) or (isinstance(want, Tensor) and not want.dim())

    @property
    def well_formed(self) -> bool:
        return not self.call.error and not self.problem

    @cached_property
    def right(self) -> bool:
        """The values are right, up to rounding in float32."""
        return self.well_formed and self._agree(self.call.output, self.want.output)

    @cached_property
    def is_precise(self) -> bool | None:
        """Right values are right to float64's precision; None where that is not the question."""
        if self.probe.dtype != torch.float64 or self.probe.rtol is not None or not self.right:
            return None
        if set(dtypes(self.call.output)) != {torch.float64}:  # which is a fault of its own
            return None
        # A module may keep a float32 constant in a buffer, which loses digits for good.
        rtol, atol = (1e-6, 1e-7) if self.call.constants else ROUNDING[torch.float64]
        return close(self.call.output, self.want.output, rtol, atol)

    @property
    def has_numbers(self) -> bool:
        """The outputs are tensors that are compared as they are."""
        return isinstance(self.want.output, Tensor | tuple) and not self.exercise.compared

    def same_as(self, other: Call) -> bool:
        """Whether another kernel does the same on this probe: both fail, or the values agree."""
        if self.call.error or other.error:
            return bool(self.call.error and other.error)
        return self._agree(self.call.output, other.output)

    @property
    def parameters(self) -> tuple:
        """The parameters of a module: names, shapes, and which are one and the same."""
        return self.call.parameters, self.call.shared

    @property
    def wrong_parameters(self) -> bool:
        return self.parameters != (self.want.parameters, ())

    @cached_property
    def looked_at(self) -> frozenset[str]:
        return frozenset(label for label, _ in self._manners())

    @cached_property
    def faults(self) -> frozenset[str]:
        """The manners that fail here, and where exactly: which argument, which output."""
        return frozenset(label for label, held in self._manners() if not held)

    def _manners(self) -> Iterator[tuple[str, bool]]:
        call, want, probe = self.call, self.want, self.probe
        if probe.init is not None:
            yield PARAMETERS, not self.wrong_parameters
        if not self.well_formed:
            return
        if any(isinstance(arg, Tensor | Linear | Models) for arg in probe.args):
            yield INPUTS, not call.changed
            yield from ((f"argument {name} is kept", False) for name in call.changed)
        repeats = not call.second_error and call.kept and near(call.again, call.output)
        if self.right and call.reloaded is not None and not probe.init:
            repeats = repeats and self._agree(call.reloaded, want.output)
        yield REPEAT, repeats
        if self.right and call.reloaded is not None and probe.init and probe.rtol is None:
            yield WEIGHTS, self._agree(call.reloaded, want.reloaded)
        if probe.watched:
            yield BY_HAND, not self.exercise.forbidden & set(call.operations)
        if probe.most is not None:
            yield MEMORY, call.peak <= probe.most
        wanted = [] if self.exercise.compared else dtypes(want.output)
        for i, (got, kind) in enumerate(zip(dtypes(call.output), wanted, strict=False)):
            held = got == (probe.dtype or kind)
            yield from [(DTYPE, held), (f"output {i} keeps the dtype", held)]
        # Wrong values have wrong gradients; then it only matters that they come, on plain inputs.
        asked = probe.gradients != "none" and (self.right or probe.shows == VALUES)
        if asked and want.gradients and not self.exercise.compared:
            yield GRADIENTS, not call.gradient_error and self._gradients_right()
            missing = ["none: it raises"] if call.gradient_error else self.without_gradient
            yield from ((f"gradient reaches {name}", False) for name in missing)

    @cached_property
    def without_gradient(self) -> tuple[str, ...]:
        """'input of output' for each gradient that the right kernel gives and this answer lacks."""
        pairs = zip_longest(self.call.gradients, self.want.gradients, fillvalue={})
        return tuple(
            f"{_place(name)} from output {i}"
            for i, (got, want) in enumerate(pairs, start=1)
            for name, gradient in want.items()
            if _moves(gradient) and not _moves(got.get(name))
        )

    def _gradients_right(self) -> bool:
        """Where the values are right so are their gradients; elsewhere it is enough they come."""
        got, want = self.call.gradients, self.want.gradients
        found = [g for each in got for g in each.values() if g is not None]
        if self.probe.gradients == "finite" and self.right:
            return all(bool(g.isfinite().all()) for g in found)
        if not self.right:
            return not self.without_gradient
        rtol, atol = (10 * t for t in ROUNDING[torch.float32])
        return len(got) == len(want) and all(
            close(self._along(g.get(name), w), self._along(w, g.get(name)), rtol, atol)
            for g, expected in zip(got, want, strict=True)
            for name, w in expected.items()
        )

    def _along(self, gradient: Tensor | None, like: Tensor | None) -> Tensor | None:
        """The part of a gradient that counts; zeros where only the other side has one."""
        if gradient is None:
            return None if like is None else torch.zeros_like(like)
        if self.exercise.on_simplex:
            return gradient - gradient.mean(dim=-1, keepdim=True)
        return gradient

    def _agree(self, got: Any, want: Any) -> bool:
        """Equal in what this exercise compares, up to float32's rounding or the probe's own."""
        if self.exercise.compared:
            got, want = (self.exercise.canonical(self.probe, value) for value in (got, want))
        rtol, atol = ROUNDING[torch.float32]
        rtol = rtol if self.probe.rtol is None else self.probe.rtol
        return close(got, want, rtol, atol if self.probe.atol is None else self.probe.atol)


def _place(name: str) -> str:
    return f"argument {int(name) + 1}" if name.isdigit() else name


def _moves(gradient: Tensor | None) -> bool:
    return gradient is not None and bool(gradient.any())
