"""One step of attention done wrong, and how it becomes a known-wrong kernel of an exercise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from grader.attention.kernels import attention
from grader.exercise import STEPS, Exercise

SLIPS: list["Slip"] = []


@dataclass(frozen=True, eq=False)
class Slip:
    """The label of the step, the formula that results, and the functions that replace steps."""

    step: str
    formula: str
    function: Callable
    replaced: dict[str, Callable]

    @property
    def id(self) -> str:
        return self.function.__name__

    @property
    def order(self) -> tuple[int, str]:
        """Earlier steps come first, what is given back last."""
        return STEPS.index(self.step) if self.step else len(STEPS), self.id

    def add_to(
        self, exercise: Exercise, adapt: Callable, names: dict[str, str], base: dict
    ) -> None:
        """Register attention with this one slip, in the form that `adapt` gives it."""

        def made(*slips: "Slip") -> Callable:
            replaced = {step: function for s in slips for step, function in s.replaced.items()}

            def kernel(q: Tensor, k: Tensor, v: Tensor):
                return attention(q, k, v, **{**base, **replaced})

            kernel.slips = slips
            whole = adapt(kernel)
            whole.__name__, whole.__doc__, whole.slip = self.id, self.function.__doc__, self
            return whole

        def onto(other: Callable) -> Callable | None:
            slip = getattr(other, "slip", None)
            apart = slip and slip.order < self.order  # each pair once
            return made(slip, self) if apart and not slip.replaced.keys() & self.replaced else None

        exercise.wrong(self.formula.format(**names), self.step, onto)(made(self))


def add_slips(
    exercise: Exercise,
    adapt: Callable,
    names: dict[str, str],
    leave_out: tuple[str, ...] = (),
    slips: Sequence[Slip] = SLIPS,
    **base: Callable,
) -> None:
    """Give an exercise every slip that applies to it; `base` replaces steps of the right answer.

    Example: `add_slips(exercise, adapt, names, slips=CAUSAL, mask=causal)`
    """
    for each in slips:
        if each.id not in leave_out:
            each.add_to(exercise, adapt, names, base)


def slip(
    step: str, formula: str, replaces: str = "", among: list[Slip] = SLIPS, **also: Callable
) -> Callable:
    """Declare a slip: its label, its formula, the step it replaces if that is not the label's."""

    def register(function: Callable) -> Callable:
        among.append(Slip(step, formula, function, {replaces or step: function, **also}))
        return function

    return register
