"""A process that has imported all that kernels import, and forks one kernel for each request.

Whoever connects says nothing, and so keeps the process alive, or sends one request with three open
files for the kernel's input and outputs. It is answered with the kernel's number (and a descriptor
that stands for just that process), and with its exit status when it ends. A kernel whose line is
hung up is killed, and when nobody is connected any more the process ends.

    python template.py   with the listening socket for its input: serves kernels without a cage

It holds nothing secret, has one thread, and has run no operation of torch: what a fork shares with
the next one is code, and the seed of `hash`.
"""

import ctypes
import gc
import importlib.util
import json
import os
import random
import select
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial

MODULES = (
    "numpy.random", "torch", "matplotlib.pyplot", "ipykernel.debugger", "ipykernel.kernelapp",
    "ipykernel.zmqshell", "IPython.core.completer", "IPython.core.magics",
)  # fmt: skip
MOST = 2**18  # bytes of a request
PATIENCE = 60  # seconds until the first connection
_PDEATHSIG, _DUMPABLE, _NAME = 1, 4, 15
_libc = ctypes.CDLL(None, use_errno=True)


def preload() -> None:
    """Import what a kernel takes seconds to import, and be left with one thread."""
    # what ipykernel would set before a lesson imports matplotlib
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    for name in MODULES:
        importlib.import_module(name)
    # OpenBLAS has started threads for numpy. It ends them before a fork, until there is work.
    if (child := os.fork()) == 0:
        os._exit(0)
    os.waitpid(child, 0)


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
        try:
            kernel = os.fork()
        except OSError:  # there are too many processes
            self._hang_up(line)
            return
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
        """In the fork: leave everything of the template behind, run, and end as Python does."""
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
        raise SystemExit  # through serve(): what is to be done at exit is done

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


def start_kernel(arguments: list[str], *unseen: str) -> None:
    """Run IPython's kernel in this process, until it is told to end.

    The `unseen` arguments are not in the kernel's `sys.argv`.
    """
    from ipykernel.kernelapp import launch_new_instance

    sys.argv = [importlib.util.find_spec("ipykernel_launcher").origin, *arguments]
    launch_new_instance([*arguments, *unseen])


def end_with(process: int) -> None:
    """End when a process does that is not the parent of this one."""
    described = os.pidfd_open(process)

    def wait() -> None:
        select.select([described], [], [])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _plain(added: dict[str, str], request: dict) -> None:
    """A kernel without a cage, as if it had been started with this environment in this folder.

    Whatever libraries have `added` to it is there too. The kernel outlives the template, and ends
    with the process that asked for it.
    """
    set_dumpable(True)
    os.environ.clear()
    os.environ.update(added | request["environment"])
    os.chdir(request["folder"])
    end_with(int(os.environ["JPY_PARENT_PID"]))
    # ipykernel would wait for its parent to end, which is the template; number 1 never does
    start_kernel(request["arguments"], "--IPKernelApp.parent_handle=1")


def _main() -> None:
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this file
    if os.fork():
        os._exit(0)  # whoever started this goes on
    listener = socket.socket(fileno=os.dup(0))
    before = set(os.environ)
    preload()
    added = {name: os.environ[name] for name in os.environ.keys() - before}
    set_dumpable(False)
    Template(listener, partial(_plain, added)).serve()


if __name__ == "__main__":
    _main()
