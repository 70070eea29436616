"""Takes in what one learner handed in for one lesson, whatever it is, without running any of it."""

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.checks import CHECK, exercise_of
from grader.classroom.folder import MOST_BYTES, Found, NoFolder, look, shown
from grader.classroom.recognise import Lesson, cells_of
from grader.classroom.restore import restore
from grader.classroom.source import answers, defines

__all__ = ["MOST_BYTES", "Taken", "take_in"]


@dataclass(frozen=True)
class Taken:
    """A submission in its released shape; or, `refused` saying why, the released notebook.

    `path` is where the notebook lay, in the folder itself or in one below it.
    """

    notebook: NotebookNode
    remarks: tuple[str, ...] = ()
    refused: str = ""
    path: Path | None = None


class _Refused(Exception):
    """The submission cannot be taken; the message says why, and what to do."""


def take_in(folder: Path, released: Path) -> Taken:
    """Read one learner's submission of one lesson; raises OSError if the machine fails.

    Example: `take_in(Path("submitted/ada/01-averaging"), released).refused` -> "" if all is well
    """
    untouched = nbformat.read(released, as_version=4)
    try:
        found = look(folder)
        name, remarks = _pick(found, released, untouched)
    except (NoFolder, _Refused) as reason:
        return Taken(untouched, refused=str(reason))
    notebook, more = restore(found.notebooks[name], untouched)
    if Path(name).name != released.name:
        remarks.append(f"{shown(name)} was taken as {released.name}.")
    return Taken(notebook, (*remarks, *found.troubles, *more), path=folder / name)


def _pick(found: Found, released: Path, untouched: NotebookNode) -> tuple[str, list[str]]:
    """The name of the one notebook that counts, and why the others do not."""

    def rank(name: str) -> tuple:
        named = Path(name).name.lower() == released.name.lower()
        return not named, name.count("/"), name

    if not found.notebooks:
        raise _Refused(_nothing(found, released))
    names, lesson = sorted(found.notebooks, key=rank), released.parent.name
    mine = set(Lesson.of(untouched).solutions.values())
    lessons = {name: _lesson_of(found.notebooks[name], mine, lesson) for name in names}
    of_this = [name for name in names if lessons[name] == lesson]
    if not of_this:
        return _of_no_lesson(names, lessons, found, released), []
    remarks = [
        f"{shown(name)} was left out: it holds nothing of this lesson."
        for name in names
        if name not in of_this
    ]
    if len(of_this) == 1:
        return of_this[0], remarks
    written = {name: _answers(found.notebooks[name], untouched) for name in of_this}
    best = next((name for name in of_this if written[name]), of_this[0])
    for name in of_this:
        if name == best:
            continue
        if written[name] and written[name] != written[best]:
            raise _Refused(
                f"There are two notebooks with different answers, {shown(best)} and "
                f"{shown(name)}. Hand in only the one that counts, as {released.name}."
            )
        why = "the same answers" if written[name] else "no answers"
        remarks.append(f"{shown(name)} was left out: it holds {why}.")
    return best, remarks


def _nothing(found: Found, released: Path) -> str:
    """Why there is no notebook at all, in a sentence or two."""
    if found.troubles:
        return " ".join(found.troubles[:2])
    if not found.others:
        return f"There is no file in what was handed in. Hand in {released.name}."
    first = ", ".join(map(shown, found.others[:3]))
    more = f" and {len(found.others) - 3} more" if len(found.others) > 3 else ""
    return f"There is no notebook in it, only {first}{more}. Hand in {released.name}."


def _of_no_lesson(names: list[str], lessons: dict[str, str], found: Found, released: Path) -> str:
    """Which notebook to take although none holds anything of this lesson, if any."""
    if found.troubles:
        raise _Refused(_nothing(found, released))
    for name in names:
        if lessons[name]:
            raise _Refused(
                f"{shown(name)} is a notebook of lesson {lessons[name]}, not of "
                f"{released.parent.name}. Hand in {released.name}."
            )
    if len(names) > 1 and Path(names[0]).name.lower() != released.name.lower():
        raise _Refused(
            f"Neither {shown(names[0])} nor {shown(names[1])} holds an exercise of this lesson. "
            f"Hand in {released.name}."
        )
    return names[0]


def _lesson_of(notebook: NotebookNode, mine: set[str], lesson: str) -> str:
    """The lesson whose checks or answers a notebook holds, before all this one; or ""."""
    cells, _ = cells_of(notebook)
    code = [cell.text for cell in cells if cell.kind == "code"]
    keys = {exercise_of(key) for cell in cells for key in cell.keys}
    checked = {name for text in code for name in CHECK.findall(text)}
    if mine & (keys | checked):
        return lesson
    from grader.exercises import exercises  # slow to import, and seldom needed

    known = {exercise.name: exercise.lesson for exercise in exercises()}
    known |= dict.fromkeys(mine, lesson)
    defined = {name for name in known if any(defines(text, name) for text in code)}
    for names in (keys | checked, defined):
        lessons = {known[name] for name in names if name in known}
        if lessons:
            return lesson if lesson in lessons else min(lessons)
    return ""


def _answers(notebook: NotebookNode, untouched: NotebookNode) -> dict[str, list]:
    """By exercise, the words of every cell that answers it."""
    restored, _ = restore(notebook, untouched)
    code = [cell.source for cell in restored.cells if cell.cell_type == "code"]
    stubs = {
        name: untouched.cells[place].source
        for place, name in Lesson.of(untouched).solutions.items()
    }
    found = {
        name: [text.split() for text in code if answers(text, name, stub)]
        for name, stub in stubs.items()
    }
    return {name: texts for name, texts in found.items() if texts}
