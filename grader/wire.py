"""Plain values and tensors as bytes, and frames of bytes on a socket: nothing in them can run."""

import json
import math
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

MOST_BYTES = 16 * 2**20
MOST_TEXT = 2 * 2**20  # of JSON in a frame
MOST_AXES = 16
LONGEST_WORDS = 400  # characters
SECONDS = 60.0  # for one frame, from its first byte to its last
DTYPES = {
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
}  # fmt: skip
_LENGTH = struct.Struct("<Q")


class Garbled(ValueError):
    """What came over the wire is not what `pack` writes; the message says how."""


@dataclass(frozen=True)
class Other:
    """A value that is neither a tensor, a number, a string nor a collection of those."""

    kind: str


def pack(value: Any) -> bytes:
    """A plain value as JSON, followed by its tensors as safetensors.

    Plain are tensors, numbers, strings, None, `Other`, and tuples, lists and dicts of those.
    Example: `unpack(pack({"x": torch.ones(2)}))["x"]` -> tensor([1., 1.])
    """
    rows = _Rows()
    text = json.dumps(_written(value, rows)).encode()
    return _LENGTH.pack(len(text)) + text + save(rows.joined())


def unpack(data: bytes) -> Any:
    """What `pack` was given; raises Garbled for any other bytes."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        if length > MOST_TEXT:
            raise Garbled(f"a text of {length} bytes, more than {MOST_TEXT}")
        rest = memoryview(data)[_LENGTH.size :]
        plain, tensors = json.loads(bytes(rest[:length])), load(bytes(rest[length:]))
        return _read(plain, tensors)
    except Garbled:
        raise
    except (
        struct.error, SafetensorError, ValueError, TypeError, KeyError, AttributeError,
        RecursionError, RuntimeError,
    ) as error:  # fmt: skip
        raise Garbled(f"not readable: {type(error).__name__}") from None


def send(line: socket.socket, value: Any) -> None:
    """Write one frame: eight bytes of length, then `pack(value)`."""
    data = pack(value)
    line.sendall(_LENGTH.pack(len(data)) + data)


def receive(line: socket.socket, most: int = MOST_BYTES, seconds: float = SECONDS) -> Any:
    """Read one frame; raises Garbled if it is too long, cut off or not there in time."""
    end = time.monotonic() + seconds
    (length,) = _LENGTH.unpack(_exactly(line, _LENGTH.size, end))
    if length > most:
        raise Garbled(f"a frame of {length} bytes, more than {most}")
    return unpack(_exactly(line, length, end))


def _exactly(line: socket.socket, count: int, end: float) -> bytes:
    got = bytearray()
    while len(got) < count:
        try:
            line.settimeout(max(0.001, end - time.monotonic()))
            piece = line.recv(min(count - len(got), 2**20))
        except TimeoutError:
            raise Garbled("a frame that did not come in time") from None
        if not piece:
            raise Garbled("a frame that was cut off")
        got += piece
    return bytes(got)


class _Rows:
    """The numbers of many tensors, one long row for each dtype: a file of safetensors with few."""

    def __init__(self) -> None:
        self._parts: dict[torch.dtype, list[Tensor]] = {}
        self._lengths: dict[torch.dtype, int] = {}

    def add(self, tensor: Tensor) -> list:
        """The name of the row, where in it the tensor starts, its shape, and the order of axes."""
        order = sorted(range(tensor.dim()), key=lambda axis: -tensor.stride(axis))
        laid_out = tensor.permute(order)
        start = self._lengths.get(tensor.dtype, 0)
        self._parts.setdefault(tensor.dtype, []).append(laid_out.reshape(-1))
        self._lengths[tensor.dtype] = start + tensor.numel()
        return [_name(tensor.dtype), start, list(laid_out.shape), order]

    def joined(self) -> dict[str, Tensor]:
        return {_name(dtype): torch.cat(parts) for dtype, parts in self._parts.items()}


def _name(dtype: torch.dtype) -> str:
    """`_name(torch.float32)` -> `float32`."""
    return str(dtype).removeprefix("torch.")


def _written(value: Any, rows: _Rows) -> Any:
    """A JSON value; the numbers of each tensor go to `rows`."""
    if isinstance(value, Tensor):
        return {"tensor": rows.add(value)}
    if isinstance(value, Other):
        return {"other": value.kind}
    if isinstance(value, tuple):
        return {"tuple": [_written(item, rows) for item in value]}
    if isinstance(value, list):
        return [_written(item, rows) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, _written(item, rows)] for key, item in value.items()]}
    return value


def _read(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_read(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, held),) = value.items()
    if kind == "tensor":
        name, start, shape, order = held
        if max(len(order), len(shape)) > MOST_AXES:
            raise Garbled(f"a tensor of more than {MOST_AXES} axes")
        if not all(type(number) is int and number >= 0 for number in (start, *shape)):
            raise Garbled("a tensor without a place")
        numbers = tensors[name][start : start + math.prod(shape)].reshape(shape)
        return numbers.permute([order.index(axis) for axis in range(len(order))])
    if kind == "other":
        return Other(held)
    if kind == "tuple":
        return tuple(_read(item, tensors) for item in held)
    if kind == "dict":
        return {key: _read(item, tensors) for key, item in held}
    raise Garbled(f"a value of the unknown kind {kind!r}"[:80])


def is_plain(value: Any, depth: int = 4, most: int = 64) -> bool:
    """Whether a value is as small and as plain as what `plain` makes of a result."""
    if isinstance(value, str):
        # half a character can be sent, but not be written into any file
        return len(value) <= LONGEST_WORDS and value == value.encode("utf-8", "replace").decode()
    if isinstance(value, Other):
        return isinstance(value.kind, str) and is_plain(value.kind, depth, most)
    if isinstance(value, int):
        return abs(value) < 2**63
    if isinstance(value, tuple | list):
        return (
            depth > 0
            and len(value) <= most
            and all(is_plain(item, depth - 1, most) for item in value)
        )
    if isinstance(value, dict):
        words = all(isinstance(key, str) and is_plain(key, depth, most) for key in value)
        return words and is_plain(tuple(value.values()), depth, most)
    if isinstance(value, Tensor):
        return value.dtype in DTYPES and value.dim() <= MOST_AXES
    return value is None or isinstance(value, float)
