"""What the gradebook and the records say together of one learner in one lesson."""

from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import Gradebook, MissingEntry

from grader.classroom.outcome import GRADED, NOT_GRADABLE, Outcome

BY_HAND, NOT_SUBMITTED = "waits for a grade by hand", "not submitted"


@dataclass(frozen=True)
class Grade:
    """How a submission ended, in points; what is not gradable has none, and a reason.

    Example: `grade_of(gradebook, "01-averaging", "ada", outcomes).score` -> 6.5
    """

    state: str
    max_score: float
    raw_score: float | None = None
    penalty: float | None = None
    timestamp: datetime | None = None
    seconds_late: float = 0.0
    reason: str = ""

    @property
    def score(self) -> float | None:
        """What counts: the points without those that come off for being late, never under 0."""
        return None if self.raw_score is None else max(0.0, self.raw_score - self.penalty)


def grade_of(gradebook: Gradebook, lesson: str, student: str, outcomes: list[Outcome]) -> Grade:
    """The grade of a learner; `outcomes` are the records of what they handed in."""
    most = gradebook.find_assignment(lesson).max_score
    try:
        found = gradebook.find_submission(lesson, student)
    except MissingEntry:
        return Grade(NOT_SUBMITTED, most)
    when = {"timestamp": found.timestamp, "seconds_late": found.total_seconds_late}
    failed = [outcome.reason for outcome in outcomes if outcome.state == NOT_GRADABLE]
    if failed:
        return Grade(NOT_GRADABLE, most, reason=" ".join(failed), **when)
    state = BY_HAND if found.needs_manual_grade else GRADED
    return Grade(state, most, found.score, found.late_submission_penalty, **when)
