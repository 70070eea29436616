"""What a submission of the zoo is, and the decorators and tools that its builders use."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from grader.exercises import exercises

AVERAGING, ATTENTION, SCALING = "01-averaging", "03-query-key-value", "04-square-root-scaling"
FILES = {
    AVERAGING: "averaging.ipynb",
    ATTENTION: "query_key_value.ipynb",
    SCALING: "square_root_scaling.ipynb",
}
FILE = FILES[AVERAGING]


@dataclass(frozen=True)
class Animal:
    """One submission: where the case comes from, how it is made, and what it deserves.

    `scores` are the points by exercise, None if it is not gradable. `says` must be found in its
    remarks, its reason or the message of a verdict.
    """

    name: str
    why: str
    build: Callable[[Path, NotebookNode, NotebookNode], None]
    scores: dict[str, float] | None
    says: str = ""
    lesson: str = AVERAGING

    @property
    def file(self) -> str:
        return FILES[self.lesson]

    @property
    def theme(self) -> str:
        """The module that it is built in: `ZOO["fork-bomb"].theme` -> "deadly"."""
        return self.build.__module__.rpartition(".")[2]


ZOO: dict[str, Animal] = {}


def only(*names: str, lesson: str = AVERAGING) -> dict[str, float]:
    """Full points for these exercises, none for the others of the lesson."""
    found = {each.name: each.points for each in exercises() if each.lesson == lesson}
    assert found.keys() >= set(names)
    return {name: float(points if name in names else 0) for name, points in found.items()}


def all_but(*names: str, lesson: str = AVERAGING) -> dict[str, float]:
    """No points for these exercises, full points for the others of the lesson."""
    return only(*(only(lesson=lesson).keys() - set(names)), lesson=lesson)


ALL, NOTHING = all_but(), only()


def handed_in(why: str, scores: dict | None = ALL, says: str = "", lesson: str = AVERAGING):
    """Registers `build(folder, solved, released)`, which writes every file itself."""

    def register(build: Callable) -> Callable:
        name = build.__name__.replace("_", "-")
        assert name not in ZOO, name
        ZOO[name] = Animal(name, why, build, scores, says, lesson)
        return build

    return register


def edited(why: str, scores: dict | None = ALL, says: str = "", lesson: str = AVERAGING):
    """Registers `change(solved)`, which changes the solved notebook before it is handed in."""

    def register(change: Callable) -> Callable:
        def build(folder: Path, solved: NotebookNode, released: NotebookNode) -> None:
            change(solved)
            write(folder / FILES[lesson], solved)

        build.__name__, build.__module__ = change.__name__, change.__module__
        handed_in(why, scores, says, lesson)(build)
        return change

    return register


# -- tools: cells are named by the ids that they have in the lesson ----------------------------


def write(path: Path, notebook: NotebookNode) -> None:
    """Write it as it is: nbformat would mend it, or refuse."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")


def place(notebook: NotebookNode, name: str) -> int:
    return next(n for n, cell in enumerate(notebook.cells) if cell.get("id") == name)


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return notebook.cells[place(notebook, name)]


def check(notebook: NotebookNode, name: str) -> NotebookNode:
    return cell(notebook, f"check-{name}")


def answer(notebook: NotebookNode, name: str, source: str) -> None:
    """Give another answer to an exercise."""
    cell(notebook, name).source = source.strip("\n")


def below(notebook: NotebookNode, name: str, source: str) -> NotebookNode:
    """Add a code cell under the named one."""
    made = new_code_cell(source.strip("\n"))
    notebook.cells.insert(place(notebook, name) + 1, made)
    return made


def on_top(notebook: NotebookNode, source: str) -> NotebookNode:
    """Add a code cell under the imports."""
    return below(notebook, "imports", source)


def at_the_end(notebook: NotebookNode, source: str) -> NotebookNode:
    notebook.cells.append(made := new_code_cell(source.strip("\n")))
    return made


STUB = "    raise NotImplementedError"


def stubs(notebook: NotebookNode, *names: str) -> None:
    """Nothing was written for these exercises; for all of them if none is named."""
    for name in names or only():
        head = cell(notebook, name).source.split("\n")[0]
        answer(notebook, name, f"{head}\n{STUB}")


def solved_from(released: NotebookNode, source: NotebookNode) -> NotebookNode:
    """The released notebook with the answers of the instructor's one, as a learner writes them."""
    solved = nbformat.from_dict(json.loads(json.dumps(released)))
    answers = {one.id: one.source for one in source.cells}
    for one in solved.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            lines = answers[one.id].split("\n")
            one.source = "\n".join(line for line in lines if "### " not in line)
    return solved
