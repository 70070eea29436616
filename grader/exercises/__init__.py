"""One folder per lesson, one file per exercise. Each file declares `exercise`; no list is kept.

The package is also the public function `grader.exercises()`.
"""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from sys import modules
from types import ModuleType

from grader.errors import UserError
from grader.exercise import Exercise
from grader.names import did_you_mean


class UnknownExercise(UserError, LookupError):
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
    raise UnknownExercise(f"There is no exercise called {name!r}." + did_you_mean(name, found))


class _Callable(ModuleType):
    """A package that can be called: its name is also that of the public function."""

    def __call__(self) -> tuple[Exercise, ...]:
        return exercises()


modules[__name__].__class__ = _Callable
