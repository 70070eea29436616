"""Brings a learner's notebook back to the cells of the released one, with the learner's answers."""

from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass, field

from nbformat import NotebookNode

from grader.classroom.recognise import Cell, Lesson, cells_of, recognise
from grader.classroom.source import (
    answers,
    block,
    defines,
    parses,
    same,
    without_checks,
    without_installs,
)

MOST_PIECES = 5  # an answer is put together of so many more cells on either side

OWN = "own-"  # how the ids of a learner's own cells begin


@dataclass(eq=False)
class _Kept:
    """A cell of the result: a released one if it has a `place`, else one of the learner's own."""

    kind: str
    text: str
    place: int | None = None


@dataclass(eq=False)
class _Work:
    """What is known so far: the learner's cells, and what becomes of each."""

    lesson: Lesson
    cells: list[Cell]
    remarks: list[str] = field(default_factory=list)
    chosen: dict[int, Cell] = field(default_factory=dict)  # by place
    gone: set[Cell] = field(default_factory=set)
    #: own cells that stand right before, or right after, the released cell of that place
    before: dict[int, list[_Kept]] = field(default_factory=lambda: defaultdict(list))
    after: dict[int, list[_Kept]] = field(default_factory=lambda: defaultdict(list))


def restore(
    submitted: NotebookNode, released: NotebookNode
) -> tuple[NotebookNode, tuple[str, ...]]:
    """The released notebook with the learner's answers and own cells, and remarks on what changed.

    Nothing is run, and neither notebook is changed. Example: `restore(released, released)[1]` -> ()
    """
    cells, unread = cells_of(submitted)
    work = _Work(Lesson.of(released), cells)
    if unread:
        work.remarks.append(f"Cells that are not text were left out ({unread}).")
    recognise(cells, work.lesson)
    _choose(work)
    kept = _lay_out(work)
    _bring_answers(kept, work)
    restored = _notebook(kept, released, work.remarks)
    return restored, tuple(dict.fromkeys(work.remarks))


def _choose(work: _Work) -> None:
    """Pick one cell for each place; the others go, or stay as the learner's own."""
    groups = defaultdict(list)
    for cell in work.cells:
        groups[cell.place].append(cell)
    groups.pop(None, None)
    for place, group in groups.items():
        if name := work.lesson.solutions.get(place):
            _choose_solution(place, name, group, work)
        else:
            _choose_other(place, group, work)
    for place, cell in work.chosen.items():
        if work.lesson.cells[place].cell_type == "code" and cell.kind != "code":
            title = _title(place, work.lesson)
            work.remarks.append(f"{title} had been turned into text; it is code again.")


def _choose_solution(place: int, name: str, group: list[Cell], work: _Work) -> None:
    stub = work.lesson.cells[place].source
    group = [cell for cell in group if cell.text.strip()] or group
    best = next((cell for cell in group if answers(cell.text, name, stub)), None)
    best = best or next((cell for cell in group if defines(cell.text, name)), group[0])
    work.chosen[place] = best
    _join(best, name, work)
    copies = [cell for cell in group if cell is not best and defines(cell.text, name)]
    copies = [cell for cell in copies if cell not in work.gone]
    work.gone.update(copies)
    if copies and answers(best.text, name, stub):
        work.remarks.append(
            f"The cell of {name} was there {len(copies) + 1} times; "
            "the first one with an answer was graded."
        )
    work.gone.update(c for c in work.cells if c.place == place and not c.text.strip())


def _join(best: Cell, name: str, work: _Work) -> None:
    """Put an answer together again that was split into cells, if only together they are Python."""
    here = work.cells.index(best)

    def is_piece(cell: Cell) -> bool:
        unknown = cell.place is None and cell.kind == "code"
        return unknown or (cell.place == best.place and not defines(cell.text, name))

    start, end = here, here + 1
    while here - start < MOST_PIECES and start > 0 and is_piece(work.cells[start - 1]):
        start -= 1
    while end - here <= MOST_PIECES and end < len(work.cells) and is_piece(work.cells[end]):
        end += 1
    for runs in (
        [work.cells[here:stop] for stop in range(end, here + 1, -1)],
        [work.cells[first : here + 1] for first in range(start, here)],
    ):
        # pieces that are no Python alone, as many as fit; else the fewest that complete the answer
        whole = [run for run in runs if not parses((run[-1] if run[0] is best else run[0]).text)]
        whole += [] if parses(best.text) else runs[::-1]
        for run in whole:
            text = "\n".join(cell.text for cell in run)
            if parses(text):
                best.text = text
                work.gone.update(cell for cell in run if cell is not best)
                break
    for cell in work.cells[start:here]:
        if cell.place == best.place and cell not in work.gone:  # helpers stay before the answer
            work.before[best.place].append(_Kept(cell.kind, cell.text))
            work.gone.add(cell)


