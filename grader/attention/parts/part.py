"""One part of a module with heads done wrong, and how it becomes a known-wrong kernel.

Two mistakes that replace different parts can be made together, and so can each of them with a slip
of attention.
"""

from collections.abc import Callable

from grader.attention.heads import Parts, heads_module
from grader.exercise import Exercise

_DECLARED: list[tuple[Callable, str, str, dict]] = []


def add_part_mistakes(exercise: Exercise) -> None:
    """Give an exercise every module that has one of its parts wrong."""
    for function, formula, step, replaced in _DECLARED:
        made = heads_module(Parts(**replaced))
        made.__name__, made.__doc__ = function.__name__, function.__doc__
        exercise.wrong(formula, step, _onto(replaced))(made)


def _onto(replaced: dict) -> Callable:
    last = _place(replaced)

    def onto(other: Callable) -> Callable | None:
        parts = getattr(other, "parts", None)
        if parts is None or parts.replaced.keys() & replaced.keys():
            return None
        each_pair_once = hasattr(other, "slip") or _place(parts.replaced) < last
        return heads_module(parts._replace(**replaced)) if each_pair_once else None

    return onto


def _place(replaced: dict) -> int:
    return min(Parts._fields.index(name) for name in replaced)


def instead_of(part: str, formula: str, step: str = "", **also: object) -> Callable:
    """Declare a mistake: the part that the function replaces, and others that go with it."""

    def register(function: Callable) -> Callable:
        _DECLARED.append((function, formula, step, {part: function, **also}))
        return function

    return register
