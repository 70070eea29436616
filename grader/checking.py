"""What a learner's notebook calls: an answer comes in, a report is shown, points go out."""

from typing import Any

from grader import report
from grader.exercises import UnknownExercise, find
from grader.hints import rungs
from grader.judge import drawn, expected, judge
from grader.observe import observe
from grader.older import older
from grader.progress.file import Record, change
from grader.progress.standing import note
from grader.translate import say
from grader.verdict import Verdict


def check(exercise: str, answer: Any) -> float:
    """Show what is right or wrong about an answer and return its points, a plain float.

    Never raises and never writes to stderr, whatever the answer does: nbgrader would take either
    for zero points. Example: `check("average", average)` -> 1.0
    """
    try:
        verdict = grade(exercise, answer)
    except UnknownExercise as error:
        print(say(str(error)))
        return 0.0

    def keep(record: Record) -> int:
        note(record, verdict, find(exercise).lesson)
        return rungs(record, verdict)

    if remark := older(exercise, verdict.untouched):
        print(remark)
    report.show(verdict, change(keep))
    return verdict.points


def grade(exercise: str, answer: Any, *, seed: int = 0) -> Verdict:
    """Judge an answer without showing anything; the inputs follow from the seed.

    Raises UnknownExercise if there is none of that name. Example: `grade("mix", f).passed` -> True
    """
    found = find(exercise)
    expected(found, seed)  # before the answer runs: it might change torch itself
    return judge(found, observe(answer, drawn(found, seed)), seed)
