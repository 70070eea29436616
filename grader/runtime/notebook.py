"""Reads a notebook file and runs it in a fresh kernel."""

import json
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.errors import UserError

SECONDS_PER_CELL = 60


class NotANotebook(UserError):
    """The file cannot be read as a notebook; the message says why, in one line."""


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook of any version; raises NotANotebook with one clear line."""
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise NotANotebook(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise NotANotebook(f"{path}: this is a folder; name a notebook in it") from None
    except OSError as error:
        raise NotANotebook(f"{path}: cannot be opened ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise NotANotebook(f"{path}: this is not a notebook (its content is not JSON)") from None
    try:
        if not isinstance(content["nbformat"], int):
            raise TypeError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ids that are missing or doubled do no harm here
            notebook = nbformat.reads(json.dumps(content), as_version=4)
            nbformat.validator.normalize(notebook, strip_invalid_metadata=True)
            _ = [(cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]
    except Exception:
        raise NotANotebook(f"{path}: this is JSON, but not a notebook") from None
    return notebook


def run_notebook(notebook: NotebookNode, folder: Path, step: Callable[[], None]) -> str:
    """Run every code cell, come what may, and call `step` after each.

    A cell that raises, or takes longer than SECONDS_PER_CELL, does not stop the ones after it.
    Returns what ended the run early, or an empty string.
    """
    # Imported here: who only reads notebooks does not wait for it, and may not have it.
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        record_timing=False,
        skip_cells_with_tag="",
        resources={"metadata": {"path": str(folder)}},
        on_cell_executed=lambda **_: step(),
    )
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    try:
        client.execute(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except DeadKernelError:
        return "the kernel died"
    return ""
