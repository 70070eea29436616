"""What holds for every right answer and can be seen from outputs alone, without the right ones.

Some laws look at each output by itself. Others compare two calls: then `change` makes the second
from the first, and the judge also holds it against the reference like any other.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from grader.compare import near
from grader.probes import BATCHES, VALUES, Probe

Outputs = dict[str, tuple[Probe, Any]]
SLACK = 1e-5  # rounding in float32


@dataclass(frozen=True)
class Law:
    """`holds({label: (probe, output)})`, None where it cannot be seen, and a question if it fails.

    A `decisive` law is as good as the values: without it an answer earns nothing.
    Example: `Law("rows add up to 1", "What is shared out?", holds)`
    """

    label: str
    question: str
    holds: Callable[[Outputs], bool | None]
    change: Callable[[tuple[Probe, ...]], Probe] | None = None
    decisive: bool = False


def on_each(label: str, question: str, holds: Callable[[Probe, Any], bool]) -> Law:
    """A law about each plain output by itself."""
    return Law(
        label,
        question,
        lambda found: all(holds(p, output) for p, output in found.values() if p.shows == VALUES),
    )


def on_two(
    label: str,
    question: str,
    shows: str,
    what: str,
    move: Callable[[Probe], tuple],
    agree: Callable[[Any, Any], bool],
) -> Law:
    """A law about the first probe that `shows` a property, and a copy with `move`d arguments."""

    def change(probes: tuple[Probe, ...]) -> Probe:
        first = next(p for p in probes if p.shows == shows)
        return replace(first, label=f"{first.label}, {what}", args=move(first), base=first.label)

    def holds(found: Outputs) -> bool | None:
        pairs = [
            (found[p.base][1], output)
            for label, (p, output) in found.items()
            if p.base in found and label == f"{p.base}, {what}"
        ]
        return all(agree(*pair) for pair in pairs) if pairs else None

    return Law(label, question, holds, change)


# -- laws about weights and contexts --------------------------------------------------------------


def rows_add_up_to_1(weights: Callable[[Any], Tensor]) -> Law:
    """Example: `rows_add_up_to_1(lambda output: output[1])`."""
    return on_each(
        "rows of weights add up to 1",
        "Along which axis do the weights of one query lie, and what is it divided by?",
        lambda _, output: near(weights(output).sum(-1), torch.ones(weights(output).shape[:-1])),
    )


def inside_the_values(values: Callable[[Probe], Tensor], context: Callable[[Any], Tensor]) -> Law:
    """No weighted average leaves the range of what is averaged, feature by feature."""

    def holds(probe: Probe, output: Any) -> bool:
        v, found = values(probe), context(output)
        low, high = v.amin(-2, keepdim=True) - SLACK, v.amax(-2, keepdim=True) + SLACK
        return bool(((found >= low) & (found <= high)).all())

    return on_each(
        "results stay inside the range of the values",
        "An average lies between its smallest and largest part. Which weights make yours leave?",
        holds,
    )


def permuted_with_the_tokens(*inputs: int) -> Law:
    """Other order in, the same order out: the rows of these arguments are moved.

    Example: `permuted_with_the_tokens(0, 1, 2)` moves q, and k with v.
    """

    def order(length: int) -> Tensor:
        return torch.arange(length).roll(2)

    def move(probe: Probe) -> tuple:
        return tuple(
            a[..., order(a.shape[-2]), :] if i in inputs else a for i, a in enumerate(probe.args)
        )

    def moved(output: Any) -> Any:
        if isinstance(output, tuple):
            context, weights = output
            return moved(context), moved(weights)[..., order(weights.shape[-1])]
        return output[..., order(output.shape[-2]), :]

    return on_two(
        "another order of the tokens gives the same rows in that order",
        "Which line treats a token by its place, and not by its vector?",
        VALUES,
        "in another order",
        move,
        lambda first, second: near(moved(first), second),
    )


def future_does_not_matter(*inputs: int) -> Law:
    """Changing the last rows of these arguments leaves the rows before them as they were.

    Example: `future_does_not_matter(0, 1, 2)` changes q, k and v.
    """

    def changed(x: Tensor) -> Tensor:
        x = x.clone()
        x[..., x.shape[-2] // 2 :, :] = x[..., x.shape[-2] // 2 :, :].flip(-1) + 1
        return x

    def move(probe: Probe) -> tuple:
        return tuple(changed(a) if i in inputs else a for i, a in enumerate(probe.args))

    def before(output: Any) -> Any:
        if isinstance(output, tuple):
            return tuple(map(before, output))
        return output[..., : output.shape[-2] // 2, :]

    return on_two(
        "no row depends on a later one",
        "Which rows may row 0 know, and which entries of the weights must then be 0?",
        VALUES,
        "the later rows changed",
        move,
        lambda first, second: near(before(first), before(second)),
    )


def items_stay_apart(shift: float = 1.0) -> Law:
    """Changing the second item of a batch leaves the result of the first as it was.

    The item is turned round and shifted; a `shift` of 0 keeps rows that add up to 1.
    """

    def move(probe: Probe) -> tuple:
        deep = max(a.dim() for a in probe.args if isinstance(a, Tensor))
        return tuple(
            torch.stack([a[0], a[1].flip(*range(deep - 1)) + shift])
            if isinstance(a, Tensor) and a.dim() == deep
            else a
            for a in probe.args
        )

    def first_items(output: Any) -> Any:
        return tuple(map(first_items, output)) if isinstance(output, tuple) else output[:1]

    return on_two(
        "items of a batch do not mix",
        "With a batch, axis 0 is the batch: which of your axes is counted from the front?",
        BATCHES,
        "the second item changed",
        move,
        lambda first, second: near(first_items(first), first_items(second)),
    )
