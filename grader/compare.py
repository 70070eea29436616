"""Says how two recorded values differ: in kind, in shape, or in numbers."""

import math
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grader.wire import Other

#: (relative, absolute) differences that rounding explains
ROUNDING = {torch.float64: (3e-9, 1e-10), torch.float32: (2e-5, 1e-5)}
_WORDS = str | Other | None


def close(got: Any, want: Any, rtol: float, atol: float) -> bool:
    """Same structure, and every number within `atol + rtol * |want|`; NaN equals NaN.

    Example: `close((1.0, "a"), (1.0 + 1e-12, "a"), 1e-8, 1e-9)` -> True
    """
    if structure_problem(got, want):
        return False
    pairs = zip(_leaves(got), _leaves(want), strict=True)
    return all(_leaf_close(g, w, rtol, atol) for g, w in pairs)


def largest_difference(got: Any, want: Any) -> float:
    """The largest absolute difference; infinite where only one side is finite."""
    pairs = zip(_leaves(got), _leaves(want), strict=True)
    with np.errstate(all="ignore"):
        gaps = [abs(_numbers(g) - _numbers(w)) for g, w in pairs if not isinstance(w, _WORDS)]
    worst = max((float(gap.max()) for gap in gaps if gap.size), default=0.0)
    return math.inf if math.isnan(worst) else worst


def near(got: Any, want: Any) -> bool:
    """Equal up to float32's rounding."""
    return close(got, want, *ROUNDING[torch.float32])


def common_factor(got: Tensor, want: Tensor) -> float | None:
    """The number that turns every entry of `want` into that of `got`, if there is one but 0 and 1.

    Example: `common_factor(torch.tensor([2.0, 4.0]), torch.tensor([1.0, 2.0]))` -> 2.0
    """
    place = want.abs().argmax()
    if not want.numel() or want.flatten()[place] == 0:
        return None
    factor = (got.double().flatten()[place] / want.double().flatten()[place]).item()
    return factor if factor not in (0.0, 1.0) and near(got, factor * want.double()) else None


def all_finite(value: Any) -> bool:
    return all(
        isinstance(leaf, _WORDS) or bool(np.isfinite(_numbers(leaf)).all())
        for leaf in _leaves(value)
    )


def dtypes(value: Any) -> list[torch.dtype]:
    return [leaf.dtype for leaf in _leaves(value) if isinstance(leaf, Tensor)]


def structure_problem(got: Any, want: Any) -> str:
    """What is wrong with the type or the shape, in a sentence; an empty string if nothing is."""
    if isinstance(want, tuple):
        if not isinstance(got, tuple):
            return f"{describe(got)} came back where {len(want)} values are expected"
        if len(got) != len(want):
            count = f"{len(got)} values" if len(got) != 1 else "1 value"
            return f"{count} came back where {len(want)} are expected"
        for i, (g, w) in enumerate(zip(got, want, strict=True), start=1):
            if problem := structure_problem(g, w):
                return f"output {i} of {len(want)}: {problem}"
        return ""
    if isinstance(want, Tensor) and want.dim() and isinstance(got, Tensor):
        return shape_problem(tuple(got.shape), tuple(want.shape))
    if isinstance(want, Tensor) and want.dim():
        return f"{describe(got)} came back where a tensor of shape {shape(want)} is expected"
    if isinstance(want, dict) and isinstance(got, dict) and got.keys() != want.keys():
        return f"the keys are {sorted(got)} where {sorted(want)} are expected"
    if _kind(got) != _kind(want):
        return f"{describe(got)} came back where {describe(want)} is expected"
    return ""


def shape_problem(got: tuple[int, ...], want: tuple[int, ...]) -> str:
    """Names the axis that is wrong: `shape_problem((7, 5), (5, 7))` -> '... are swapped'."""
    if got == want:
        return ""
    start = f"the shape is {got} where {want} is expected"
    if len(got) == len(want):
        axes = [i - len(want) for i in range(len(want)) if got[i] != want[i]]
        if got == want[:-2] + want[:-3:-1]:
            return f"{start}: the last two axes are swapped"
        if any(tuple(want[i] for i in order) == got for order in permutations(range(len(want)))):
            return f"{start}: the axes are in another order"
        wrong = (f"axis {i} has length {got[i]} instead of {want[i]}" for i in axes)
        return f"{start}: {' and '.join(wrong)}"
    if len(got) < len(want):
        gone = next((i for i in range(len(want)) if want[:i] + want[i + 1 :] == got), None)
        if gone is None:
            return f"{start}: too few axes"
        return f"{start}: axis {gone - len(want)}, of length {want[gone]}, is gone"
    extra = next((i for i in range(len(got)) if got[:i] + got[i + 1 :] == want), None)
    if extra is None:
        return f"{start}: too many axes"
    return f"{start}: axis {extra - len(got)}, of length {got[extra]}, is too much"


def describe(value: Any) -> str:
    """A value's kind in words: `describe(None)` -> 'None'."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {shape(value)}" if value.dim() else "a single number"
    if isinstance(value, tuple):
        if len(value) == 1:
            return "a tuple or list of 1 value"
        return f"a tuple or list of {len(value)} values"
    if isinstance(value, Other):
        return with_article(value.kind)
    if value is None or isinstance(value, bool):
        return str(value)
    return {str: "a string", dict: "a dict"}.get(type(value), "a single number")


def with_article(noun: str) -> str:
    """`with_article("int")` -> 'an int'."""
    vowel = noun[:1].lower() in "aeiou" or noun.startswith("nd")
    return f"an {noun}" if vowel else f"a {noun}"


def shape(tensor: Tensor) -> tuple[int, ...]:
    return tuple(tensor.shape)


def truth(value: Any) -> bool | None:
    """The truth value that came back, Python's or a 0-d tensor; None where it is none."""
    return bool(value) if _kind(value) == "truth" else None


def _kind(value: Any) -> str:
    """Numbers may be Python's or 0-d tensors; only that they are numbers matters."""
    if isinstance(value, Tensor) and value.dim() == 0:
        return "truth" if value.dtype == torch.bool else "number"
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield key
            yield from _leaves(value[key])
    else:
        yield value


def _numbers(leaf: Any) -> np.ndarray:
    """For small arrays numpy is several times as fast as torch."""
    if isinstance(leaf, Tensor):
        return leaf.double().numpy(force=True)
    return np.asarray(leaf, dtype=np.float64)


def _leaf_close(got: Any, want: Any, rtol: float, atol: float) -> bool:
    if isinstance(want, _WORDS):
        return got == want
    g, w = _numbers(got), _numbers(want)
    with np.errstate(all="ignore"):  # a notebook may have set errors to be raised
        near = (abs(g - w) <= atol + rtol * abs(w)) & np.isfinite(w)
        return bool((near | (g == w) | (np.isnan(g) & np.isnan(w))).all())
