"""What a Dask worker does: it grades one prepared submission, whose code runs in a cage.

Nothing of a submission runs in the worker's own process, and what the worker knows (the exercises,
the key of the inputs) is not seen in the cage.
"""

import gc
import json
from dataclasses import asdict, dataclass
from functools import cache

import nbformat

from grader.classroom.ledger import code_version
from grader.classroom.outcome import Outcome
from grader.classroom.seeds import seeds_of
from grader.classroom.submission import grade
from grader.runtime.cage import Cage, NoCage, cage
from grader.runtime.warm import warmed


class OtherCode(RuntimeError):
    """This worker has another version of the course than the machine that sends it work."""


@dataclass(frozen=True)
class Task:
    """One notebook of one submission, with all that is needed to grade it anywhere.

    `cage` is tried out already (its layers are known) on the machine that has made the task, and
    is tried out here otherwise.
    """

    outcome: Outcome
    notebook: str
    files: dict[str, bytes]
    cage: Cage
    seeds_key: bytes
    code: str


def work(task: Task) -> tuple[dict, str]:
    """The outcome as plain data, and the notebook with the reports in it.

    Raises NoCage, OtherCode where this worker cannot grade; any other failure as a RuntimeError,
    as Dask waits for ever for an exception that cannot be sent.
    """
    try:
        return _work(task)
    except (NoCage, OtherCode):
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from None


def _work(task: Task) -> tuple[dict, str]:
    _same_code(task.code)
    _settle()
    notebook = nbformat.from_dict(json.loads(task.notebook))
    shut_in = task.cage if task.cage.layers else _cage_here(task.cage)
    done, outcome = grade(notebook, task.outcome, shut_in, task.files, seeds_of(task.seeds_key))
    return asdict(outcome), nbformat.writes(done)


def ready(wanted: Cage, code: str) -> str:
    """Why this worker cannot grade, as the end of a sentence; nothing if it can."""
    try:
        _same_code(code)
        _cage_here(wanted)
    except (NoCage, OtherCode) as error:
        return f"cannot grade: {error}"
    return ""


def _same_code(code: str) -> None:
    if code != code_version():
        raise OtherCode("it has another version of the course; install the same one there.")


@cache
def _settle() -> None:
    """What is imported is not looked at again whenever memory is tidied up."""
    gc.collect()
    gc.freeze()


@cache
def _cage_here(wanted: Cage) -> Cage:
    return warmed(cage(wanted.level, wanted.secrets, wanted.limits))
