"""The near side of a template process: starts it, asks it for kernels, and holds on to them."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

TRIES = 3
PATIENCE = 60  # seconds until a template answers: it may have to import everything first


class NoTemplate(RuntimeError):
    """No template process could be had; kernels have to be started one by one."""


class Template:
    """A template process at the address of a socket, started by the first who needs it.

    `start(listener)` starts the process, with the listening socket for its input. It lives while
    anybody holds a Template that has forked.
    Example: `Template(folder / "template", start).fork({"arguments": [...]})`
    """

    def __init__(self, address: Path, start: Callable[[socket.socket], None]) -> None:
        self._address, self._start = address, start
        self._stays: socket.socket | None = None
        self._one_at_a_time = threading.Lock()

    def fork(self, request: dict, files: tuple[int, int, int] | None = None) -> "Fork":
        """A kernel; `files` are its input and outputs, nothing by default. Raises NoTemplate."""
        with contextlib.ExitStack() as stack:
            if files is None:
                nothing = stack.enter_context(open(os.devnull, "r+b", buffering=0)).fileno()
                files = (nothing,) * 3
            for _ in range(TRIES):
                try:
                    return self._ask(request, files)
                except OSError as error:  # it ended while it was asked: its last user had gone
                    trouble = error
                    self.close()
        raise NoTemplate(f"the template process does not answer: {trouble}")

    def hold(self) -> None:
        """Have the process there, or on its way, until `close`."""
        with self._one_at_a_time:
            if self._stays and _readable(self._stays, 0):  # nothing is ever said: it is hung up
                self._stays.close()
                self._stays = None
            if self._stays is None:
                self._stays = self._connect()

    def close(self) -> None:
        """Let the process go, if nobody else holds it."""
        with self._one_at_a_time:
            if self._stays:
                self._stays.close()
                self._stays = None

    def _ask(self, request: dict, files: tuple[int, int, int]) -> "Fork":
        self.hold()
        line = self._connect()
        try:
            line.settimeout(PATIENCE)
            socket.send_fds(line, [json.dumps(request).encode()], list(files))
            answer, described, _, _ = socket.recv_fds(line, 1000, 1)
            if not answer:
                raise ConnectionResetError("it hung up")
        except BaseException:
            line.close()
            raise
        return Fork(line, described[0])

    def _connect(self) -> socket.socket:
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
            return self._dial()
        import fcntl  # Windows has none, and imports this module all the same

        with open(self._address.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # of all who find nobody there, one starts it
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return self._dial()
            self._address.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
                listener.bind(str(self._address))
                listener.listen(64)
                self._start(listener)
                return self._dial()

    def _dial(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            line.connect(str(self._address))
        except BaseException:
            line.close()
            raise
        return line


class Fork:
    """A kernel that a template has forked; it has what jupyter_client wants of a process."""

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket, described: int) -> None:
        self._line = line
        self._described = open(described, "rb", buffering=0)
        self.returncode: int | None = None
        self.pid = _number(described)

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; raises subprocess.TimeoutExpired."""
        if self._ended(timeout) is None:
            raise subprocess.TimeoutExpired("kernel", timeout)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to this process, and to no other that has got its number."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._described.fileno(), number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._line.settimeout(timeout)
            try:
                told = self._line.recv(1000)
            except (BlockingIOError, TimeoutError):
                return None
            except OSError:
                told = b""
            if told:
                self.returncode = json.loads(told)["exit"]
            elif _readable(self._described, timeout):  # the template is gone, and now the kernel
                self.returncode = -signal.SIGKILL
            if self.returncode is not None:
                self._line.close()
                self._described.close()
        return self.returncode


def _readable(one: socket.socket | BinaryIO, timeout: float | None) -> bool:
    """Whether there is something to read, or an end, before the time is over."""
    poll = select.poll()
    poll.register(one, select.POLLIN)
    return bool(poll.poll(None if timeout is None else int(1000 * timeout)))


def _number(described: int) -> int:
    """The number that a process has here; it may have another one where it was forked."""
    about = Path(f"/proc/self/fdinfo/{described}").read_text()
    return int(dict(line.split(":", 1) for line in about.splitlines())["Pid"])
