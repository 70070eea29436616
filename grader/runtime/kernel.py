"""A kernel in a cage, its cells and its end: everything it says is for display only."""

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
import zmq.asyncio
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from grader.runtime.cage import Cage, own
from grader.runtime.desk import Desk
from grader.runtime.view import DESK

MOST_SAID = 200_000  # characters of one cell's outputs that are kept
LONGEST_MESSAGE = 16 * 2**20
MOST_FILES = 50
MOST_SENT = 2**30  # bytes that the grading process may grow by while a kernel runs
LONGEST_FOLDER = 80  # characters; the path of a socket has at most 107
PATIENCE = 5  # seconds that an interrupted cell has to stop
KEPT = {"stream", "display_data", "execute_result", "error", "status", "clear_output"}


class NoKernel(RuntimeError):
    """The kernel did not start: no fault of a submission, none of whose code has run."""


class CagedKernel:
    """Starts a kernel in a cage, runs cells in it one by one, and leaves nothing behind.

    Use it with `with`. `ended` is empty while the kernel is there, then it says in words why it is
    gone: time, memory, its own doing.
    Example: `with CagedKernel(cage("standard")) as kernel: kernel.run(cell)`
    """

    def __init__(self, cage: Cage, files: Path | None = None) -> None:
        self.cage, self.ended = cage, ""
        self._folder = Path(tempfile.mkdtemp(prefix="kernel-", dir=_short_folder()))
        own(self._folder, cage)
        self.desk = Desk(self._folder / "desk")
        self._manager = _Manager(cage, self._folder, files)
        self._client = _Client(
            new_notebook(cells=[new_code_cell()]),  # each cell in turn comes to its only place
            km=self._manager,
            timeout=None,  # see _watch
            startup_timeout=60,
            allow_errors=True,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=False,
            skip_cells_with_tag="",
            shutdown_kernel="immediate",
        )
        self._over = threading.Event()
        self._deadline, self._interrupted = math.inf, False

    def __enter__(self) -> "CagedKernel":
        try:
            self._running = self._client.setup_kernel(
                cleanup_kc=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self._running.__enter__()
        except BaseException as error:
            self._leave()
            if not isinstance(error, Exception):  # the stop button
                raise
            raise NoKernel(f"the kernel did not start: {error}") from error
        self._started = self._manager.provisioner.process
        self._process = psutil.Process(self._started.pid)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watcher.join()
        self._kill()
        try:
            self._running.__exit__(None, None, None)
        except Exception:  # it is gone, which is all that was wanted
            pass
        self._started.wait()
        self._leave()

    def run(self, cell: NotebookNode) -> str:
        """Run one cell; an empty string, or why the kernel is gone with it."""
        self._client.said = 0
        self._deadline = time.monotonic() + self.cage.limits.cell
        try:
            self._client.execute_cell(cell, 0)
        except DeadKernelError:
            self.ended = self.ended or "the kernel died"
        except Exception as error:  # the messages of the kernel are the student's to write
            self.ended = self.ended or f"its kernel sent what is no message: {type(error).__name__}"
            self._kill()
        if self._interrupted:
            cell.outputs.append(_late(self.cage.limits.cell))
        self._deadline, self._interrupted = math.inf, False
        return self.ended

    def _watch(self) -> None:
        """From outside: time by the clock, memory of all its processes, files among the sockets."""
        limits, end = self.cage.limits, time.monotonic() + self.cage.limits.wall
        ours = psutil.Process().memory_info().rss
        while not self._over.wait(0.1):
            now = time.monotonic()
            if now > self._deadline + PATIENCE:
                self.ended = f"it ran for more than {limits.cell} s and could not be stopped"
            elif now > end:
                self.ended = f"the notebook ran for more than {limits.wall} s"
            elif self._memory() > limits.memory:
                self.ended = "it used more memory than it may"
            elif psutil.Process().memory_info().rss > ours + MOST_SENT:
                self.ended = "it sent more than anybody can read"
            elif sum(1 for _ in os.scandir(self._folder)) > MOST_FILES:
                self.ended = "it wrote among the grader's sockets"
            elif now > self._deadline and not self._interrupted:
                self._interrupted = True
                self._interrupt()
            if self.ended:
                return self._kill()
        return None

    def _interrupt(self) -> None:
        """What the stop button does."""
        try:
            process = self._process
            while process.name() == "bwrap":
                process = process.children()[0]
            process.send_signal(signal.SIGINT)
        except (psutil.Error, IndexError):
            pass

    def _memory(self) -> int:
        """Bytes of all its processes; what forks share counts once, if it matters."""
        resident = self._sum(lambda process: process.memory_info().rss)
        if resident <= self.cage.limits.memory:
            return resident
        return self._sum(lambda process: process.memory_full_info().pss)

    def _sum(self, memory: Callable[[psutil.Process], int]) -> int:
        total = 0
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in (self._process, *self._process.children(recursive=True)):
                try:
                    total += memory(process)
                except psutil.AccessDenied:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:  # one that ended meanwhile
                    continue
        return total

    def _kill(self) -> None:
        """With bubblewrap dies the namespace of processes, and all that is in it."""
        try:
            self._process.send_signal(signal.SIGKILL)
        except psutil.Error:
            pass

    def _leave(self) -> None:
        self._over.set()
        self.desk.shut()
        shutil.rmtree(self._folder, ignore_errors=True)


def _short_folder() -> str:
    """The folder for temporary files, or /tmp where that leaves no room for a socket's name."""
    usual = tempfile.gettempdir()
    return usual if len(usual) < LONGEST_FOLDER else "/tmp"


def _late(seconds: int) -> NotebookNode:
    text = f"Interrupted after {seconds} s. Is there a loop that never ends?\n"
    return NotebookNode(output_type="stream", name="stdout", text=text)


class _Manager(AsyncKernelManager):
    """Talks over sockets in a folder that is called differently on the two sides."""

    def __init__(self, cage: Cage, folder: Path, files: Path | None) -> None:
        context = zmq.asyncio.Context()
        context.maxmsgsize = LONGEST_MESSAGE
        super().__init__(
            context=context,
            transport="ipc",
            ip=str(folder / "kernel"),
            connection_file=str(folder / "outside.json"),
        )
        self._folder = folder
        self._inside = Path(DESK) if cage.official else folder
        command = cage.command(folder, files, "kernel", str(self._inside / "inside.json"))
        self._kernel_spec = KernelSpec(argv=command)

    def write_connection_file(self, **kwargs: Any) -> None:
        """One file for this side, one for the other."""
        super().write_connection_file(**kwargs)
        described = json.loads(Path(self.connection_file).read_text())
        inside = self._folder / "inside.json"
        inside.write_text(json.dumps(described | {"ip": str(self._inside / "kernel")}))
        inside.chmod(0o644)


class _Client(NotebookClient):
    """Keeps of a cell's messages those that are shown, and no more than MOST_SAID of them."""

    said = 0

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        if msg["msg_type"] not in KEPT:
            return None
        if msg["msg_type"] != "status":
            self.said += len(str(msg["content"]))
            if self.said > MOST_SAID:
                return None
        return super().process_message(msg, cell, cell_index)
