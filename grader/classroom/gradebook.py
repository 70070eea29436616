"""Writes outcomes into nbgrader's gradebook: the one place where an automatic score comes from."""

from nbgrader.api import Gradebook

from grader.classroom.outcome import Outcome
from grader.results import exercise_of


def forget(gradebook: Gradebook, lesson: str, student: str, notebook: str) -> None:
    """No automatic score of an earlier submission outlives the moment a new one is taken up."""
    for grade in gradebook.find_submission_notebook(notebook, lesson, student).grades:
        grade.auto_score, grade.needs_manual_grade = None, True
    gradebook.db.commit()


def write(gradebook: Gradebook, outcome: Outcome) -> None:
    """Give every check the points of its verdict, or none at all if there is nothing to judge.

    A grade by hand stays, and is marked to be looked at again.
    """
    found = gradebook.find_submission_notebook(outcome.notebook, outcome.lesson, outcome.student)
    for grade in found.grades:
        verdict = outcome.verdict(exercise_of(grade.name))
        grade.auto_score = verdict.points if verdict else None
        grade.needs_manual_grade = grade.auto_score is None or grade.manual_score is not None
    for comment in found.comments:
        comment.auto_comment = f"Not graded: {outcome.reason}" if outcome.reason else None
    gradebook.db.commit()
