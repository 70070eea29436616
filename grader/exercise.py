"""What an exercise is: one declaration with everything the grader knows about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from grader.probes import Draw, Probe

STEPS = ("score", "scale", "mask", "normalise", "mix")


@dataclass(frozen=True)
class Mistake:
    """A known-wrong kernel: it can be called like an answer, and says what is wrong with it.

    `id` is the kernel's name, `text` its docstring, which the student reads: what was computed
    and a question to think about. `step` is one of STEPS, or "" where none of them fits.
    Example: `Mistake("no_scale", "softmax(q kᵀ) v", "scale", "Your scores ...", kernel)`
    """

    id: str
    formula: str
    step: str
    text: str
    kernel: Callable = field(repr=False)

    def __call__(self, *args: Any) -> Any:
        return self.kernel(*args)


@dataclass(eq=False)
class Exercise:
    """One exercise: its contract, the right kernel, the known-wrong ones, and the probes.

    The kernels are added with decorators, in the lesson's file:
    `@softmax.reference`, `@softmax.twin`, `@softmax.variant`, `@softmax.wrong(formula, step)`,
    `@softmax.probe`, and where answers may differ in form `@softmax.compare_by`.
    """

    name: str
    lesson: str
    place: int  # among the exercises of its lesson
    points: float
    signature: str
    hints: tuple[str, ...]
    #: the inputs are rows that add up to 1, so gradients count only along such rows
    on_simplex: bool = False
    #: aten operations the answer may not use, e.g. {"_softmax"}
    forbidden: frozenset[str] = frozenset()
    right: Callable = field(default=None, init=False, repr=False)
    slow: Callable = field(default=None, init=False, repr=False)
    compared: Callable | None = field(default=None, init=False, repr=False)
    laws: dict[str, tuple[Callable, str]] = field(default_factory=dict, init=False, repr=False)
    _probes: Callable = field(default=None, init=False, repr=False)
    _wrong: list[Mistake] = field(default_factory=list, init=False, repr=False)
    _variants: list[Callable] = field(default_factory=list, init=False, repr=False)

    @property
    def known_wrong(self) -> tuple[Mistake, ...]:
        return tuple(self._wrong)

    @property
    def variants(self) -> tuple[Callable, ...]:
        return tuple(self._variants)

    def probes(self, seed: int) -> tuple[Probe, ...]:
        """The inputs for one seed; the same seed gives the same inputs."""
        return tuple(self._probes(Draw(seed)))

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

    def wrong(self, formula: str, step: str = "") -> Callable:
        """A wrong answer people really give; the docstring is what they will read."""

        def register(kernel: Callable) -> Callable:
            text = " ".join(kernel.__doc__.split())
            self._wrong.append(Mistake(kernel.__name__, formula, step, text, kernel))
            return kernel

        return register

    def probe(self, make: Callable[[Draw], Iterable[Probe]]) -> Callable:
        """The seeded inputs, made from a Draw."""
        self._probes = make
        return make

    def compare_by(self, canonical: Callable) -> Callable:
        """Where right answers may differ: `canonical(probe, value)` is compared in their place."""
        self.compared = canonical
        return canonical

    def law(self, label: str, question: str) -> Callable:
        """A property that no single probe shows: `holds({label of the probe: output})`."""

        def register(holds: Callable) -> Callable:
            self.laws[label] = (holds, question)
            return holds

        return register
