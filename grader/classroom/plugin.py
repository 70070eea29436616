"""What nbgrader_config.py puts in nbgrader's place: `nbgrader autograde` and formgrader use this.

nbgrader still lists the submissions, keeps the gradebook and applies late penalties. In between:

    submitted/  -> restored/    each submission in its released shape (intake)
    restored/   -> autograded/  run in the cage, judged here, with the reports in it
"""

import copy
import glob
import re
import shutil
import signal
import sys
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Integer

from grader.classroom import gradebook as grades
from grader.classroom.outcome import RECORDS
from grader.classroom.submission import grade, stage
from grader.runtime.cage import LEVELS, Cage, Limits, NoCage, cage

RESTORED = "restored"
#: nbgrader looks for folders by patterns, and writes their names into tables and logs
ODD = re.compile(r"[\x00-\x1f\x7f*?\[\]]")


class CagedGrading(NotebookExporter):
    """nbgrader makes this once per run, before it touches a submission: intake happens here.

    Raises NbGraderException where there is no cage of the configured level.
    """

    cage = Enum(LEVELS, "standard", help="none, standard or strict").tag(config=True)
    cell_seconds = Integer(Limits.cell, help="time for one cell").tag(config=True)
    notebook_seconds = Integer(Limits.wall, help="time for one notebook").tag(config=True)

    def __init__(self, config: Any = None, parent: Any = None, **kwargs: Any) -> None:
        super().__init__(config=config, parent=parent, **kwargs)
        # A copy: formgrader goes on to use the original.
        self.course = parent.coursedir = copy.copy(parent.coursedir)
        _end_in_order()
        self.submitted, self.root = self.course.submitted_directory, Path(self.course.root)
        try:
            parent.log.info("Submissions are %s", self.in_cage)
        except NoCage as error:
            parent.log.error(str(error))
            raise NbGraderException(str(error)) from None
        if not self.in_cage.official:
            parent.log.warning("WARNING: %s", self.in_cage)
        submissions = self._submissions()
        self.course.submitted_directory = RESTORED
        for old in glob.glob(self._wanted()):
            shutil.rmtree(old)
        for folder in submissions:
            self._stage(folder)
        parent.init_notebooks()

    @cached_property
    def in_cage(self) -> Cage:
        """The cage, tried out."""
        limits = Limits(cell=self.cell_seconds, wall=self.notebook_seconds)
        return cage(self.cage, self._secrets(), limits)

    def _secrets(self) -> tuple[str, ...]:
        """What must not be seen in the cage, wherever the course lies."""
        here = self.course
        folders = (
            here.source_directory, here.release_directory, here.autograded_directory,
            here.feedback_directory, self.submitted, RESTORED, RECORDS,
        )  # fmt: skip
        database = here.db_url.partition(":///")[2].partition("?")[0]
        exchange = self.config.Exchange.root if "root" in self.config.Exchange else ""
        return tuple(str(self.root / path) for path in (*folders, database, str(exchange)) if path)

    def _submissions(self) -> list[Path]:
        excluded = set(self.course.student_id_exclude.split(","))
        found = [Path(path) for path in sorted(glob.glob(self._wanted()))]
        return [path for path in found if self._names(path)[0] not in excluded]

    def _wanted(self) -> str:
        """The folders of this run, as nbgrader finds them."""
        here = self.course
        return here.format_path(here.submitted_directory, here.student_id, here.assignment_id)

    def _names(self, folder: Path) -> tuple[str, str]:
        """The student and the lesson that a folder of submissions belongs to."""
        pattern = self.course.format_path(
            self.submitted, "(?P<student>.*)", "(?P<lesson>.*)", escape=True
        )
        return re.match(pattern, str(folder), re.DOTALL).group("student", "lesson")

    def _stage(self, folder: Path) -> None:
        student, lesson = self._names(folder)
        if ODD.search(student):
            student = ODD.sub(lambda odd: f"%{ord(odd[0]):02X}", student)
            self.log.warning("Graded under the name %s: %r", student, str(folder))
        released = self.course.format_path(self.course.release_directory, ".", lesson)
        target = Path(self.course.format_path(RESTORED, student, lesson))
        stage(folder, Path(released), target)


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
        with Gradebook(names["db_url"], exporter.course.course_id) as gradebook:
            grades.forget(gradebook, *which)
        notebook, outcome = grade(nb, *which, exporter.in_cage)
        outcome.save(exporter.root / RECORDS)
        with Gradebook(names["db_url"], exporter.course.course_id) as gradebook:
            grades.write(gradebook, outcome)
        if outcome.reason:
            self.log.warning("%s: not gradable: %s", names["student"], outcome.reason)
        return notebook, resources