def _choose_other(place: int, group: list[Cell], work: _Work) -> None:
    """A check, an ordinary code cell or markdown: the released text stays, a changed one goes on
    as a cell of the learner's own, once."""
    released = work.lesson.cells[place]
    best = next((cell for cell in group if same(cell.text, released.source)), group[0])
    work.chosen[place] = best
    seen = {" ".join(released.source.split())}
    for cell in [best, *(cell for cell in group if cell is not best)]:
        text = cell.text
        if place in work.lesson.checks and cell.kind == "code":
            text = without_checks(text)
        words = " ".join(text.split())
        changed = words and words not in seen
        seen.add(words)
        if cell is not best and changed:
            continue  # it stays where it is
        if cell is not best:
            work.gone.add(cell)
        elif changed and (released.cell_type, cell.kind) != ("markdown", "markdown"):
            side = work.before if place in work.lesson.checks else work.after
            side[place].append(_Kept(cell.kind, text))


def _lay_out(work: _Work) -> list[_Kept]:
    """Every released cell once, in order, each followed by the own cells that came after it."""
    last, places = -1, {cell: place for place, cell in work.chosen.items()}
    for cell in work.cells:
        if cell in places or cell in work.gone:
            last = last if cell.place is None else cell.place
        else:
            work.after[last].append(_Kept(cell.kind, cell.text))
    kept = work.after[-1]
    for place, released in enumerate(work.lesson.cells):
        text = released.source
        if place in work.lesson.solutions and place in work.chosen:
            answer = work.chosen[place].text
            text = answer.strip("\n") if answer.strip() else text
        kept += [*work.before[place], _Kept(released.cell_type, text, place), *work.after[place]]
    return kept


def _bring_answers(kept: list[_Kept], work: _Work) -> None:
    """Where a solution is still empty, look for the answer in the learner's other cells.

    One further down is there when the notebook has run. One further up would be overwritten by
    the empty one, so it is copied.
    """
    numbers = {cell.place: n for n, cell in enumerate(kept) if cell.place is not None}
    for place, name in work.lesson.solutions.items():
        stub, here = work.lesson.cells[place].source, numbers[place]
        empty = defines(kept[here].text, name) and not answers(kept[here].text, name, stub)
        givers = [
            n
            for n, cell in enumerate(kept)
            if empty and cell.kind == "code" and answers(cell.text, name, stub)
        ]
        if givers and givers[-1] > here:
            work.remarks.append(f"The answer to {name} stood in another cell; it was graded there.")
        elif givers and (code := block(kept[givers[-1]].text, name)):
            kept[here].text = code
            work.remarks.append(
                f"The answer to {name} stood in another cell; it was copied to its place."
            )
        elif place not in work.chosen or not work.chosen[place].text.strip():
            work.remarks.append(f"The cell of {name} was missing; it was put back.")
    for place, name in work.lesson.checks.items():
        if place not in work.chosen:
            work.remarks.append(f"The check of {name} was missing; it was put back.")


def _notebook(kept: list[_Kept], released: NotebookNode, remarks: list[str]) -> NotebookNode:
    cells, own, installs = [], 0, False
    for one in kept:
        text, learners = one.text, one.place is None
        if one.place is not None:
            cell = deepcopy(released.cells[one.place])
            learners = bool(cell.metadata.get("nbgrader", {}).get("solution"))
        else:
            own += 1
            cell = NotebookNode(id=f"{OWN}{own}", cell_type=one.kind, metadata=NotebookNode())
        if learners and one.kind == "code":
            text = without_installs(text)
            installs = installs or text != one.text
        if one.kind == "code":
            cell.outputs, cell.execution_count = [], None
        cell.source = text
        cells.append(cell)
    if installs:
        remarks.append("Lines that install something were left out; all that is needed is there.")
    notebook = NotebookNode(nbformat=4, nbformat_minor=5)
    return NotebookNode(notebook | {"metadata": deepcopy(released.metadata), "cells": cells})


def _title(place: int, lesson: Lesson) -> str:
    """The name of a released cell, to begin a sentence: `"The check of average"`."""
    if place in lesson.checks:
        return f"The check of {lesson.checks[place]}"
    return f"The cell {'of ' * (place in lesson.solutions)}" + (
        lesson.solutions.get(place) or lesson.cells[place].id
    )
