"""The table of grades: nbgrader's columns, and how each submission ended."""

import csv
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from grader.classroom.outcome import NOT_GRADABLE, RECORDS, load_all

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
        with open(self.to or "grades.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            for lesson in gradebook.assignments:
                for student in gradebook.students:
                    wanted = (not self.assignment or lesson.name in map(str, self.assignment)) and (
                        not self.student or student.id in map(str, self.student)
                    )
                    if wanted:
                        row = self._row(gradebook, lesson, student)
                        table.writerow({name: _cell(value) for name, value in row.items()})

    def _row(self, gradebook: Gradebook, lesson, student) -> dict:
        row = {
            "assignment": lesson.name, "duedate": lesson.duedate, "student_id": student.id,
            "last_name": student.last_name, "first_name": student.first_name,
            "email": student.email, "max_score": lesson.max_score,
        }  # fmt: skip
        try:
            found = gradebook.find_submission(lesson.name, student.id)
        except MissingEntry:
            none = dict.fromkeys(("raw_score", "late_submission_penalty", "score"), 0.0)
            return row | none | {"state": "not submitted"}
        outcomes = load_all(Path(self.parent.coursedir.root) / RECORDS, lesson.name, student.id)
        failed = [outcome.reason for outcome in outcomes if outcome.state == NOT_GRADABLE]
        row |= {"timestamp": found.timestamp, "reason": " ".join(failed)}
        if failed:
            return row | {"state": NOT_GRADABLE}
        penalty = found.late_submission_penalty
        row |= {"raw_score": found.score, "late_submission_penalty": penalty}
        state = "waits for a grade by hand" if found.needs_manual_grade else "graded"
        return row | {"score": max(0.0, found.score - penalty), "state": state}


def _cell(value: object) -> str:
    """Text that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
