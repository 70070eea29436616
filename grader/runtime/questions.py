"""The inputs of probes without anything that tells what is asked: no label, no answer, no seed."""

from collections.abc import Callable
from typing import Any

from grader.probes import BlackBox, Generator, Linear, Probe


def asked(probes: tuple[Probe, ...]) -> list[dict[str, Any]]:
    """Plain values that can be sent to where the answer runs; a black box becomes its number."""
    boxes = [arg for probe in probes for arg in probe.args if isinstance(arg, BlackBox)]

    def plain(arg: Any) -> dict[str, Any]:
        if isinstance(arg, Linear):
            return {"linear": arg.weight}
        if isinstance(arg, Generator):
            return {"generator": [arg.seed, arg.used]}
        if isinstance(arg, BlackBox):
            return {"box": boxes.index(arg)}
        return {"value": arg}

    return [
        {
            "args": [plain(arg) for arg in probe.args],
            "init": list(probe.init) if probe.init is not None else None,
            "weights": probe.weights,
            "watched": probe.watched,
        }
        for probe in probes
    ]


def read_questions(questions: list[dict], call_box: Callable[..., Any]) -> tuple[Probe, ...]:
    """Probes again, with empty labels; `call_box(number, *args)` stands behind every box."""

    def made(arg: dict[str, Any]) -> Any:
        ((kind, held),) = arg.items()
        if kind == "linear":
            return Linear(held)
        if kind == "generator":
            return Generator(*held)
        if kind == "box":
            return BlackBox(lambda *args: call_box(held, *args))
        return held

    return tuple(
        Probe(
            label="",
            args=tuple(made(arg) for arg in question["args"]),
            init=tuple(question["init"]) if question["init"] is not None else None,
            weights=question["weights"],
            watched=question["watched"],
        )
        for question in questions
    )
