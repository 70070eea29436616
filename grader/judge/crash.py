"""What an error about sizes means, in the terms of the task: which axis, and what would fit."""

import re
from collections.abc import Callable

from torch import Tensor

from grader.judge.evidence import Evidence

#: raised by the call of the answer itself, not of a function inside it
_ARGUMENTS = re.compile(r"^TypeError: (?!.*<locals>).*\(\) (takes|missing) .*\bargument")


def meaning(evidence: Evidence) -> tuple[str, str]:
    """What the error says, and a question; of an unknown one nothing, and a question for all."""
    for pattern, say in _KNOWN:
        if found := re.search(pattern, evidence.call.error):
            numbers = [int(number) for number in found.groups()]
            said, question = say(*numbers)
            whose = (_whose(n, evidence) for n in dict.fromkeys(numbers) if n > 1)
            return " ".join([said, *filter(None, whose)]), question
    if not evidence.call.where and _ARGUMENTS.search(evidence.call.error):
        asked_for = evidence.exercise.signature.partition(" ->")[0]
        return f"It is called as {asked_for}.", "Which names stand in the brackets of yours?"
    return "", "What does each name in that line hold, and with which shape?"


def _product(a: int, b: int, c: int, d: int) -> tuple[str, str]:
    said = f"In a product A B the columns of A ({b}) must be as many as the rows of B ({c})."
    if b == d:
        said += f" With B transposed it would be {a}×{b} times {d}×{c}, and give {a}×{c}."
    elif a == c:
        said += f" With A transposed it would be {b}×{a} times {c}×{d}, and give {b}×{d}."
    return said, "Over which axis should the products be added up?"


def _batched_product(batch: int, rows: int, got_batch: int, got: int) -> tuple[str, str]:
    if batch == got_batch:
        return _product(0, rows, got, 0)
    said = f"One factor is a batch of {batch}, the other a batch of {got_batch}."
    return said, "Which axes should be swapped, and which should stay in front?"


def _elementwise(a: int, b: int, axis: int) -> tuple[str, str]:
    said = (
        f"Number by number, an axis of length {a} was to meet one of length {b}. Only equal "
        "lengths, or a length of 1, can meet."
    )
    return said, "Which two shapes meet there?"


def _no_such_axis(low: int, high: int, axis: int) -> tuple[str, str]:
    said = f"There is no axis {axis}: this tensor has {high + 1} axes."
    return said, "Which number means the last axis, however many there are?"


def _two_dtypes() -> tuple[str, str]:
    said = "Two tensors of different dtypes met."
    return said, "Which line makes a tensor in another dtype than the inputs have?"


def _reshaped(size: int) -> tuple[str, str]:
    return f"There are {size} numbers, which do not fill that shape.", "How many would fill it?"


def _out_of_order() -> tuple[str, str]:
    said = (
        "A view needs numbers that lie in memory in the order of the axes; after a transpose they "
        "do not."
    )
    return said, "Which function copies them into that order where it must?"


_KNOWN: tuple[tuple[str, Callable[..., tuple[str, str]]], ...] = (
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _product),
    (r"batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]", _batched_product),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) "
        r"at non-singleton dimension (\d+)",
        _elementwise,
    ),
    (r"expected to be in range of \[(-?\d+), (\d+)\], but got (-?\d+)", _no_such_axis),
    (r"same dtype|expected scalar type", _two_dtypes),
    (r"is invalid for input of size (\d+)", _reshaped),
    (r"view size is not compatible", _out_of_order),
)


def _whose(size: int, evidence: Evidence) -> str:
    """Whose axis has this length: `7 is the length of axis -2 of k and of axis -2 of v.`"""
    names = evidence.exercise.arguments
    places = [
        f"of axis {axis - arg.dim()} of {name}"
        for name, arg in zip(names, evidence.probe.args, strict=False)
        if isinstance(arg, Tensor)
        for axis, length in enumerate(arg.shape)
        if length == size
    ]
    return f"{size} is the length {' and '.join(places[:3])}." if places else ""
