"""A class in one lesson as a report sees it, made without a gradebook."""

from grader.classroom.grades import Grade
from grader.classroom.report.gather import Learner, Results
from grader.exercises import find

LESSON = "01-averaging"


def learner(number, *verdicts, state="graded", penalty=0.0, **more):
    """One who has the points of these verdicts: `learner(1, RIGHT, WRONG)`."""
    raw = sum(verdict.points for verdict in verdicts)
    scored = {"raw_score": raw, "penalty": penalty} if state == "graded" else {}
    reason = {"reason": more.pop("reason")} if "reason" in more else {}
    late = {"seconds_late": more.pop("late")} if "late" in more else {}
    grade = Grade(state, 3.0, **scored, **reason, **late)
    points = {verdict.exercise: verdict.points for verdict in verdicts}
    given = {verdict.exercise: verdict for verdict in verdicts}
    id = f"student-{number:03}"
    return Learner(id, f"learner {number}", grade, points, given, **more)


def results(*learners, **more):
    """A lesson of two exercises."""
    most = {name: find(name).points for name in ("mix", "average")}
    return Results(LESSON, most, tuple(learners), **more)
