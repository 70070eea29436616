"""Writes outcomes into nbgrader's gradebook: the one place where an automatic score comes from."""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, SAWarning, SQLAlchemyError
from traitlets.config import Config

from grader.checks import exercise_of
from grader.classroom.course import TIME, Course, Submission
from grader.classroom.outcome import Outcome
from grader.classroom.settings import NoCourse


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


def open_gradebook(course: Course) -> Gradebook:
    """The course's gradebook; raises NoCourse where there is none that can be opened."""
    here = course.directory
    name = shown(here.db_url)
    try:
        return Gradebook(here.db_url, here.course_id)
    except ImportError as error:
        raise NoCourse(
            f"The gradebook {name} cannot be opened without the package {error.name}. For "
            'PostgreSQL: pip install "psycopg[binary]"'
        ) from None
    except SQLAlchemyError as error:
        raise NoCourse(f"The gradebook {name} cannot be opened: {_line(error)}") from None


class Writer:
    """The one who writes grades while a class is graded, as `nbgrader autograde` would.

    Use it with `with`. Example: `with Writer(course) as writer: writer.write(outcome)`
    """

    def __init__(self, course: Course) -> None:
        # nbgrader makes a submission in steps, which SQLAlchemy remarks on each time
        warnings.filterwarnings("ignore", category=SAWarning)
        self._gradebook = open_gradebook(course)
        self._penalties = _Penalties(self._gradebook, course.config)

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *error: object) -> None:
        self._gradebook.close()

    def look_up(self, lesson: str) -> None:
        """Raises NoCourse if the gradebook does not know the lesson."""
        try:
            with _connected():
                self._gradebook.find_assignment(lesson)
        except MissingEntry:
            raise NoCourse(
                f"The gradebook does not know {lesson}: `nbgrader generate_assignment {lesson}` "
                "tells it."
            ) from None

    def take_up(self, submission: Submission) -> None:
        """The submission is known, with its time, and what an earlier one earned is not."""
        name, lesson = submission.student, submission.lesson
        time = submission.from_nbgrader().get(TIME)
        when = {"timestamp": parse_utc(time.decode().strip())} if time else {}
        with _connected():
            self._gradebook.update_or_create_student(name)
            found = self._gradebook.update_or_create_submission(lesson, name, **when)
            for notebook in found.notebooks:
                forget(self._gradebook, lesson, name, notebook.name)

    def write(self, outcome: Outcome) -> None:
        """The points, and what comes off them for being late."""
        with _connected():
            write(self._gradebook, outcome)
            self._penalties.apply(outcome)


def shown(url: str) -> str:
    """A gradebook's URL without what opens it; raises NoCourse if it is none.

    Example: `shown("postgresql://ada:secret@host/grades")` -> "postgresql://host/grades"
    """
    try:
        parts = make_url(url)
    except ArgumentError:
        raise NoCourse(
            "COURSE_GRADEBOOK is no SQLAlchemy URL; one is like postgresql+psycopg://USER@HOST/NAME."
        ) from None
    if "@" in f"{parts.host}{parts.database}" and parts.host is not None:
        raise NoCourse("COURSE_GRADEBOOK has more than one @: in a password, %40 stands for it.")
    return f"{parts.drivername}://{parts.host or ''}/{parts.database}"


@contextmanager
def _connected() -> Iterator[None]:
    """A database that goes away while a class is graded ends the run with one line."""
    try:
        yield
    except SQLAlchemyError as error:
        raise NoCourse(
            f"The gradebook failed: {_line(error)}. What is done is kept; the same command goes "
            "on from there."
        ) from None


def _line(error: SQLAlchemyError) -> str:
    return str(error).partition("\n")[0].rstrip(".")


class _Penalties(AssignLatePenalties):
    """nbgrader's own rule for late submissions, with a gradebook that is open already."""

    def __init__(self, gradebook: Gradebook, config: Config) -> None:
        super().__init__(config=config)
        self._gradebook = gradebook
        self.init_plugin()

    def apply(self, outcome: Outcome) -> None:
        which = outcome.lesson, outcome.student
        submission = self._gradebook.find_submission(*which)
        notebook = self._gradebook.find_submission_notebook(outcome.notebook, *which)
        penalty, late = None, submission.total_seconds_late
        if late > 0:
            penalty = self.plugin_inst.late_submission_penalty(which[1], notebook.score, late)
        if penalty is not None:
            penalty = self._check_late_penalty(notebook, penalty)
        notebook.late_submission_penalty = penalty
        self._gradebook.db.commit()


def lay_down(course: Course, submission: Submission, name: str, notebook: str) -> None:
    """Put a graded notebook where nbgrader looks for it, whole or not at all."""
    folder = course.autograded(submission)
    folder.mkdir(parents=True, exist_ok=True)
    _put(folder / f"{name}.ipynb", notebook.encode())
    for beside, content in submission.from_nbgrader().items():
        _put(folder / beside, content)


def _put(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
        os.fchmod(file.fileno(), 0o444)
    os.replace(file.name, path)
