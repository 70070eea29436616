"""The cage that a submission runs in: bubblewrap around a Python of its own, and what it holds.

cage  namespaces and limits     view    what is seen in it      inside/  what runs in it first
desk  serves what is in it      kernel  a kernel in a cage
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import UserError
from grader.runtime import view
from grader.runtime.view import COURSE, DESK, DESKS, HOME, WRITABLE

LEVELS = ("none", "standard", "strict")
REQUIRED = {
    "none": (),
    "standard": ("files", "network", "other processes", "memory", "number of processes"),
}
REQUIRED["strict"] = (*REQUIRED["standard"], "system calls", "Landlock")

FIRST_USER = 61_184  # systemd's range for users that exist only while something runs
GIGABYTE = 2**30
_turns = threading.local()


class NoCage(UserError):
    """The cage cannot be had as configured; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Seconds by the clock, outside the cage: for one `check`, for any other `cell`, for all.
    """

    check: int = 10
    cell: int = 60
    wall: int = 600
    cpu: int = 600
    memory: int = 4 * GIGABYTE
    file: int = 64 * 2**20
    disk: int = 128 * 2**20
    open_files: int = 512
    processes: int = 64

    @property
    def inside(self) -> dict[str, int]:
        """The limits that the kernel of the machine keeps, by their names there."""
        return {
            "RLIMIT_CPU": self.cpu, "RLIMIT_AS": self.memory, "RLIMIT_FSIZE": self.file,
            "RLIMIT_NOFILE": self.open_files, "RLIMIT_NPROC": self.processes, "RLIMIT_CORE": 0,
        }  # fmt: skip


@dataclass(frozen=True)
class Cage:
    """How submissions are shut in; `layers` says what was seen to hold when it was tried.

    Example: `cage("standard").layers["network"]` -> True
    """

    level: str
    limits: Limits = Limits()
    layers: dict[str, bool] = field(default_factory=dict, compare=False)
    as_user: bool = False  # root starts it, and it becomes another user
    secrets: tuple[str, ...] = ()
    template: str = ""  # the folder of the template that kernels are forked from, see warm.py

    @property
    def official(self) -> bool:
        return self.level != "none"

    @property
    def user(self) -> int | None:
        """The number of the user that a submission runs as, None for whoever grades.

        The limit of processes is kept for each user. So each thread has another one, and each
        kernel that it starts: processes of the last one may not be gone yet.
        """
        turn = threading.get_native_id() + 61 * getattr(_turns, "taken", 0)
        return FIRST_USER + turn % 4000 if self.as_user else None

    def __str__(self) -> str:
        if not self.official:
            return "graded without a cage: the code it ran could do whatever the grader can"
        held = [name for name, holds in self.layers.items() if holds]
        missing = [name for name, holds in self.layers.items() if not holds]
        absent = f"; not here: {', '.join(missing)}" if missing else ""
        return f"run in a cage that held ({', '.join(held)}{absent})"

    def command(self, sockets: Path, what: str) -> list[str]:
        """The command that starts `inside/enter.py` in a cage of its own, to do `what` it can do.

        `sockets` is the folder that both sides see: of one kernel, or, for a template, with the
        folders of all its kernels in it.
        """
        settings = {
            "limits": self.limits.inside, "user": self.user, "desk": DESK, "desks": DESKS,
            "writable": WRITABLE, "room": self.limits.disk, "caged": self.official,
            "secrets": self.secrets if what == "try" else (),
        }  # fmt: skip
        python = [sys.executable, "-u", "-Xfrozen_modules=off"]
        if not self.official:
            home = sockets / "home"
            home.mkdir(exist_ok=True)
            settings["desk"] = str(sockets)
            pairs = view.environment(home, sockets, view.course())
            start = ["env", "-i", *map("=".join, pairs), *python, str(view.course() / "enter.py")]
            return [*start, json.dumps(settings), what]
        variables = view.environment(Path(HOME), Path(DESK), Path(COURSE))
        at = DESKS if what == "template" else DESK
        seen = view.mounts(sockets, at, self.secrets, self.limits.disk)
        return [
            "bwrap", *self._namespaces(what), *seen,
            *(word for pair in variables for word in ("--setenv", *pair)),
            *python, f"{COURSE}/enter.py", json.dumps(settings), what,
        ]  # fmt: skip

    def _namespaces(self, what: str) -> Iterator[str]:
        yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
        yield from ("--unshare-cgroup-try", "--hostname", "cage")
        yield from ("--new-session", "--clearenv", "--cap-drop", "ALL")
        if what != "template":  # which outlives the thread that started it, and ends by itself
            yield "--die-with-parent"
        if self.as_user:  # inside/ gives all of them up when it becomes that user
            for needed in ("SETUID", "SETGID", "CHOWN"):
                yield from ("--cap-add", f"CAP_{needed}")
            if what == "template":  # makes rooms, and kills what has become another user
                yield from ("--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_KILL")
        else:
            yield "--unshare-user"
            if what != "template":
                yield "--disable-userns"


def cage(level: str, secrets: tuple[str, ...] = (), limits: Limits | None = None) -> Cage:
    """The cage at one of LEVELS, tried out; raises NoCage if a layer that it needs does not hold.

    `secrets` are paths that must not be seen in it: solutions, gradebook, other submissions.
    """
    limits = limits or Limits()
    if level not in LEVELS:
        raise NoCage(f"There is no cage called {level!r}. There are: {', '.join(LEVELS)}.")
    if level == "none":
        return Cage(level, limits)
    if not shutil.which("bwrap"):
        raise NoCage(_refusal(level, "bubblewrap is not installed (apt install bubblewrap)"))
    secrets = (str(view.PACKAGE / "exercises"), *secrets)
    found = Cage(level, limits, {}, False, secrets)
    for as_user in _ways():
        tried = _tried(Cage(level, limits, {}, as_user, secrets))
        found = max(found, tried, key=lambda one: sum(one.layers.values()))
        if all(found.layers.get(name) for name in REQUIRED["strict"]):
            break
    missing = [name for name in REQUIRED[level] if not found.layers.get(name)]
    if missing:
        raise NoCage(_refusal(level, f"this does not hold on this machine: {', '.join(missing)}"))
    return found


def _refusal(level: str, why: str) -> str:
    return (
        f"Submissions cannot be graded in a cage of level {level!r}: {why}. Nothing was run. "
        'With "none" for a cage they run unprotected, and every verdict says so.'
    )


def _ways() -> tuple[bool, ...]:
    """Root can become a user that has nothing else; whoever is not root needs a user namespace."""
    return (True, False) if os.geteuid() == 0 else (False,)


def _tried(one: Cage) -> Cage:
    with tempfile.TemporaryDirectory(prefix="cage-") as folder:
        own(Path(folder), one)
        done = subprocess.run(
            one.command(Path(folder), "try"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
    return replace(one, layers=layers_of(done.stdout))


def layers_of(said: bytes) -> dict[str, bool]:
    """What inside/attempts.py has found, nothing if it did not get that far."""
    try:
        return json.loads(said)
    except ValueError:
        return {}


def next_user() -> None:
    """From now on this thread's submissions run as another user."""
    _turns.taken = getattr(_turns, "taken", 0) + 1


def own(folder: Path, one: Cage) -> None:
    """Let the user of the cage bind its sockets in this folder."""
    if one.user is not None:
        os.chown(folder, one.user, one.user)
