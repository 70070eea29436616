"""The inputs of probes without anything that tells what is asked: no label, no answer, no seed."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from grader.probes import BlackBox, Generator, Linear, Models, Probe


def black_boxes(probes: tuple[Probe, ...]) -> Iterator[Callable]:
    """What stands behind box number 0, 1, 2, ... of these probes."""
    for arg in (arg for probe in probes for arg in probe.args):
        if isinstance(arg, BlackBox):
            yield arg.kernel
        if isinstance(arg, Models):
            yield from (weights_of for _, weights_of in arg.held.values())


def asked(probes: tuple[Probe, ...]) -> list[dict[str, Any]]:
    """Plain values that can be sent to where the answer runs; a black box becomes its number."""
    numbers = count()

    def plain(arg: Any) -> dict[str, Any]:
        if isinstance(arg, Linear):
            return {"linear": arg.weight}
        if isinstance(arg, Generator):
            return {"generator": [arg.seed, arg.used]}
        if isinstance(arg, BlackBox):
            return {"box": next(numbers)}
        if isinstance(arg, Models):
            return {"models": {n: [state, next(numbers)] for n, (state, _) in arg.held.items()}}
        return {"value": arg}

    return [
        {
            "args": [plain(arg) for arg in probe.args],
            "earlier": list(probe.earlier),
            "init": list(probe.init) if probe.init is not None else None,
            "weights": probe.weights,
            "watched": probe.watched,
        }
        for probe in probes
    ]


def read_questions(questions: list[dict], call_box: Callable[..., Any]) -> tuple[Probe, ...]:
    """Probes again, with empty labels; `call_box(number, *args)` stands behind every box."""

    def box(number: int) -> Callable:
        return lambda *args: call_box(number, *args)

    def made(arg: dict[str, Any]) -> Any:
        ((kind, held),) = arg.items()
        if kind == "linear":
            return Linear(held)
        if kind == "generator":
            return Generator(*held)
        if kind == "box":
            return BlackBox(box(held))
        if kind == "models":
            return Models({name: (state, box(number)) for name, (state, number) in held.items()})
        return held

    return tuple(
        Probe(
            label="",
            args=tuple(made(arg) for arg in question["args"]),
            earlier=tuple(question["earlier"]),
            init=tuple(question["init"]) if question["init"] is not None else None,
            weights=question["weights"],
            watched=question["watched"],
        )
        for question in questions
    )
