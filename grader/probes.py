"""The vocabulary for seeded inputs: sizes differ, values have both signs and a spread near 1."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from grader.tiny import Tiny

VALUES = "right values"
FLOAT64 = "right values in float64"
LAYOUT = "inputs in any memory layout"
BATCHES = "any leading batch dimensions"
SQUARE = "right values when all sizes are equal"
EDGES = "the smallest sizes"
EXTREMES = "right values at large scores"
LARGE = "values of any size"
#: what an answer may get wrong in its own way without being another kernel
BESIDES = (FLOAT64, LAYOUT, EXTREMES, LARGE)


@dataclass(frozen=True)
class Generator:
    """An argument: a torch.Generator, seeded anew for every call, that has drawn `used` numbers."""

    seed: int
    used: int = 0

    def make(self) -> torch.Generator:
        generator = torch.Generator().manual_seed(self.seed)
        torch.rand(self.used, generator=generator)
        return generator


@dataclass(frozen=True)
class Linear:
    """An argument: a bias-free nn.Linear that holds `weight` (d_out, d_in)."""

    weight: Tensor

    def make(self) -> nn.Linear:
        linear = nn.Linear(*reversed(self.weight.shape), bias=False, dtype=self.weight.dtype)
        linear.weight.data.copy_(self.weight)
        return linear


@dataclass(frozen=True)
class BlackBox:
    """An argument: a function that can be called but not looked into.

    It is also a module without parameters, for whoever says `model.eval()` first.
    """

    kernel: Callable

    def make(self) -> nn.Module:
        box = nn.Module()
        box.forward = lambda *args: self.kernel(*args)
        return box


@dataclass(frozen=True, eq=False)
class Models:
    """An argument: trained language models by name, each from its parameters and `weights_of`.

    Example: `Models({"amber": (state, lambda q, k: weights)}).make()["amber"](ids)` -> logits
    """

    held: dict[str, tuple[dict[str, Tensor], Callable]]

    def make(self) -> dict[str, nn.Module]:
        return {name: Tiny.holding(*each) for name, each in self.held.items()}

    def kept(self, models: dict[str, nn.Module]) -> bool:
        """Whether what was made has the same names and parameters; a hook may stay on."""
        return list(models) == list(self.held) and all(
            torch.equal(p, state[name])
            for model, (state, _) in zip(models.values(), self.held.values(), strict=True)
            for name, p in model.state_dict().items()
        )


@dataclass(frozen=True)
class Probe:
    """One call of the answer: `answer(*args)`, or for a class `answer(*init)(*args)`.

    `shows` is the property that a right output on this probe shows, in the student's words. A
    class is also given `weights`, by name. `rtol` and `atol` replace the usual tolerance;
    `gradients` says what is asked of them: "right", "finite" or "none". `compare=False` records
    the output for an exercise's own laws only; `watched` notes which of torch's operations ran,
    and how many numbers they kept at once, which must not be more than `most`, if that is given.
    `base` is the label of the probe that a law made this one from; with the `earlier`
    tensors the same function or instance is called before.
    Example: `Probe("no batch", (draw(5, 3),))`
    """

    label: str
    args: tuple[Any, ...]
    shows: str = VALUES
    init: tuple[int, ...] | None = None
    weights: dict[str, Tensor] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None
    gradients: str = "right"
    compare: bool = True
    watched: bool = False
    most: int | None = None
    base: str = ""
    earlier: tuple[Tensor, ...] = ()

    @property
    def dtype(self) -> torch.dtype | None:
        """The floating dtype of the inputs, None when no input has one."""
        tensors = [getattr(a, "weight", a) for a in (*self.args, *self.weights.values())]
        kinds = (t.dtype for t in tensors if isinstance(t, Tensor) and t.is_floating_point())
        return next(kinds, None)

    @property
    def exact(self) -> "Probe":
        """The same probe in float64."""
        return self.to(torch.float64)

    def to(self, dtype: torch.dtype) -> "Probe":
        """The same probe with its floating tensors in another dtype."""

        def cast(value: Any) -> Any:
            if isinstance(value, Linear):
                return Linear(cast(value.weight))
            floating = isinstance(value, Tensor) and value.is_floating_point()
            return value.to(dtype) if floating else value

        return replace(
            self,
            args=tuple(cast(a) for a in self.args),
            earlier=tuple(cast(a) for a in self.earlier),
            weights={name: cast(w) for name, w in self.weights.items()},
        )


class Draw:
    """Standard normal float32 tensors from a seed: `Draw(0)(2, 5)` has shape (2, 5)."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def weights(self, *shape: int) -> Tensor:
        """Positive rows that add up to 1 exactly: multiples of 1/4096."""
        parts = (4096 * torch.softmax(self(*shape), dim=-1)).floor().clamp(min=1)
        rest = 4096 - parts.sum(dim=-1, keepdim=True)
        return parts.scatter_add(-1, parts.argmax(dim=-1, keepdim=True), rest) / 4096

    def seed(self) -> int:
        return int(torch.randint(2**31, (), generator=self.generator))


def strided(tensor: Tensor) -> Tensor:
    """The same values in another memory layout: no longer contiguous."""
    return tensor.transpose(0, -1).contiguous().transpose(0, -1)


def usual(
    draw: Draw,
    *shapes: tuple[int, ...],
    fixed: tuple[tuple[int, ...], ...] = (),
    make: Callable | None = None,
    watched: bool = False,
) -> Iterator[Probe]:
    """One set of sizes in every form: twice plain, in float64, with batch axes, not contiguous.

    `fixed` are the shapes of further arguments that never get a batch axis; `make` draws the
    others, from a normal distribution if not given.
    """
    make = make or draw
    *first, last = ["×".join(map(str, shape)) for shape in shapes]
    names = f"{', '.join(first)} and {last}" if first else last

    def call(label: str, shows: str, *lead: int) -> Probe:
        args = [make(*lead, *shape) for shape in shapes] + [draw(*shape) for shape in fixed]
        return Probe(label.format(names), tuple(args), shows, watched=watched)

    yield call("{}", VALUES)
    # The same sizes again, for an answer that remembers; zeros, for one that takes them for gaps.
    again = call("{}, the first row zero", VALUES)
    if make is draw:
        for arg in again.args[: len(shapes)]:
            arg[0] = 0
    yield again
    yield call("{}, float64", FLOAT64).exact
    yield call("a batch of 2, each {}", BATCHES, 2)
    yield call("a batch of 2×3, each {}", BATCHES, 2, 3)
    yield call("a batch of 1×2×1, each {}", BATCHES, 1, 2, 1)
    for plain in (
        call("{}, not contiguous", LAYOUT),
        call("a batch of 3×2, each {}, not contiguous", BATCHES, 3, 2),
    ):
        yield replace(plain, args=tuple(strided(arg) for arg in plain.args))
