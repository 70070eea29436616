"""The part of the page about time: how long grading took, and who was late."""

import numpy as np

from grader.classroom.report.gather import Results
from grader.classroom.report.html import table

LONGEST = 5


def section(results: Results) -> str:
    """Seconds of grading for each submission, as far as the records hold them, and late ones."""
    return f"<h2>Time</h2>{_seconds(results)}{_late(results)}"


def _seconds(results: Results) -> str:
    timed = [learner for learner in results.learners if learner.seconds is not None]
    if not timed:
        return "<p>The records of this lesson do not hold how long grading took.</p>"
    seconds = [learner.seconds for learner in timed]
    longest = sorted(timed, key=lambda one: (-one.seconds, one.label))[:LONGEST]
    rows = [(learner.label, f"{learner.seconds:.1f}") for learner in longest]
    return (
        f"<p>Grading took {np.median(seconds):.1f} seconds for the middle one of {len(timed)} "
        f"submissions, {max(seconds):.1f} for the slowest. How long learners worked, nobody "
        "knows.</p>" + table("The slowest submissions", ("Learner", "Seconds"), rows)
    )


def _late(results: Results) -> str:
    late = [learner for learner in results.learners if learner.grade.seconds_late > 0]
    if not late:
        return "<p>No late submission is known to the gradebook.</p>"
    rows = [
        (one.label, f"{one.grade.seconds_late / 3600:.1f}", f"{one.grade.penalty or 0:g}")
        for one in late
    ]
    return table("Late submissions", ("Learner", "Hours late", "Points off"), rows)
