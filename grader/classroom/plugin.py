"""What nbgrader_config.py puts in nbgrader's place: `nbgrader autograde` and formgrader use this.

nbgrader still lists the submissions, keeps the gradebook and applies late penalties. In between:

    submitted/  -> restored/    each submission in its released shape (intake)
    restored/   -> autograded/  run in the cage, judged here, with the reports in it
"""

import copy
import shutil
import signal
import sys
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.classroom import gradebook as grades
from grader.classroom.course import FROM_NBGRADER, Course, Submission
from grader.classroom.files import beside
from grader.classroom.outcome import Outcome
from grader.classroom.settings import RESTORED, CagedGrading
from grader.classroom.submission import grade, prepare
from grader.runtime.cage import Cage, NoCage
from grader.runtime.warm import warmed


class CagedExporter(CagedGrading, NotebookExporter):
    """nbgrader makes this once per run, before it touches a submission: intake happens here.

    Raises NbGraderException where there is no cage of the configured level.
    """

    def __init__(self, config: Any = None, parent: Any = None, **kwargs: Any) -> None:
        super().__init__(config=config, parent=parent, **kwargs)
        # A copy: formgrader goes on to use the original.
        directory = parent.coursedir = copy.copy(parent.coursedir)
        self.course = Course(directory, self.config)
        _end_in_order()
        try:
            parent.log.info("Submissions are %s", self.in_cage)
        except NoCage as error:
            parent.log.error(str(error))
            raise NbGraderException(str(error)) from None
        if not self.in_cage.official:
            parent.log.warning("WARNING: %s", self.in_cage)
        for submission in self.course.submissions(directory.assignment_id, directory.student_id):
            if submission.student != submission.folder.parent.name:
                name, folder = submission.student, str(submission.folder)
                parent.log.warning("Graded under the name %s: %r", name, folder)
            stage(submission, self.course)
        directory.submitted_directory = RESTORED
        parent.init_notebooks()

    @cached_property
    def in_cage(self) -> Cage:
        """The cage, tried out."""
        return warmed(self.tried_out(self.course.root))


def stage(submission: Submission, course: Course) -> None:
    """Write every notebook of a released lesson with this submission's answers, for nbgrader."""
    target = course.restored(submission)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, content in submission.from_nbgrader().items():
        (target / name).write_bytes(content)
    for released in course.lesson(submission.lesson):
        nbformat.write(prepare(submission.folder, released), target / released.name)


def _end_in_order() -> None:
    """Told to stop, a command leaves nothing behind; a server has its own way to."""
    here = threading.current_thread() is threading.main_thread()
    if here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


class GradeInCage(NbGraderPreprocessor):
    """The second half of autograding: run, judge, keep the record, write the gradebook."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        exporter, names = self.parent, resources["nbgrader"]
        which = names["assignment"], names["student"], names["notebook"]
        with Gradebook(names["db_url"], exporter.course.directory.course_id) as gradebook:
            grades.forget(gradebook, *which)
        ledger = exporter.course.ledger(names["assignment"])
        files = beside(Path(nb.metadata["intake"]["folder"]), FROM_NBGRADER)
        handed_in = Path(nb.metadata["intake"]["handed_in"])
        blank = Outcome(*which, key=ledger.key(handed_in, names["notebook"]))
        notebook, outcome = grade(nb, blank, exporter.in_cage, files, ledger.seeds)
        ledger.keep(outcome)
        with Gradebook(names["db_url"], exporter.course.directory.course_id) as gradebook:
            grades.write(gradebook, outcome)
        ledger.keep_written(outcome)
        if outcome.reason:
            self.log.warning("%s: not gradable: %s", names["student"], outcome.reason)
        return notebook, resources
