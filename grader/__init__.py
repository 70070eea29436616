"""A self-grading course on self-attention. Public: `check`, `grade` and `exercises`.

How an answer is judged, one module for each arrow and what it carries:

    exercises/ -> probes -> observe -> record -> judge -> verdict -> report
                            runs the             compares with the
                            answer, knows        reference, names the
                            no solution          mistake, runs no answer
"""

from typing import Any

from grader import report
from grader.exercise import Exercise
from grader.exercises import UnknownExercise, exercises, find
from grader.judge import drawn, expected, judge
from grader.observe import observe
from grader.verdict import Verdict

__all__ = ["Exercise", "UnknownExercise", "Verdict", "check", "exercises", "grade"]


def check(exercise: str, answer: Any) -> float:
    """Show what is right or wrong about an answer and return its points, a plain float.

    Never raises and never writes to stderr, whatever the answer does: nbgrader would take either
    for zero points. Example: `check("average", average)` -> 1.0
    """
    try:
        verdict = grade(exercise, answer)
    except UnknownExercise as error:
        print(error)
        return 0.0
    report.show(verdict)
    return verdict.points


def grade(exercise: str, answer: Any, *, seed: int = 0) -> Verdict:
    """Judge an answer without showing anything; the inputs follow from the seed.

    Raises UnknownExercise if there is none of that name. Example: `grade("mix", f).passed` -> True
    """
    found = find(exercise)
    expected(found, seed)  # before the answer runs: it might change torch itself
    return judge(found, observe(answer, drawn(found, seed)), seed)
