"""Finds out which cell of the released notebook each submitted cell is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from nbformat import NotebookNode

from grader.checks import CHECK
from grader.classroom.source import defines, same, text_of

ALIKE = 0.6  # a changed cell has more than this in common with the released one
MOST_WORDS = 1000  # longer cells are not compared
MOST_COMPARISONS = 500
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(eq=False)
class Cell:
    """A submitted cell; `place` is the number of the released cell that it is, if it is one."""

    kind: str
    text: str
    keys: tuple[str, ...]  # its id, and the id that nbgrader gave it
    place: int | None = None


@dataclass(eq=False)
class Lesson:
    """A released notebook: its cells, and the exercise of each solution and of each check."""

    cells: list[NotebookNode]
    solutions: dict[int, str] = field(default_factory=dict)
    checks: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, released: NotebookNode) -> "Lesson":
        """Example: `Lesson.of(released).solutions` -> {11: "average", 20: "uniform_weights"}"""
        lesson = cls(released.cells)
        for place, cell in enumerate(released.cells):
            about = cell.metadata.get("nbgrader", {})
            if about.get("solution"):
                lesson.solutions[place] = about["grade_id"]
            elif about.get("grade"):
                named = CHECK.search(cell.source)
                lesson.checks[place] = named[1] if named else about["grade_id"]
        return lesson


def cells_of(submitted: NotebookNode) -> tuple[list[Cell], int]:
    """The cells that can be read, in order, and the number of those that cannot."""
    found = submitted.get("cells")
    found = found if isinstance(found, list) else []
    read = [cell for cell in map(_cell, found) if cell]
    return read, len(found) - len(read)


def recognise(cells: list[Cell], lesson: Lesson) -> None:
    """Set the `place` of each cell: by its ids, its text, the names in it, or where it stands."""
    places = {cell.id: place for place, cell in enumerate(lesson.cells)}
    for cell in cells:
        cell.place = next((places[key] for key in cell.keys if key in places), None)
    _by_text(cells, lesson)
    _by_definition(cells, lesson)
    _by_check(cells, lesson)
    _by_neighbours(cells, lesson)


def _cell(cell: object) -> Cell | None:
    if not isinstance(cell, dict) or (text := text_of(cell.get("source"))) is None:
        return None
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    keys = (cell.get("id"), about.get("grade_id") if isinstance(about, dict) else None)
    kind = cell.get("cell_type")
    return Cell(
        kind if kind in ("code", "markdown") else "raw",
        text,
        tuple(key for key in keys if isinstance(key, str)),
    )


def _missing(cells: list[Cell], wanted: dict) -> Iterator[tuple[int, str]]:
    """The places among `wanted` that no cell has, with what is wanted there."""
    taken = {cell.place for cell in cells}
    return ((place, what) for place, what in wanted.items() if place not in taken)


def _by_text(cells: list[Cell], lesson: Lesson) -> None:
    unknown = {}
    for cell in reversed(cells):  # so that the first of equal cells stays
        if cell.place is None:
            unknown.setdefault((cell.kind, _stripped(cell.text)), []).append(cell)
    for place, released in _missing(cells, dict(enumerate(lesson.cells))):
        equal = unknown.get((released.cell_type, _stripped(released.source)))
        if equal and place not in lesson.solutions:
            equal.pop().place = place


def _by_definition(cells: list[Cell], lesson: Lesson) -> None:
    for place, name in _missing(cells, lesson.solutions):
        for cell in cells:
            if cell.place is None and cell.kind == "code" and defines(cell.text, name):
                cell.place = place


def _by_check(cells: list[Cell], lesson: Lesson) -> None:
    for place, name in _missing(cells, lesson.checks):
        for cell in cells:
            if cell.place is None and cell.kind == "code" and name in CHECK.findall(cell.text):
                cell.place = place
                break


def _by_neighbours(cells: list[Cell], lesson: Lesson) -> None:
    missing = dict(_missing(cells, dict(enumerate(lesson.cells))))
    known = [n for n, cell in enumerate(cells) if cell.place is not None]
    left = MOST_COMPARISONS
    for start, end in zip([-1, *known], [*known, len(cells)], strict=True):
        first = cells[start].place + 1 if start >= 0 else 0
        last = cells[end].place if end < len(cells) else len(lesson.cells)
        for cell in cells[start + 1 : end]:
            for place in range(first, last):
                if place not in missing or left <= 0:
                    continue
                left -= 1
                if _alike(cell, missing[place]):
                    cell.place = place
                    first = place + 1
                    break


def _alike(cell: Cell, released: NotebookNode) -> bool:
    if cell.kind != released.cell_type:
        return False
    if same(cell.text, released.source):
        return True
    words = [_WORD.findall(text[:50_000]) for text in (cell.text, released.source)]
    if max(map(len, words)) > MOST_WORDS:
        return False
    match = SequenceMatcher(None, *words, autojunk=False)
    return match.quick_ratio() > ALIKE and match.ratio() > ALIKE


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))
