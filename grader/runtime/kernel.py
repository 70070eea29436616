"""A kernel in a cage, its cells and its end: everything it says is for display only."""

import contextlib
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

import psutil
from nbformat import NotebookNode

from grader.runtime.cage import Cage, next_user, own
from grader.runtime.channels import Channels, Gone
from grader.runtime.desk import Desk
from grader.runtime.template import Fork, NoTemplate
from grader.runtime.view import DESK
from grader.runtime.warm import short_folder, template_for

MOST_FILES = 50
MOST_SENT = 2**30  # bytes that the grading process may grow by while a kernel runs
PATIENCE = 5  # seconds that an interrupted cell has to stop


class NoKernel(OSError):
    """The kernel did not start: no fault of a submission, none of whose code has run."""


class CagedKernel:
    """Starts a kernel in a cage, runs cells in it one by one, and leaves nothing behind.

    Use it with `with`. `ended` is empty while the kernel is there, then it says in words why it is
    gone: time, memory, its own doing. `late` says that the last cell had to be interrupted.
    Example: `with CagedKernel(cage("standard")) as kernel: kernel.run(cell)`
    """

    def __init__(self, cage: Cage, files: Path | None = None) -> None:
        next_user()
        self.cage, self.ended, self.late = cage, "", False
        template = template_for(cage) if cage.template else None
        if template:
            self._folder = template.make_desk()
        else:
            self._folder = Path(tempfile.mkdtemp(prefix="kernel-", dir=short_folder()))
            own(self._folder, cage)
        if files:
            shutil.copytree(files, self._folder / "files")
        self.desk = Desk(self._folder / "desk")
        inside = Path(DESK) if cage.official else self._folder
        self._channels = Channels(self._folder, inside, lambda: self._started.poll() is None)
        self._over = threading.Event()
        self._deadline, self._seconds, self._interrupted = math.inf, 0, False

    def __enter__(self) -> "CagedKernel":
        try:
            self._started = self._start()
            self._process = psutil.Process(self._started.pid)
        except (OSError, NoTemplate, psutil.Error) as error:
            self._leave()
            raise NoKernel(f"the kernel did not start: {error}") from error
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        try:
            self._channels.wait_until_ready()
        except BaseException as error:
            self.__exit__(None, None, None)
            if not isinstance(error, Gone):  # the stop button
                raise
            raise NoKernel(f"the kernel did not start: {error}") from error
        return self

    def _start(self) -> subprocess.Popen | Fork:
        if self.cage.template:
            return template_for(self.cage).fork(self._folder.name)
        return subprocess.Popen(
            self.cage.command(self._folder, "kernel"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._watcher.join()
        family = self._family()
        self._kill()
        self._started.wait()
        psutil.wait_procs(family, timeout=PATIENCE)  # they count for the next one of this user
        self._leave()

    def run(self, cell: NotebookNode, seconds: int = 0) -> str:
        """Run one cell, for the time that any cell has or for `seconds`.

        An empty string, or why the kernel is gone with it.
        """
        self._seconds = seconds or self.cage.limits.cell
        self._deadline = time.monotonic() + self._seconds
        try:
            cell.outputs = self._channels.execute(cell.source)
        except Gone as gone:
            cell.outputs = gone.args[1]
            self.ended = self.ended or "the kernel died"
        self.late = self._interrupted
        if self.late:
            cell.outputs.append(_late(self._seconds))
        self._deadline, self._interrupted = math.inf, False
        return self.ended

    def _watch(self) -> None:
        """From outside: time by the clock, memory of all its processes, files among the sockets."""
        limits, end = self.cage.limits, time.monotonic() + self.cage.limits.wall
        ours = psutil.Process().memory_info().rss
        while not self._over.wait(0.2):
            now = time.monotonic()
            if now > self._deadline + PATIENCE:
                self.ended = f"it ran for more than {self._seconds} s and could not be stopped"
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
            while process.name() in ("bwrap", "cage"):
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

    def _family(self) -> list[psutil.Process]:
        try:
            return self._process.children(recursive=True)
        except psutil.Error:
            return []

    def _kill(self) -> None:
        """With bubblewrap dies the namespace of processes, and all that is in it."""
        try:
            self._process.send_signal(signal.SIGKILL)
        except psutil.Error:
            pass

    def _leave(self) -> None:
        self._over.set()
        self._channels.close()
        self.desk.shut()
        shutil.rmtree(self._folder, ignore_errors=True)


def _late(seconds: int) -> NotebookNode:
    text = f"Interrupted after {seconds} s. Is there a loop that never ends?\n"
    return NotebookNode(output_type="stream", name="stdout", text=text)
