"""A process that has imported all that kernels import, and forks one kernel for each request.

Whoever connects says nothing, and so keeps the process alive, or sends one request with three open
files for the kernel's input and outputs. It is answered with the kernel's number (and a descriptor
that stands for just that process), and with its exit status when it ends. A kernel whose line is
hung up is killed, and when nobody is connected any more the process ends.

It holds nothing secret, has one thread, and has run no operation of torch: what a fork shares with
the next one is code.
"""

import ctypes
import gc
import importlib
import json
import os
import random
import selectors
import signal
import socket
import sys
from collections.abc import Callable

MODULES = (
    "numpy", "torch", "matplotlib.pyplot", "ipykernel.debugger", "ipykernel.kernelapp",
    "ipykernel.zmqshell", "IPython.core.completer", "IPython.core.magics",
)  # fmt: skip
MOST = 2**18  # bytes of a request
PATIENCE = 60  # seconds until the first connection
_PDEATHSIG, _DUMPABLE, _NAME = 1, 4, 15
_libc = ctypes.CDLL(None, use_errno=True)


def preload() -> None:
    """Import what a kernel takes seconds to import, without starting a thread."""
    # what ipykernel would set before a lesson imports matplotlib
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    kept = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would start its threads at once
    for name in MODULES:
        importlib.import_module(name)
    if kept is None:
        del os.environ["OPENBLAS_NUM_THREADS"]
    else:
        os.environ["OPENBLAS_NUM_THREADS"] = kept


def reseed() -> None:
    """A fork draws other random numbers than the next one."""
    import numpy
    import torch

    random.seed()
    numpy.random.seed()
    torch.seed()


def set_dumpable(allowed: bool) -> None:
    """Whether processes of the same user may read the memory of this one."""
    _libc.prctl(_DUMPABLE, int(allowed), 0, 0, 0)


def set_name(name: str) -> None:
    """What this process is called in a list of processes."""
    _libc.prctl(_NAME, name.encode(), 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the process ends that forked this one."""
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Template:
    """Serves a listening socket; `run(request)` is called in each fork, and its end is the fork's.

    Example: `Template(socket.socket(fileno=0), run).serve()`
    """

    def __init__(self, listener: socket.socket, run: Callable[[dict], None]) -> None:
        self._listener, self._run = listener, run
        self._kernels: dict[int, socket.socket] = {}
        self._lines: set[socket.socket] = set()
        self._ready = selectors.DefaultSelector()
        self._wakes, self._woken = socket.socketpair()
        self._wakes.setblocking(False)
        self._woken.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)
        self._ready.register(self._listener, selectors.EVENT_READ, self._accept)
        self._ready.register(self._wakes, selectors.EVENT_READ, self._reap)

    def serve(self) -> None:
        """Until the last line is hung up."""
        gc.collect()
        gc.freeze()  # what is imported stays in pages that all forks share
        served = False
        while self._lines or not served:
            events = self._ready.select(None if served else PATIENCE)
            for key, _ in events:
                key.data(key.fileobj)
            served = True
        for kernel in self._kernels:
            os.kill(kernel, signal.SIGKILL)

    def _accept(self, listener: socket.socket) -> None:
        line, _ = listener.accept()
        self._lines.add(line)
        self._ready.register(line, selectors.EVENT_READ, self._hear)

    def _hear(self, line: socket.socket) -> None:
        try:
            message, files, _, _ = socket.recv_fds(line, MOST, 3)
        except OSError:
            message, files = b"", []
        if message and line not in self._kernels.values():
            self._fork(line, json.loads(message), files)
        else:
            self._hang_up(line)
        for number in files:
            os.close(number)

    def _fork(self, line: socket.socket, request: dict, files: list[int]) -> None:
        kernel = os.fork()
        if kernel == 0:
            self._become(request, files)
        self._kernels[kernel] = line
        described = os.pidfd_open(kernel)
        try:
            socket.send_fds(line, [json.dumps({"pid": kernel}).encode()], [described])
        except OSError:
            self._hang_up(line)
        finally:
            os.close(described)

    def _become(self, request: dict, files: list[int]) -> None:
        """In the fork: leave everything of the template behind, and run."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.setsid()
            for one in (self._listener, self._wakes, self._woken, self._ready, *self._lines):
                one.close()
            for standard, number in enumerate(files):
                os.dup2(number, standard)
            os.closerange(3, 1024)
            reseed()
            self._run(request)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _reap(self, wakes: socket.socket) -> None:
        wakes.recv(4096)
        for kernel, line in tuple(self._kernels.items()):
            done, status = os.waitpid(kernel, os.WNOHANG)
            if done:
                del self._kernels[kernel]
                try:
                    line.send(json.dumps({"exit": os.waitstatus_to_exitcode(status)}).encode())
                except OSError:
                    pass
                self._hang_up(line)

    def _hang_up(self, line: socket.socket) -> None:
        for kernel, of in self._kernels.items():
            if of is line:
                os.kill(kernel, signal.SIGKILL)
        if line in self._lines:
            self._lines.remove(line)
            self._ready.unregister(line)
            line.close()


def start_kernel(arguments: list[str]) -> None:
    """Run IPython's kernel in this process, until it is told to end."""
    from ipykernel.kernelapp import launch_new_instance

    sys.argv = ["ipykernel_launcher.py", *arguments]
    launch_new_instance(arguments)


def _plain(request: dict) -> None:
    """A kernel without a cage, as if it had been started with this environment in this folder."""
    set_dumpable(True)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    os.chdir(request["folder"])
    start_kernel(request["arguments"])


if __name__ == "__main__":
    listening = socket.socket(fileno=os.dup(0))
    preload()
    set_dumpable(False)
    Template(listening, _plain).serve()
