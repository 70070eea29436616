"""One folder per lesson, one file per exercise. Each file declares `exercise`; no list is kept."""

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from grader.exercise import Exercise


class UnknownExercise(LookupError):
    """There is no exercise of that name."""


@cache
def exercises() -> tuple[Exercise, ...]:
    """Every exercise, in the order of the lessons."""
    modules = walk_packages(__path__, prefix=f"{__name__}.")
    found = [import_module(m.name).exercise for m in modules if not m.ispkg]
    return tuple(sorted(found, key=lambda exercise: (exercise.lesson, exercise.place)))


def find(name: str) -> Exercise:
    """The exercise of that name; raises UnknownExercise, which suggests the nearest one."""
    found = {exercise.name: exercise for exercise in exercises()}
    if isinstance(name, str) and name in found:
        return found[name]
    raise UnknownExercise(f"There is no exercise called {name!r}.{did_you_mean(name, found)}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence: `did_you_mean("mixx", ["mix"])` -> " Did you mean 'mix'?"."""
    near = get_close_matches(str(name), known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
