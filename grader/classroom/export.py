"""The table of grades: nbgrader's columns, and how each submission ended."""

from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin

from grader.classroom.grades import NOT_SUBMITTED, grade_of
from grader.classroom.outcome import RECORDS, load_all
from grader.classroom.spreadsheet import as_text

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score", "state", "reason",
)  # fmt: skip


class GradesWithStates(ExportPlugin):
    """`nbgrader export`: one row for each student and lesson.

    `state` is graded, not gradable, by hand or not submitted. What is not gradable has no score:
    the cell is empty, not 0, and `reason` says why.
    """

    def export(self, gradebook: Gradebook) -> None:
        rows = (
            self._row(gradebook, lesson, student)
            for lesson in gradebook.assignments
            for student in gradebook.students
            if (not self.assignment or lesson.name in map(str, self.assignment))
            and (not self.student or student.id in map(str, self.student))
        )
        table = Path(self.to or "grades.csv")
        table.write_text(as_text(COLUMNS, rows), encoding="utf-8", newline="")

    def _row(self, gradebook: Gradebook, lesson, student) -> dict:
        records = Path(self.parent.coursedir.root) / RECORDS
        outcomes = load_all(records, lesson.name, student.id)
        grade = grade_of(gradebook, lesson.name, student.id, outcomes)
        row = {
            "assignment": lesson.name, "duedate": lesson.duedate, "student_id": student.id,
            "last_name": student.last_name, "first_name": student.first_name,
            "email": student.email, "max_score": grade.max_score,
            "raw_score": grade.raw_score, "late_submission_penalty": grade.penalty,
            "score": grade.score, "timestamp": grade.timestamp, "state": grade.state,
            "reason": grade.reason,
        }  # fmt: skip
        if grade.state == NOT_SUBMITTED:  # as nbgrader's own table has it
            row |= dict.fromkeys(("raw_score", "late_submission_penalty", "score"), 0.0)
        return row
