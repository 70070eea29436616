"""Turns whatever came back, or was raised, into plain values that can be written to disk."""

import linecache
import os
import traceback
import types
from typing import Any

import numpy
import torch
from torch import Tensor

from grader.wire import DTYPES, Other

LONGEST_TEXT = 300
MOST_ITEMS = 64
PACKAGE = os.path.dirname(__file__)


def plain(value: Any, depth: int = 0) -> Any:
    """The value with nothing of the student's left in it: see `Call`."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, numpy.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str):
        return _words(value)
    if isinstance(value, tuple | list) and depth < 3 and len(value) <= MOST_ITEMS:
        return tuple(plain(item, depth + 1) for item in value)
    if isinstance(value, dict) and depth < 3 and len(value) <= MOST_ITEMS:
        return {_words(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, types.CoroutineType | types.GeneratorType):
        value.close()  # or Python complains on stderr that it was never awaited
    return Other(type(value).__name__)


def _plain_tensor(value: Tensor) -> Tensor | Other:
    """A dense copy on the CPU, or what kind of tensor it is if it cannot be one."""
    if kind := _unusual(value):
        return Other(kind)
    try:
        with torch._C.DisableTorchFunctionSubclass():
            copy = torch.Tensor.detach(value).as_subclass(torch.Tensor).cpu().clone()
            if type(copy) is torch.Tensor:
                copy.untyped_storage()  # a tensor in name only has no memory
            else:
                copy.sum().item()  # nor numbers to add
            return copy
    except Exception:
        return Other("tensor without numbers")


def _unusual(value: Tensor) -> str:
    """What sets a tensor apart from a dense one, or an empty string."""
    if value.device.type == "meta":
        return "tensor without data"
    if value.is_nested:
        return "nested tensor"
    if value.is_quantized:
        return "quantized tensor"
    if value.layout is not torch.strided:
        return "sparse tensor"
    if value.is_complex():
        return "complex tensor"
    return "" if value.dtype in DTYPES else f"tensor of type {value.dtype}"


def _words(text: str) -> str:
    """At most LONGEST_TEXT characters that can be written anywhere."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def error_text(error: BaseException) -> str:
    try:
        text = _words(" ".join(str(error).split()))
    except BaseException:  # an exception may be written to fail when it is printed
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def student_line(error: BaseException) -> str:
    """The deepest line outside this package and outside libraries, e.g. 'line 3: q @ k'."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "site-packages" in frame.filename or frame.filename.startswith(PACKAGE):
            continue
        line = linecache.getline(frame.filename, frame.lineno or 0).strip()
        return _words(f"line {frame.lineno}: {line}") if line else ""
    return ""
