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
    if not evidence.call.where:
        return "", "Which name or which call in your code does the error speak of?"
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
        "A view needs numbers that lie in memory in the order of the axes; after a transpose or "
        "a slice they do not."
    )
    return said, "Which function copies them into that order where it must?"


def _no_super() -> tuple[str, str]:
    said = "A module takes in its maps only when its own beginnings are made."
    return said, "Which line has to come first in __init__?"


def _no_forward() -> tuple[str, str]:
    said = "A module that is called looks for a method of that name, and finds none."
    return said, "How is yours spelt, and is it indented as a part of the class?"


def _no_module() -> tuple[str, str]:
    return "A class is asked for.", "From which class is it made, and what is given back here?"


def _name_unknown() -> tuple[str, str]:
    return "", "Where is that name given a value, and how is it spelt there?"


def _number_for_a_tensor() -> tuple[str, str]:
    said = "That function of torch takes tensors, and this is a plain number."
    return said, "Which power takes the root of a number?"


def _no_truths_to_turn() -> tuple[str, str]:
    said = "~ turns True and False round."
    return said, "Which dtype do torch.ones and tril give, and which one does ~ need?"


def _truth_as_number() -> tuple[str, str]:
    said = "True and False are no numbers to torch."
    return said, "Which function makes a number of a truth value?"


def _too_much_memory(size: int) -> tuple[str, str]:
    return f"It asked for {size / 1e9:.1f} GB at once.", "Does that tensor have to be made at all?"


def _given_function(takes: int, given: int) -> tuple[str, str]:
    said = f"The function that you were given takes {takes}, and you called it with {given}."
    return said, "What does the task say it is called with?"


def _asserted() -> tuple[str, str]:
    said = "An assert raises an error where a value is to come back."
    return said, "What should come back where the two differ?"


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
    (r"before Module.__init__\(\) call", _no_super),
    (r"missing the required \"forward\" function", _no_forward),
    (r"is not an nn.Module", _no_module),
    (r"^(?:NameError|UnboundLocalError)", _name_unknown),
    (r"must be Tensor, not (?:int|float)", _number_for_a_tensor),
    (r"^TypeError: ~ ", _no_truths_to_turn),
    (r"with (?:a|two) bool tensor", _truth_as_number),
    (r"tried to allocate (\d+) bytes", _too_much_memory),
    (r"<lambda>\(\) takes (\d+) positional arguments? but (\d+)", _given_function),
    (r"^AssertionError", _asserted),
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
    return f"{size} is the length {' and '.join(places[:6])}." if places else ""
