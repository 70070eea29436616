"""One submission on its way: staged in its released shape, then graded, whatever happens."""

import logging
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import parse_utc

from grader.classroom.display import note
from grader.classroom.files import copy_beside, read_regular
from grader.classroom.grading import Graded, grade_notebook
from grader.classroom.intake import Taken, take_in
from grader.classroom.outcome import Outcome
from grader.runtime.cage import Cage
from grader.runtime.kernel import NoKernel

TRIES = 3
TIME = "timestamp.txt"
#: what `nbgrader submit` writes beside the notebook, and needs to hand feedback back
FROM_NBGRADER = (TIME, "submission_secret.txt")
OURS = (
    "The machine that grades failed ({}). That is not your doing and costs nothing. What you "
    "handed in is kept, and will be graded again."
)
log = logging.getLogger(__name__)
T = TypeVar("T")


def stage(folder: Path, released: Path, target: Path) -> None:
    """Write every notebook of a released lesson into `target`, with this submission's answers.

    The submission itself is only read. Where it cannot be taken the notebook is the untouched one;
    its metadata says why, and where the submission lies.
    """
    target.mkdir(parents=True)
    for name in () if folder.is_symlink() or folder.parent.is_symlink() else FROM_NBGRADER:
        content = read_regular(folder / name, 1000)
        if content and (name != TIME or _is_time(content)):
            (target / name).write_bytes(content)
    for path in sorted(released.glob("*.ipynb")):
        found, trouble = _patiently(lambda path=path: take_in(folder, path))
        taken = found or Taken(nbformat.read(path, as_version=4), refused=trouble)
        taken.notebook.metadata["intake"] = {
            "folder": str(taken.place or folder), "remarks": list(taken.remarks),
            "refused": taken.refused, "ours": bool(trouble),
        }  # fmt: skip
        nbformat.write(taken.notebook, target / path.name)


def grade(
    notebook: NotebookNode, lesson: str, student: str, name: str, cage: Cage
) -> tuple[NotebookNode, Outcome]:
    """Grade a staged notebook; every way this can end is an outcome, none is an exception."""
    intake = notebook.metadata.pop("intake")
    outcome = Outcome(lesson, student, name, cage=str(cage), remarks=tuple(intake["remarks"]))
    if intake["refused"]:
        return _not_graded(
            notebook, replace(outcome, reason=intake["refused"], ours=intake["ours"])
        )
    done, trouble = _patiently(lambda: _in_cage(notebook, Path(intake["folder"]), cage))
    if done is None:
        return _not_graded(notebook, replace(outcome, reason=trouble, ours=True))
    remarks = (*outcome.remarks, *done.remarks)
    return done.notebook, replace(outcome, verdicts=tuple(done.verdicts.values()), remarks=remarks)


def _in_cage(notebook: NotebookNode, folder: Path, cage: Cage) -> Graded:
    with tempfile.TemporaryDirectory(prefix="beside-") as files:
        Path(files).chmod(0o755)
        copy_beside(folder, Path(files), but=FROM_NBGRADER)
        return grade_notebook(notebook, cage, Path(files))


def _not_graded(notebook: NotebookNode, outcome: Outcome) -> tuple[NotebookNode, Outcome]:
    for cell in notebook.cells:
        if cell.cell_type == "code":
            checks = cell.metadata.get("nbgrader", {}).get("grade")
            cell.outputs = [note(f"Not graded: {outcome.reason}")] if checks else []
    return notebook, outcome


def _patiently(action: Callable[[], T]) -> tuple[T | None, str]:
    """What the action returns; after TRIES failures of the machine None, and the reason."""
    for _ in range(TRIES):
        try:
            return action(), ""
        except (OSError, NoKernel, MemoryError) as error:
            log.exception("the machine failed")
            kind = getattr(error, "strerror", None) or str(error) or type(error).__name__
        except Exception as error:  # a fault of ours must not stop the class, nor cost a grade
            log.exception("the grader failed")
            kind = f"a fault in the grader: {type(error).__name__}"
    return None, OURS.format(kind)


def _is_time(stamp: bytes) -> bool:
    try:
        parse_utc(stamp.decode().strip())
    except (ValueError, OverflowError):
        return False
    return True
