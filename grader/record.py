"""What came back from an answer, as plain tensors and strings: the only thing the judge sees."""

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from grader.wire import Garbled, is_plain


@dataclass(frozen=True)
class Call:
    """What one probe brought to light.

    `output` and `again` are the values of two calls, `reloaded` of a third, in which a module has
    other weights and is in eval mode: tensors, numbers, strings, None, tuples, dicts with string
    keys, or `Other`.
    `error`, `second_error` and `gradient_error` are what was raised, `where` the last line that
    raised. `kept` is False if the first output changed later. `gradients[i]` maps each floating
    input (by position) and each parameter (by name) to the gradient of output i, or None.
    `constants`: a module keeps floating numbers beside its parameters.
    `changed` maps each input (by position) that was written into to what it is now.
    `peak` is how many numbers the answer's own tensors held at once, where it was watched.
    """

    output: Any = None
    again: Any = None
    reloaded: Any = None
    error: str = ""
    where: str = ""
    second_error: str = ""
    kept: bool = True
    gradient_error: str = ""
    gradients: tuple[dict[str, Tensor | None], ...] = ()
    changed: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, list[int]] | None = None
    shared: tuple[str, ...] = ()
    constants: bool = False
    operations: tuple[str, ...] = ()
    peak: int = 0


@dataclass(frozen=True)
class Observation:
    """One `Call` for each probe, or `refused`: why the answer could not be called at all.

    `reads` lists the numbers and tensors outside itself that the answer reads, by name.
    """

    calls: tuple[Call, ...] = ()
    refused: str = ""
    reads: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def to_plain(self) -> dict[str, Any]:
        """Plain values, as `grader.wire` sends them."""
        return vars(self) | {"calls": [vars(call) for call in self.calls]}

    @classmethod
    def from_plain(cls, values: Any) -> "Observation":
        """What `to_plain` made, from a hand that need not be honest: every field is looked at.

        Raises Garbled if it is anything else.
        """
        fields = _checked(values, _OBSERVATION)
        calls = tuple(Call(**_checked(call, _CALL)) for call in fields.pop("calls"))
        return cls(calls=calls, **fields)


def _texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)


def _names(value: Any) -> bool:
    return _texts(value) and all(item.isidentifier() and len(item) < 80 for item in value)


def _gradients(value: Any) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(each, dict) and all(isinstance(g, Tensor | None) for g in each.values())
        for each in value
    )


def _parameters(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(isinstance(s, list) and all(type(n) is int for n in s) for s in value.values())
    )


def _by_position(value: Any) -> bool:
    return isinstance(value, dict) and all(key.isdecimal() and len(key) < 3 for key in value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


#: what each field must be; all are plain besides
_CALL = {
    "output": is_plain, "again": is_plain, "reloaded": is_plain, "error": _text, "where": _text,
    "second_error": _text, "kept": _truth, "gradient_error": _text, "gradients": _gradients,
    "changed": _by_position, "parameters": _parameters,
    "shared": _texts, "constants": _truth, "operations": _texts,
    "peak": _count,
}  # fmt: skip
_OBSERVATION = {
    "calls": lambda value: isinstance(value, list),
    "refused": _text, "reads": _names, "seconds": lambda value: isinstance(value, float),
}  # fmt: skip


def _checked(values: Any, fields: dict) -> dict[str, Any]:
    if not isinstance(values, dict) or values.keys() != fields.keys():
        raise Garbled("a record without the fields of one")
    for name, fits in fields.items():
        plain = name == "calls" or is_plain(values[name], most=256)
        if not (plain and fits(values[name])):
            raise Garbled(f"{name} is not what it should be")
    return dict(values)
