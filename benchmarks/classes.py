"""A course in a scratch folder with a class that has handed in, and the two ways to grade it."""

import copy
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
#: nbgrader as it is installed, on the same folders
STOCK = """
import os
c = get_config()
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.db_url = os.environ["COURSE_GRADEBOOK"]
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""
#: slips that a learner may make, as changes of the solved text
SLIPS = (
    ("dim=-1", "dim=0"), (" ** 0.5", ""), (".transpose(-2, -1)", ""), ("weights @ x", "weights"),
    ("weights @ v", "v"), ("powers / powers", "powers * powers"), ("self.W_v(x)", "self.W_k(x)"),
    ("x @ W_v", "x @ W_k"), ("linear.weight.T", "linear.weight"), ("roll(-1", "roll(1"),
    ("return x @ x[i]", "return x * x[i]"), ("keepdim=True", "keepdim=False"),
    ("[..., :-1, :]", "[..., 1:, :]"), ("tokens[:, :n]", "tokens[:, :n + 1]"),
)  # fmt: skip
#: what a learner hands in, in turn: solved, with one slip, half done, untouched, ...
MIX = ("solved", "slip", "half", "solved", "slips", "untouched", "solved", "slip")


class Class:
    """`count` learners who have handed in one lesson; `stock` grades with plain nbgrader.

    Example: `Class(folder, "03-query-key-value", 24).grade()` -> seconds
    """

    def __init__(self, folder: Path, lesson: str, count: int, stock: bool = False) -> None:
        self.folder, self.lesson = folder, lesson
        shutil.copytree(ROOT / "solutions" / lesson, folder / "solutions" / lesson)
        config = STOCK if stock else (ROOT / "nbgrader_config.py").read_text()
        (folder / "nbgrader_config.py").write_text(config)
        self.run("nbgrader", "generate_assignment", lesson)
        (self.released,) = (folder / "notebooks" / lesson).glob("*.ipynb")
        released = nbformat.read(self.released, as_version=4)
        source = folder / "solutions" / lesson / self.released.name
        right = solved(released, nbformat.read(source, as_version=4))
        for number in range(count):
            place = folder / "submitted" / f"learner-{number:04}" / lesson
            place.mkdir(parents=True)
            kind = MIX[number % len(MIX)]
            notebook = handed_in(kind, right, released, random.Random(number))
            nbformat.write(notebook, place / self.released.name)

    def copy(self, folder: Path) -> "Class":
        """The same class as it is now, in another folder."""
        other = copy.copy(self)
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        other.folder, other.released = folder, folder / self.released.relative_to(self.folder)
        return other

    @property
    def database(self) -> str:
        return f"sqlite:///{self.folder / 'gradebook.db'}?timeout=30"

    def run(self, *command: str, check: bool = True, **how) -> subprocess.CompletedProcess:
        """Run `nbgrader ...` or `grader ...` in the course."""
        program, *arguments = command
        return subprocess.run(
            [BIN / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            check=check,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **how,
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "JUPYTER_CONFIG_DIR": str(self.folder),
            "COURSE_GRADEBOOK": self.database,
            "COURSE_CAGE": "standard",
        }

    def grade(self, *command: str) -> float:
        """Seconds that a command takes; `grader autograde` if none is given."""
        start = time.perf_counter()
        self.run(*(command or ("grader", "autograde")), self.lesson)
        return time.perf_counter() - start

    def scores(self) -> dict[str, dict[str, float | None]]:
        """{learner: {check: automatic score}} from the gradebook."""
        with Gradebook(self.database, "attention") as gradebook:
            return {
                submission.student.id: {
                    grade.name: grade.auto_score
                    for notebook in submission.notebooks
                    for grade in notebook.grades
                }
                for submission in gradebook.assignment_submissions(self.lesson)
            }


def solved(released: NotebookNode, source: NotebookNode) -> NotebookNode:
    """The released notebook with the answers of the source."""
    solved, answers = copy.deepcopy(released), {cell.id: cell.source for cell in source.cells}
    for cell in _answers(solved):
        lines = answers[cell.id].splitlines()
        cell.source = "\n".join(line for line in lines if "### " not in line)
    return solved


def handed_in(
    kind: str, right: NotebookNode, released: NotebookNode, chance: random.Random
) -> NotebookNode:
    """What a learner of one of the kinds in MIX hands in, with slips by chance."""
    notebook = copy.deepcopy(released if kind == "untouched" else right)
    answers = _answers(notebook)
    if kind == "half":
        stubs = {cell.id: cell.source for cell in released.cells}
        for cell in answers[len(answers) // 2 :]:
            cell.source = stubs[cell.id]
    for _ in range({"slip": 1, "slips": 2}.get(kind, 0)):
        fitting = [(cell, old, new) for cell in answers for old, new in SLIPS if old in cell.source]
        cell, old, new = chance.choice(fitting)
        cell.source = cell.source.replace(old, new)
    return notebook


def _answers(notebook: NotebookNode) -> list[NotebookNode]:
    return [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    ]
