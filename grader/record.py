"""What came back from an answer, as plain tensors and strings: the only thing the judge sees."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor


@dataclass(frozen=True)
class Other:
    """A value that is neither a tensor, a number, a string nor a collection of those."""

    kind: str


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


@dataclass(frozen=True)
class Observation:
    """One `Call` for each probe, or `refused`: why the answer could not be called at all.

    `reads` lists the numbers and tensors outside itself that the answer reads, by name.
    """

    calls: tuple[Call, ...] = ()
    refused: str = ""
    reads: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    def save(self, path: Path) -> None:
        """Write a safetensors file whose header holds everything that is not a tensor."""
        tensors: dict[str, Tensor] = {}
        calls = [vars(call) for call in self.calls]
        plain = _pack(vars(self) | {"calls": calls}, tensors)
        save_file(tensors, path, metadata={"observation": json.dumps(plain)})

    @classmethod
    def load(cls, path: Path) -> "Observation":
        """Read back what `save` wrote; no pickle is involved."""
        with safe_open(path, framework="pt") as file:
            plain = json.loads(file.metadata()["observation"])
            values = _unpack(plain, {name: file.get_tensor(name) for name in file.keys()})
        calls = tuple(Call(**call) for call in values.pop("calls"))
        return cls(calls=calls, **values)


def _pack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """A JSON value; each tensor goes to `tensors` and leaves its name behind."""
    if isinstance(value, Tensor):
        name = f"t{len(tensors)}"
        tensors[name] = value.contiguous().clone()
        return {"tensor": name}
    if isinstance(value, Other):
        return {"other": value.kind}
    if isinstance(value, tuple):
        return {"tuple": [_pack(item, tensors) for item in value]}
    if isinstance(value, list):
        return [_pack(item, tensors) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, _pack(item, tensors)] for key, item in value.items()]}
    return value


def _unpack(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "tensor":
        return tensors[held]
    if kind == "other":
        return Other(held)
    if kind == "tuple":
        return tuple(_unpack(item, tensors) for item in held)
    return {key: _unpack(item, tensors) for key, item in held}
