"""What an exercise is: one declaration with everything the grader knows about it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from inspect import cleandoc
from typing import Any

from grader.laws import Law
from grader.probes import Draw, Probe

STEPS = ("score", "scale", "mask", "normalise", "mix")
_SENTENCE = re.compile(r"(?<=[.?]) ")


@dataclass(frozen=True)
class Mistake:
    """A known-wrong kernel: it can be called like an answer, and says what is wrong with it.

    `id` is the kernel's name. Its docstring is what the student reads: `what` was computed, then
    one `question` to think about; a last line "Seen in owner/repository#1" cites where the
    mistake was met in the open. `step` is one of STEPS, or "" where none of them fits.
    `onto(other kernel)` is that kernel with this mistake made as well, or None; a pair made so
    has two `parts`.
    Example: `exercise.known_wrong[0].question` -> "Which axis of x runs over the tokens, ...?"
    """

    id: str
    formula: str
    step: str
    what: str
    question: str
    seen: str
    kernel: Callable = field(repr=False)
    onto: Callable[[Callable], Callable | None] = field(repr=False)
    parts: tuple["Mistake", ...] = ()

    def __call__(self, *args: Any) -> Any:
        return self.kernel(*args)


class WrongForm(Exception):
    """Raised by what an exercise is compared by: the value has not the form that is asked for."""


@dataclass(eq=False)
class Exercise:
    """One exercise: its contract, the right kernel, the known-wrong ones, and the probes.

    The kernels are added with decorators, in the lesson's file:
    `@softmax.reference`, `@softmax.twin`, `@softmax.variant`, `@softmax.wrong(formula, step)`,
    `@softmax.on_top(formula, step)`, `@softmax.probe`, and where answers may differ in form
    `@softmax.compare_by`.
    """

    name: str
    lesson: str
    place: float  # among the exercises of its lesson: 1.5 comes between 1 and 2
    points: float
    signature: str
    hints: tuple[str, ...]
    #: the inputs are rows that add up to 1, so gradients count only along such rows
    on_simplex: bool = False
    #: aten operations the answer may not use, e.g. {"_softmax"}
    forbidden: frozenset[str] = frozenset()
    #: what holds for every right answer, seen from the outputs alone; wrong values that keep to
    #: them earn a part of the points
    laws: tuple[Law, ...] = ()
    right: Callable = field(default=None, init=False, repr=False)
    slow: Callable = field(default=None, init=False, repr=False)
    compared: Callable | None = field(default=None, init=False, repr=False)
    _probes: Callable = field(default=None, init=False, repr=False)
    _wrong: list[Mistake] = field(default_factory=list, init=False, repr=False)
    _variants: list[Callable] = field(default_factory=list, init=False, repr=False)

    @property
    def known_wrong(self) -> tuple[Mistake, ...]:
        return tuple(self._wrong)

    @property
    def variants(self) -> tuple[Callable, ...]:
        return tuple(self._variants)

    @property
    def arguments(self) -> list[str]:
        """The names of the arguments of a call: `["q", "k", "v"]`."""
        call = self.signature.split(";")[-1]
        return [name.strip() for name in call.partition("(")[2].partition(")")[0].split(",")]

    @property
    def outputs(self) -> list[str]:
        """The names of what comes back, where it is several: `["context", "weights"]`."""
        found = re.search(r"-> \(([^)]*)\)", self.signature)
        return [name.strip() for name in found[1].split(",")] if found else []

    def probes(self, seed: int) -> tuple[Probe, ...]:
        """The inputs that follow from a seed; those that a law asks for come last."""
        own = tuple(self._probes(Draw(seed)))
        return own + tuple(law.change(own) for law in self.laws if law.change)

    def pairs(self) -> Iterator[Mistake]:
        """Two known mistakes at once, wherever one can be made on top of the other."""
        for second in self._wrong:
            for first in self._wrong:
                kernel = None if first is second else second.onto(first.kernel)
                if kernel:
                    yield _pair(first, second, kernel)

    # -- the decorators a lesson's file uses ---------------------------------------------

    def reference(self, kernel: Callable) -> Callable:
        """The right answer; it is run in float64."""
        self.right = kernel
        return kernel

    def twin(self, kernel: Callable) -> Callable:
        """The right answer once more in slow loops: the tests hold the reference against it."""
        self.slow = kernel
        return kernel

    def variant(self, kernel: Callable) -> Callable:
        """A right answer written differently: it must pass and never be given a name."""
        self._variants.append(kernel)
        return kernel

    def wrong(self, formula: str, step: str = "", onto: Callable = lambda kernel: None) -> Callable:
        """A wrong answer people really give; the docstring is what they will read."""

        def register(kernel: Callable) -> Callable:
            self._wrong.append(_documented(kernel, formula, step, kernel, onto))
            return kernel

        return register

    def on_top(self, formula: str, step: str = "") -> Callable:
        """A wrong answer that changes what goes into a kernel, or what comes out of it.

        `change(kernel, *args)` is given the right kernel, or that of another mistake: so the
        grader also knows the two of them together.
        """

        def register(change: Callable) -> Callable:
            def alone(*args: Any) -> Any:
                return change(self.right, *args)

            onto = partial(partial, change)
            self._wrong.append(_documented(change, formula, step, alone, onto))
            return change

        return register

    def probe(self, make: Callable[[Draw], Iterable[Probe]]) -> Callable:
        """The seeded inputs, made from a Draw."""
        self._probes = make
        return make

    def compare_by(self, canonical: Callable) -> Callable:
        """Where right answers may differ: `canonical(probe, value)` is compared in their place.

        It raises WrongForm, with what is wrong, for a value that cannot be compared.
        """
        self.compared = canonical
        return canonical

    def canonical(self, probe: Probe, value: object) -> object:
        """What is compared in a value's place; of one in a wrong form, what is wrong with it."""
        try:
            return self.compared(probe, value)
        except WrongForm as problem:
            return str(problem)


def _documented(
    source: Callable, formula: str, step: str, kernel: Callable, onto: Callable
) -> Mistake:
    """The mistake that a docstring tells of; ValueError where it ends in no question."""
    text, _, seen = cleandoc(source.__doc__).partition("\n\nSeen in ")
    *what, question = _SENTENCE.split(" ".join(text.split()))
    if not question.endswith("?"):
        raise ValueError(f"{source.__name__}: the docstring must end in a question")
    seen = " ".join(seen.removesuffix(".").split())
    return Mistake(source.__name__, formula, step, " ".join(what), question, seen, kernel, onto)


def _pair(first: Mistake, second: Mistake, kernel: Callable) -> Mistake:
    return Mistake(
        id=f"{first.id} + {second.id}",
        formula=f"{first.formula}, and with it {second.formula}",
        step=first.step if first.step == second.step else "",
        what=f"{first.what} {second.what}",
        question=first.question,
        seen="",
        kernel=kernel,
        onto=lambda kernel: None,
        parts=(first, second),
    )
