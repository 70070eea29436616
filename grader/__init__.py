"""A self-grading course on self-attention. Public: `check`, `grade` and `exercises`.

How an answer is judged, one module for each arrow and what it carries:

    exercises/ -> probes -> observe -> record -> judge -> verdict -> report
                            runs the             compares with the
                            answer, knows        reference, names the
                            no solution          mistake, runs no answer
"""

from importlib import import_module
from typing import Any

__version__ = "1.0.0"
_HOME = {
    "check": "checking", "grade": "checking", "exercises": "exercises", "Exercise": "exercise",
    "UnknownExercise": "exercises", "Verdict": "verdict",
}  # fmt: skip
__all__ = ["Exercise", "UnknownExercise", "Verdict", "check", "exercises", "grade"]


def __getattr__(name: str) -> Any:
    """Import torch only when something is asked for that needs it: commands start at once."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOME[name]}")
    return globals().setdefault(name, home if name == _HOME[name] else getattr(home, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
