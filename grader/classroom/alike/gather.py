"""Reads what a class handed in for one lesson; nothing of it is run."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.classroom.alike.traits import MOST_CHARACTERS, Trait, traits, words_of
from grader.classroom.course import Course, Submission
from grader.classroom.files import read_regular
from grader.classroom.folder import MOST_BYTES
from grader.classroom.intake import take_in
from grader.classroom.ledger import Ledger, digest
from grader.classroom.recognise import Lesson
from grader.classroom.restore import OWN
from grader.classroom.source import answers

ELSEWHERE = "other cells"  # what stands in no exercise's cell


@dataclass(frozen=True)
class HandedIn:
    """One learner's answers by exercise, as written; `wrong` are wrong in no way that is known.

    `file` is the same for two whose notebooks are the same, byte for byte, empty where that is
    not known.
    """

    learner: str
    answers: dict[str, str]
    file: str = ""
    wrong: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Class:
    """All that was handed in for a lesson, and what the lesson itself gives.

    `given` are the traits of the released notebook, `usual` also those of the solved one;
    `text` is everything that it says to learners.
    """

    lesson: str
    handed_in: list[HandedIn]
    given: frozenset[Trait] = frozenset()
    usual: frozenset[Trait] = frozenset()
    text: str = ""
    left_out: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lesson: str, released: list[NotebookNode], solved: list[NotebookNode]) -> "Class":
        """A lesson for which nothing is handed in yet."""
        cells = [cell for notebook in released for cell in notebook.cells]
        text = "\n".join(cell.source for cell in cells)
        more = [cell for notebook in solved for cell in notebook.cells]
        given = _traits_of(cells)
        return cls(lesson, [], given, given | _traits_of(more), text)

    @cached_property
    def said(self) -> str:
        """The words of the text, between spaces."""
        return f" {' '.join(words_of(self.text))} "

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.text))


def gather(course: Course, lesson: str) -> Class:
    """What a class handed in for a lesson; raises NoCourse if there is no such lesson.

    Example: `gather(course, "01-averaging").handed_in[0].answers` -> {"average": "def ...", ...}
    """
    released = {path: nbformat.read(path, as_version=4) for path in course.lesson(lesson)}
    here = course.directory
    source = Path(here.format_path(here.source_directory, ".", lesson))
    solved = [nbformat.read(path, as_version=4) for path in source.glob("*.ipynb")]
    found = Class.of(lesson, list(released.values()), solved)
    ledger = course.ledger(lesson)
    for submission in course.submissions(lesson):
        _take(submission, released, ledger, found)
    return found


def answers_in(notebook: NotebookNode, untouched: NotebookNode) -> dict[str, str]:
    """By exercise, the text of the cells that answer it, wherever they stand.

    Example: `answers_in(taken.notebook, untouched)` -> {"average": "def average(x): ...", ...}
    """
    places = Lesson.of(untouched).solutions
    stubs = {name: untouched.cells[place].source for place, name in places.items()}
    written = defaultdict(list)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        own = cell.id.startswith(OWN) or about.get("solution")
        if cell.cell_type == "code" and own and cell.source.strip():
            names = [name for name, stub in stubs.items() if answers(cell.source, name, stub)]
            for name in names or ([ELSEWHERE] if cell.id.startswith(OWN) else []):
                written[name].append(cell.source.strip("\n"))
    return {name: "\n".join(texts) for name, texts in written.items()}


def _take(
    submission: Submission, released: dict[Path, NotebookNode], ledger: Ledger, found: Class
) -> None:
    written, wrong, files, who = {}, set(), [], submission.student
    for path, untouched in released.items():
        taken = take_in(submission.folder, path)
        if taken.refused:
            found.left_out.append(f"{who}: {taken.refused}")
            return
        written |= answers_in(taken.notebook, untouched)
        files.append(read_regular(taken.path, MOST_BYTES))
        record = ledger.find(who, path.stem)
        for verdict in record.verdicts if record else ():
            if not verdict.passed and not verdict.possible and not verdict.untouched:
                wrong.add(verdict.exercise)
    for name, text in written.items():
        if len(text) > MOST_CHARACTERS:
            found.left_out.append(
                f"{who}: of {name}, {len(text):,} characters long, only the first "
                f"{MOST_CHARACTERS:,} were compared."
            )
            written[name] = text[:MOST_CHARACTERS]
    file = digest(*files) if None not in files else ""
    found.handed_in.append(HandedIn(who, written, file, frozenset(wrong)))


def _traits_of(cells: list[NotebookNode]) -> frozenset[Trait]:
    code = (cell.source for cell in cells if cell.cell_type == "code")
    return frozenset().union(*(traits(text).spans for text in code))
