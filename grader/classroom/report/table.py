"""The table beside the page: a row for each learner, with what each answer was."""

from collections.abc import Iterator

from grader.classroom.report.answers import found, plain_reason
from grader.classroom.report.gather import Learner, Results

COLUMNS = (
    "learner", "state", "score", "raw_score", "late_submission_penalty", "max_score",
    "hours_late", "seconds", "reason",
)  # fmt: skip


def columns(results: Results) -> list[str]:
    """COLUMNS, then two for each exercise: its points, and what was found in the answer."""
    each = [f"{name}: {what}" for name in results.most for what in ("points", "answer")]
    return [*COLUMNS, *each]


def rows(results: Results) -> Iterator[dict]:
    """One for each learner, by column; what is not known is left out.

    Example: `next(rows(results))["score"]` -> 6.5
    """
    for learner in results.learners:
        yield _row(learner, results.named)


def _row(learner: Learner, named: bool) -> dict:
    grade = learner.grade
    reason = grade.reason if named or not grade.reason else plain_reason(grade.reason)
    row = {
        "learner": learner.label, "state": grade.state, "score": grade.score,
        "raw_score": grade.raw_score, "late_submission_penalty": grade.penalty,
        "max_score": grade.max_score, "seconds": learner.seconds, "reason": reason,
    }  # fmt: skip
    if grade.seconds_late:
        row["hours_late"] = round(grade.seconds_late / 3600, 2)
    if learner.counts:
        row |= {f"{name}: points": points for name, points in learner.points.items()}
        row |= {f"{name}: answer": str(found(v)) for name, v in learner.verdicts.items()}
    return row
