"""What the checks of an executed notebook say, one row for each exercise of its lesson."""

import json
import math
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.checks import CHECK
from grader.exercises import UnknownExercise, exercises, find
from grader.verdict import Verdict


@dataclass(frozen=True)
class Result:
    """Points and message for one exercise; `verdict` is None where the check gave none."""

    exercise: str
    points: float
    max_points: float
    message: str
    verdict: Verdict | None = None


def results(notebook: NotebookNode, ended: str = "") -> list[Result]:
    """One Result for every exercise of the lessons that the notebook has a check of.

    `ended` says why the run stopped early, if it did. A check that was deleted earns nothing.
    """
    checks = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            checks |= dict.fromkeys(CHECK.findall(cell.source), cell)
    lessons = {exercise.lesson for name in checks if (exercise := _known(name))}
    return [
        _result(exercise.name, exercise.points, checks.get(exercise.name), notebook, ended)
        for exercise in exercises()
        if exercise.lesson in lessons
    ]


def _known(name: str):
    try:
        return find(name)
    except UnknownExercise:
        return None


def error_of(cell: NotebookNode) -> str:
    """What a cell raised, in one line, or an empty string."""
    for output in cell.get("outputs", ()):
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}".rstrip(": ")
    return ""


def error_in_definition(name: str, notebook: NotebookNode) -> str:
    """What the cell that defines this answer raised: its check can only say the name is missing."""
    defines = re.compile(rf"^(def|class) {name}\b", re.MULTILINE)
    broken = [error_of(c) for c in notebook.cells if defines.search(c.source) and error_of(c)]
    return f"The cell above does not run. {broken[0]}" if broken else ""


def _result(
    name: str, points: float, cell: NotebookNode | None, notebook: NotebookNode, ended: str
) -> Result:
    if cell is None:
        return Result(name, 0.0, points, f'The cell check("{name}", ...) is missing.')
    for output in cell.outputs:
        stored = output.get("metadata", {}).get("verdict")
        if stored and json.loads(stored)["exercise"] == name:
            verdict = Verdict.from_json(stored)
            return Result(name, _earned(cell, points), points, verdict.message, verdict)
    if trouble := error_of(cell):
        return Result(name, 0.0, points, error_in_definition(name, notebook) or trouble)
    return Result(name, 0.0, points, f"No result: {ended or 'the check did not run'}.")


def _earned(cell: NotebookNode, most: float) -> float:
    """The number that the check cell ends in, as nbgrader reads it; 0 if there is none."""
    for output in cell.outputs:
        if output.output_type == "execute_result":
            try:
                points = float(output.data["text/plain"])
            except (KeyError, ValueError):
                return 0.0
            return min(max(points, 0.0), most) if math.isfinite(points) else 0.0
    return 0.0
