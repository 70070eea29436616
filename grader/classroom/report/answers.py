"""What was wrong with an answer, and with a submission, in words that are all the course's own.

A message may quote what a learner wrote, so none is passed on: an answer becomes the ids of known
mistakes, a property that failed, or the kind of an error.
"""

import builtins
import re
from dataclasses import dataclass

from grader.catalogue import UnknownMistake, mistake_of
from grader.exercise import Exercise, Mistake
from grader.probes import VALUES
from grader.verdict import Verdict

RIGHT, KNOWN, OTHER, STOPPED, UNTRIED = (
    "right", "known mistake", "wrong otherwise", "stopped", "not tried",
)  # fmt: skip
KINDS = (RIGHT, KNOWN, OTHER, STOPPED, UNTRIED)
_PAIR = " + "
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Interrupt|Iteration|Exit)\b")
#: what a reason says, and what a report that names nobody says in its place
_REASONS = {
    "machine that grades failed": "The machine that grades failed; it will be tried again.",
    "ended the process": "Grading it ended the process that graded it, each time.",
    "is a link or a file": "It was a link or a file, not a folder.",
    "two notebooks with different answers": "There were two notebooks with different answers.",
    "is a notebook of lesson": "It was a notebook of another lesson.",
    "holds an exercise of this lesson": "No notebook held an exercise of this lesson.",
    "There is no file in": "There was no file in it.",
    "There is no notebook in": "There was no notebook in it.",
    "is empty": "The notebook was empty.",
    "zip file": "It was a zip file.",
    "git merge": "The notebook held the marks of a git merge.",
    "cut off or damaged": "The notebook was cut off or damaged.",
    "web page": "It was a web page, not a notebook.",
    "Python script": "It was a Python script, not a notebook.",
    "not a notebook": "It was not a notebook.",
}
ANOTHER_REASON = "Another reason; the record and the report with names say which."


@dataclass(frozen=True, order=True)
class Found:
    """What one answer was: its kind, the known mistakes that it equals, or what else was seen.

    Example: `found(verdict)` -> Found("known mistake", ("over_axis_0",), "")
    """

    kind: str
    mistakes: tuple[str, ...] = ()
    seen: str = ""

    def __str__(self) -> str:
        return " or ".join(self.mistakes) or self.seen or self.kind


def found(verdict: Verdict) -> Found:
    """What an answer was, without a word of the learner's."""
    if verdict.passed:
        return Found(RIGHT)
    if verdict.untouched:
        return Found(UNTRIED)
    if verdict.possible:
        return Found(KNOWN, verdict.possible)
    if not verdict.properties or "Your code raised" in verdict.message.partition("\n")[0]:
        return Found(STOPPED, seen=_stopped(verdict.message))
    held = dict(verdict.properties)
    if held.get(VALUES) is False:
        return Found(OTHER, seen="wrong values or form, equal to no known mistake")
    first = next((label for label in held if not held[label]), "all that was looked at")
    start = "right values, but " if VALUES in held else ""
    return Found(OTHER, seen=f"{start}this does not hold: {first}")


def _stopped(message: str) -> str:
    """Only errors that Python itself has are named: a learner may name their own."""
    names = (name for name in _ERROR.findall(message) if hasattr(builtins, name))
    error = next(names, "")
    return f"stopped with {error}" if error else "gave nothing to judge"


def plain_reason(reason: str) -> str:
    """Why a submission is not gradable, without the names of files, which learners choose."""
    return next((told for mark, told in _REASONS.items() if mark in reason), ANOTHER_REASON)


def mistakes_of(exercise: Exercise | None, id: str) -> tuple[Mistake, ...]:
    """The declarations behind an id, two for a pair, none where the course has them no more.

    Example: `mistakes_of(softmax, "over_axis_0 + scaled")` -> (Mistake(...), Mistake(...))
    """
    if exercise is None:
        return ()
    try:
        return tuple(mistake_of(exercise, part) for part in id.split(_PAIR))
    except UnknownMistake:
        return ()
