"""One submission on its way: brought into its released shape, then graded, whatever happens."""

import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import nbformat
from nbformat import NotebookNode

from grader.classroom.display import note
from grader.classroom.intake import Taken, take_in
from grader.classroom.outcome import Outcome
from grader.classroom.seeds import Seeds, at_random
from grader.runtime.cage import Cage

if TYPE_CHECKING:
    from grader.classroom.grading import Graded

TRIES = 3
OURS = (
    "The machine that grades failed ({}). That is not your doing and costs nothing. What you "
    "handed in is kept, and will be graded again."
)
log = logging.getLogger(__name__)
T = TypeVar("T")


def prepare(folder: Path, released: Path) -> NotebookNode:
    """A released notebook with this submission's answers in it; the submission is only read.

    Where it cannot be taken the notebook is the untouched one; its metadata says why, and where
    the submission lies.
    """
    found, trouble = _patiently(lambda: take_in(folder, released))
    taken = found or Taken(nbformat.read(released, as_version=4), refused=trouble)
    taken.notebook.metadata["intake"] = {
        "handed_in": str(folder), "folder": str(taken.path.parent if taken.path else folder),
        "remarks": list(taken.remarks), "refused": taken.refused, "ours": bool(trouble),
    }  # fmt: skip
    return taken.notebook


def grade(
    notebook: NotebookNode,
    outcome: Outcome,
    cage: Cage,
    files: dict[str, bytes],
    seeds: Seeds = at_random,
) -> tuple[NotebookNode, Outcome]:
    """Grade what `prepare` has made; every way this can end is an outcome, none is an exception.

    `outcome` names the submission; `files` lay beside the notebook.
    """
    intake = notebook.metadata.pop("intake")
    outcome = replace(outcome, cage=str(cage), remarks=tuple(intake["remarks"]))
    if intake["refused"]:
        return not_graded(notebook, replace(outcome, reason=intake["refused"], ours=intake["ours"]))
    start = time.monotonic()
    done, trouble = _patiently(lambda: _in_cage(notebook, files, cage, seeds))
    outcome = replace(outcome, seconds=round(time.monotonic() - start, 3))
    if done is None:
        return not_graded(notebook, replace(outcome, reason=trouble, ours=True))
    remarks = (*outcome.remarks, *done.remarks)
    return done.notebook, replace(outcome, verdicts=tuple(done.verdicts.values()), remarks=remarks)


def not_graded(notebook: NotebookNode, outcome: Outcome) -> tuple[NotebookNode, Outcome]:
    """The notebook with the reason where the reports would be."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            checks = cell.metadata.get("nbgrader", {}).get("grade")
            cell.outputs = [note(f"Not graded: {outcome.reason}")] if checks else []
    return notebook, outcome


def _in_cage(notebook: NotebookNode, files: dict[str, bytes], cage: Cage, seeds: Seeds) -> "Graded":
    # It imports torch, which a machine that only hands out work never needs.
    from grader.classroom.grading import grade_notebook

    with tempfile.TemporaryDirectory(prefix="beside-") as folder:
        Path(folder).chmod(0o755)
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return grade_notebook(notebook, cage, Path(folder), seeds)


def _patiently(action: Callable[[], T]) -> tuple[T | None, str]:
    """What the action returns; after TRIES failures of the machine None, and the reason."""
    for _ in range(TRIES):
        try:
            return action(), ""
        except (OSError, MemoryError) as error:
            log.exception("the machine failed")
            kind = getattr(error, "strerror", None) or str(error) or type(error).__name__
        except Exception as error:  # a fault of ours must not stop the class, nor cost a grade
            log.exception("the grader failed")
            kind = f"a fault in the grader: {type(error).__name__}"
    return None, OURS.format(kind)
