"""Collects what the records and the gradebook know of a class in one lesson."""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment

from grader.checks import exercise_of
from grader.classroom.course import Course
from grader.classroom.gradebook import open_gradebook
from grader.classroom.grades import BY_HAND, NOT_SUBMITTED, Grade, grade_of
from grader.classroom.ledger import secret
from grader.classroom.outcome import GRADED, RECORDS, BadRecord, Outcome, load_all
from grader.classroom.settings import NoCourse
from grader.exercises import exercises
from grader.verdict import Verdict

WAITS = "handed in, not graded yet"


@dataclass(frozen=True)
class Learner:
    """One learner: `label` is what the report calls them.

    `points` holds what the gradebook gives for each exercise, None where nothing was given yet;
    `addresses` are the email address and the id in an LMS, as far as the gradebook has them.
    """

    id: str
    label: str
    grade: Grade
    points: dict[str, float | None]
    verdicts: dict[str, Verdict]
    seconds: float | None = None
    addresses: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether there are points to count."""
        return self.grade.state in (GRADED, BY_HAND)


@dataclass(frozen=True)
class Results:
    """A class in one lesson: `most` is what each exercise is worth, in the lesson's order.

    Example: `gather(course, "01-averaging").learners[0].label` -> "learner 1"
    """

    lesson: str
    most: dict[str, float]
    learners: tuple[Learner, ...]
    troubles: tuple[str, ...] = ()
    named: bool = False

    @property
    def graded(self) -> list[Learner]:
        return [learner for learner in self.learners if learner.counts]

    @property
    def scores(self) -> list[float]:
        return [learner.grade.score for learner in self.graded]

    @property
    def most_points(self) -> float:
        return self.learners[0].grade.max_score

    def having(self, state: str) -> list[Learner]:
        """Those whose submission ended so: `results.having("not gradable")`."""
        return [learner for learner in self.learners if learner.grade.state == state]


def gather(course: Course, lesson: str, named: bool = False) -> Results:
    """Everything known of a lesson; raises NoCourse where nothing is graded."""
    course.lesson(lesson)
    records = course.root / RECORDS
    if not (records / lesson).is_dir():
        raise _nothing(lesson)
    handed_in = {submission.student for submission in course.submissions(lesson)}
    with open_gradebook(course) as gradebook:
        try:
            most = _worth(gradebook, lesson)
        except MissingEntry:
            raise _nothing(lesson) from None
        known = {student.id: student for student in gradebook.students}
        everybody = sorted(known.keys() | handed_in)
        labels = {id: _called(known.get(id), id) for id in everybody} if named else None
        labels = labels or numbered(everybody, secret(records))
        troubles, learners = [], []
        for id in everybody:
            outcomes = _read(records, lesson, id, troubles.append)
            grade, points = _graded(gradebook, lesson, id, outcomes, id in handed_in)
            student = known.get(id)
            learners.append(
                Learner(
                    id, labels[id], grade, points,
                    {v.exercise: v for outcome in outcomes for v in outcome.verdicts},
                    _sum(outcome.seconds for outcome in outcomes),
                    _addresses(student) if student else (),
                )
            )  # fmt: skip
    results = Results(lesson, most, _in_order(learners, named), tuple(troubles), named)
    if all(learner.grade.state in (WAITS, NOT_SUBMITTED) for learner in learners):
        raise _nothing(lesson)
    return results


def numbered(students: Iterable[str], key: bytes) -> dict[str, str]:
    """A number for each, in an order that only the course's secret knows.

    Example: `numbered(["ada", "bo"], b"key")` -> {"bo": "learner 1", "ada": "learner 2"}
    """
    ranked = sorted(students, key=lambda id: hmac.digest(key, b"report " + id.encode(), "sha256"))
    return {id: f"learner {number}" for number, id in enumerate(ranked, start=1)}


def _in_order(learners: list[Learner], named: bool) -> tuple[Learner, ...]:
    def place(learner: Learner) -> tuple:
        number = 0 if named else int(learner.label.split()[-1])
        return number, learner.label.casefold(), learner.id

    return tuple(sorted(learners, key=place))


def _read(records: Path, lesson: str, id: str, trouble: Callable) -> list[Outcome]:
    try:
        return load_all(records, lesson, id)
    except BadRecord as error:
        trouble(str(error))
        return []


def _graded(
    gradebook: Gradebook, lesson: str, id: str, outcomes: list[Outcome], handed_in: bool
) -> tuple[Grade, dict[str, float | None]]:
    """The grade, and the points of each exercise."""
    grade = grade_of(gradebook, lesson, id, outcomes)
    if grade.state == NOT_SUBMITTED:
        return (Grade(WAITS, grade.max_score) if handed_in else grade), {}
    points = dict(_points(gradebook.find_submission(lesson, id)))
    if not outcomes and not any(given is not None for given in points.values()):
        return Grade(WAITS, grade.max_score, timestamp=grade.timestamp), {}
    return grade, points


def _points(submission: SubmittedAssignment) -> Iterable[tuple[str, float | None]]:
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            given = grade.auto_score is not None or grade.manual_score is not None
            points = grade.score + (grade.extra_credit or 0.0) if given else None
            yield exercise_of(grade.name), points


def _worth(gradebook: Gradebook, lesson: str) -> dict[str, float]:
    """What the gradebook says that each exercise is worth, in the order of the lesson."""
    places = {exercise.name: place for place, exercise in enumerate(exercises())}
    found = {
        exercise_of(cell.name): cell.max_score
        for notebook in gradebook.find_assignment(lesson).notebooks
        for cell in notebook.grade_cells
    }
    return dict(sorted(found.items(), key=lambda item: (places.get(item[0], len(places)), item)))


def _addresses(student) -> tuple[str, ...]:
    return tuple(filter(None, (student.email, student.lms_user_id)))


def _called(student, id: str) -> str:
    name = " ".join(filter(None, (student.first_name, student.last_name))) if student else ""
    return f"{name} ({id})" if name else id


def _sum(seconds: Iterable[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) if known else None


def _nothing(lesson: str) -> NoCourse:
    return NoCourse(f"Nothing is graded yet in {lesson}: run `grader autograde {lesson}` first.")
