"""Kernels that start warm and caged at once: a template in a cage, a cage for each of its forks."""

import logging
import os
import shutil
import subprocess
import tempfile
import weakref
from dataclasses import replace
from functools import cache
from pathlib import Path
from socket import socket

from grader.runtime.cage import Cage, layers_of, own
from grader.runtime.template import Fork, NoTemplate, Template

log = logging.getLogger(__name__)
LONGEST_FOLDER = 50  # characters; the path of a socket has at most 107


class CagedTemplate:
    """The template of this process for one kind of cage; see inside/rooms.py for what a fork sees.

    `desks` is where each fork has its folder of sockets.
    Example: `CagedTemplate(cage("strict")).fork("kernel-1", "kernel")`
    """

    def __init__(self, cage: Cage) -> None:
        self.cage = cage
        self.desks = Path(cage.template, "desks")
        self._template = Template(Path(cage.template, "template"), self._start)

    def fork(
        self, name: str, what: str = "kernel", output: int | None = None, **settings: object
    ) -> Fork:
        """Start `what` enter.py can do, with the folder `desks/name`. Raises NoTemplate."""
        with open(os.devnull, "r+b", buffering=0) as nothing:
            nothing = nothing.fileno()
            files = (nothing, nothing if output is None else output, nothing)
            request = {"name": name, "what": what, "user": self.cage.user, **settings}
            return self._template.fork(request, files)

    def tried(self) -> dict[str, bool]:
        """The layers that hold for a fork, each seen to hold."""
        folder = self.make_desk()
        told, tells = os.pipe()
        try:
            fork = self.fork(folder.name, "try", tells, secrets=self.cage.secrets)
            os.close(tells)
            with open(told, "rb") as answer:
                layers = layers_of(answer.read())
            fork.wait()
        finally:
            folder.rmdir()
        return layers

    def make_desk(self) -> Path:
        """A new folder for the sockets of one fork."""
        folder = Path(tempfile.mkdtemp(prefix="kernel-", dir=self.desks))
        own(folder, self.cage)
        return folder

    def start(self) -> None:
        """Have the process start, and stay while this one holds on to it."""
        self._template.hold()

    def close(self) -> None:
        """Let the process end."""
        self._template.close()

    def _start(self, listener: socket) -> None:
        subprocess.Popen(
            self.cage.command(self.desks, "template"),
            stdin=listener,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def started(cage: Cage) -> Cage:
    """The same cage, its template on its way: it will be there while this process is.

    Processes that are given this cage share the template.
    """
    folder = Path(tempfile.mkdtemp(prefix="warm-", dir=short_folder()))
    (folder / "desks").mkdir()
    folder.chmod(0o711)
    weakref.finalize(template_for, shutil.rmtree, folder, ignore_errors=True)
    warm = replace(cage, template=str(folder))
    template_for(warm).start()
    return warm


def warmed(cage: Cage) -> Cage:
    """The same cage with warm kernels, tried out; as it was where that would hold less.

    Example: `warmed(cage("strict")).template` -> the path of a folder
    """
    if not cage.official:
        return cage
    warm = cage if cage.template else started(cage)
    try:
        layers, trouble = template_for(warm).tried(), "forks cannot be shut in as well"
    except (NoTemplate, OSError) as error:
        layers, trouble = {}, error
    if all(layers.get(name) for name, holds in cage.layers.items() if holds):
        return warm
    template_for(warm).close()
    log.warning("Kernels start cold here, which takes seconds each: %s", trouble)
    return replace(cage, template="")


@cache
def template_for(cage: Cage) -> CagedTemplate:
    """The one way that this process has to the template of a cage."""
    return CagedTemplate(cage)


def short_folder() -> str:
    """The folder for temporary files, or /tmp where that leaves no room for a socket's name."""
    usual = tempfile.gettempdir()
    return usual if len(usual) < LONGEST_FOLDER else "/tmp"
