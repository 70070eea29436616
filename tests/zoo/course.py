"""A scratch course in which every animal has handed in its work, graded by nbgrader's commands."""

import csv
import ctypes
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import psutil
from nbgrader.api import Gradebook

from grader.classroom.outcome import Outcome, load_all
from zoo.animal import Animal, solved_from

ROOT = Path(__file__).resolve().parents[2]
#: seconds for one cell, so that endless loops end soon; the slowest cell takes 3
LIMITS = """
c.CagedGrading.check_seconds = c.CagedGrading.cell_seconds = 6
c.CagedGrading.notebook_seconds = 180
"""
_SUBREAPER = 36  # prctl(2)


class Course:
    """The instructor's folder; `commands` keeps the exit status of each command that was run.

    Without `pictures` a lesson takes half the time.
    Example: `Course(tmp_path, [ZOO["solved"]]).grade()`
    """

    def __init__(
        self,
        folder: Path,
        animals: list[Animal],
        config: Path = ROOT / "nbgrader_config.py",
        pictures: bool = True,
    ) -> None:
        self.folder, self.animals = folder, animals
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.database = f"sqlite:///{folder / 'gradebook.db'}?timeout=30"
        self.lessons = sorted({animal.lesson for animal in animals})
        self.commands: dict[str, int] = {}
        (folder / "nbgrader_config.py").write_text(config.read_text() + LIMITS)
        for lesson in self.lessons:
            shutil.copytree(ROOT / "solutions" / lesson, folder / "solutions" / lesson)
            if not pictures:
                _without_pictures(folder / "solutions" / lesson)
            self.nbgrader("generate_assignment", lesson)

    def nbgrader(self, command: str, *arguments: str, **how: Any) -> str:
        """Run one of nbgrader's commands in the course's folder; see `run`."""
        return self.run("nbgrader", command, *arguments, **how)

    def run(self, module: str, command: str, *arguments: str, **how: Any) -> str:
        """Run a command of a module; what it said, and its status in `commands`.

        `how` is for subprocess.run.
        """
        done = subprocess.run(
            [sys.executable, "-m", module, command, *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
                "JUPYTER_CONFIG_DIR": str(self.folder),
                "JUPYTER_DATA_DIR": str(self.folder),
                "TMPDIR": str(self.temporary),
                "COURSE_GRADEBOOK": self.database,
                "COURSE_EXCHANGE": str(self.folder),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **how,
        )
        self.commands[" ".join([command, *arguments])] = done.returncode
        return done.stdout

    def grade(self, graded_before: list[Animal] = ()) -> "Course":
        """Everything from handing in to the exported table.

        Animals `graded_before` have full points from yesterday, before they hand in their own work.
        """
        with Reaper() as reaper:
            for animal in graded_before:
                self._hand_in_solved(animal)
            for lesson in {animal.lesson for animal in graded_before}:
                self.nbgrader("autograde", lesson)
            self.before = {animal.name: self.scores(animal) for animal in graded_before}
            for animal in self.animals:
                self.hand_in(animal)
            self.handed_in = self.contents()
            self.said = {}
            for lesson in self.lessons:
                self.said[lesson] = self.run("grader.cli", "autograde", lesson, "--jobs", "2")
                self.nbgrader("generate_feedback", lesson)
            self.nbgrader("export", "--to", "grades.csv")
            self.left_running = reaper.found()
        self.left_behind = sorted(path.name for path in self.temporary.iterdir())
        return self

    def hand_in(self, animal: Animal) -> None:
        folder = self.submission(animal)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        released = self.released(animal)
        animal.build(folder, self.solved(animal), released)

    def _hand_in_solved(self, animal: Animal) -> None:
        self.submission(animal).mkdir(parents=True)
        nbformat.write(self.solved(animal), self.submission(animal) / animal.file)

    def released(self, animal: Animal):
        return nbformat.read(self.folder / "notebooks" / animal.lesson / animal.file, as_version=4)

    def solved(self, animal: Animal):
        source = nbformat.read(
            self.folder / "solutions" / animal.lesson / animal.file, as_version=4
        )
        return solved_from(self.released(animal), source)

    def submission(self, animal: Animal) -> Path:
        return self.folder / "submitted" / animal.name / animal.lesson

    def contents(self) -> dict[str, str]:
        """Every file of every submission: what it is, and a hash of its bytes."""
        return {str(path): _content(path) for path in sorted(self.folder.glob("submitted/**/*"))}

    # -- what came of it -----------------------------------------------------------------

    def entry(self, animal: Animal) -> tuple[dict[str, float | None], bool]:
        """From the gradebook: the automatic score of each exercise, and whether one is awaited."""
        with Gradebook(self.database, "attention") as gradebook:
            stem = Path(animal.file).stem
            found = gradebook.find_submission_notebook(stem, animal.lesson, animal.name)
            scores = {grade.name.removeprefix("check-"): grade.auto_score for grade in found.grades}
            return scores, found.needs_manual_grade

    def scores(self, animal: Animal) -> dict[str, float | None]:
        return self.entry(animal)[0]

    def outcome(self, animal: Animal) -> Outcome:
        (found,) = load_all(self.folder / "records", animal.lesson, animal.name)
        return found

    def told(self, animal: Animal) -> str:
        """All that is said to the learner in words."""
        outcome = self.outcome(animal)
        said = [outcome.reason, *outcome.remarks, *(each.message for each in outcome.verdicts)]
        return "\n".join(said)

    def feedback(self, animal: Animal) -> str:
        page = Path(animal.file).with_suffix(".html")
        return (self.folder / "feedback" / animal.name / animal.lesson / page).read_text()

    def row(self, animal: Animal) -> dict[str, str]:
        """The line of the exported table."""
        with open(self.folder / "grades.csv", newline="") as file:
            key = (animal.name, animal.lesson)
            rows = [r for r in csv.DictReader(file) if (r["student_id"], r["assignment"]) == key]
        (row,) = rows
        return row


def _without_pictures(lesson: Path) -> None:
    """The same lesson in half the time: it imports something else than the library that draws."""
    for path in lesson.glob("*.ipynb"):
        text = path.read_text()
        drawn = re.sub(r"from grader.figures import ([\w, ]+)", _stand_in, text)
        path.write_text(drawn)


def _stand_in(found: re.Match) -> str:
    return " = ".join([*found[1].split(", "), "lambda *things, **how: None"])


def _content(path: Path) -> str:
    about = path.lstat()
    if stat.S_ISREG(about.st_mode):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{stat.filemode(about.st_mode)} {os.readlink(path) if path.is_symlink() else ''}"


class Reaper:
    """While it is entered, processes whose parents are gone become children of this one."""

    def __enter__(self) -> "Reaper":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        self._before = self._children()
        return self

    def __exit__(self, *error: object) -> None:
        ctypes.CDLL(None).prctl(_SUBREAPER, 0, 0, 0, 0)

    def found(self) -> list[str]:
        """The commands of processes that the run has left running; the dead are taken away."""
        return [" ".join(child.cmdline()) for child in self._left()]

    def end(self) -> None:
        """End what was left running."""
        while left := self._left():
            for child in left:
                child.kill()
                child.wait()

    def _left(self) -> list[psutil.Process]:
        children = self._children() - self._before
        for child in children:
            if child.status() == psutil.STATUS_ZOMBIE:
                os.waitpid(child.pid, 0)
        return [child for child in children if child.is_running()]

    @staticmethod
    def _children() -> set[psutil.Process]:
        return set(psutil.Process().children(recursive=True))
