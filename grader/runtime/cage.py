"""The cage that a submission runs in: bubblewrap around a Python of its own, and what it holds.

cage    namespaces, what can be seen in them, limits     inside/  what runs in it first
desk    answers what the submission asks of the grader    kernel   a kernel in the cage
"""

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import matplotlib

LEVELS = ("none", "standard", "strict")
REQUIRED = {
    "none": (),
    "standard": ("files", "network", "other processes", "memory", "number of processes"),
}
REQUIRED["strict"] = (*REQUIRED["standard"], "system calls", "Landlock")

PACKAGE = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
#: all of the package that is seen in the cage, beside runtime/inside
SHARED = (
    "compare.py", "figures", "lesson.py", "observe.py", "plain.py", "probes.py", "quiet.py",
    "record.py", "wire.py", "runtime/questions.py",
)  # fmt: skip
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")
HOME = "/home/learner"
DESK = "/desk"  # the folder of sockets, as it is called in the cage
FIRST_USER = 61_184  # systemd's range for users that exist only while something runs
GIGABYTE = 2**30


class NoCage(RuntimeError):
    """The cage cannot be had as configured; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use. `cell` and `wall` are seconds by the clock, outside the cage."""

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

    @property
    def official(self) -> bool:
        return self.level != "none"

    def __str__(self) -> str:
        if not self.official:
            return "graded without a cage: the code it ran could do whatever the grader can"
        held = [name for name, holds in self.layers.items() if holds]
        missing = [name for name, holds in self.layers.items() if not holds]
        absent = f"; not here: {', '.join(missing)}" if missing else ""
        return f"caged ({', '.join(held)}{absent})"

    def command(self, run: Path, files: Path | None, *what: str) -> list[str]:
        """The command that starts `inside/enter.py` in a cage of its own.

        `run` is the folder for sockets, the one place that both sides see; `files` what was
        handed in beside the notebook.
        """
        user = FIRST_USER + os.getpid() % 4000 if self.as_user else None
        settings = {
            "limits": self.limits.inside, "user": user, "desk": DESK,
            "files": "/submission", "caged": self.official,
            "secrets": self.secrets,
        }  # fmt: skip
        python = [sys.executable, "-P", "-u"]
        if not self.official:
            home = run / "home"
            home.mkdir(exist_ok=True)
            settings |= {"limits": {}, "desk": str(run), "files": str(files or "")}
            pairs = (f"{name}={value}" for name, value in _environment(home, run, course()))
            start = ["env", "-i", *pairs, *python, str(course() / "enter.py")]
            return [*start, json.dumps(settings), *what]
        environment = _environment(Path(HOME), Path(DESK), Path("/course"))
        return [
            "bwrap", *self._namespaces(), *self._mounts(run, files),
            *(word for pair in environment for word in ("--setenv", *pair)),
            *python, "/course/enter.py", json.dumps(settings), *what,
        ]  # fmt: skip

    def _namespaces(self) -> Iterator[str]:
        yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
        yield from ("--unshare-cgroup-try", "--hostname", "cage")
        yield from ("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL")
        if self.as_user:  # inside/enter.py gives both up when it becomes that user
            yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
            yield from ("--cap-add", "CAP_CHOWN")
        else:
            yield from ("--unshare-user", "--disable-userns")

    def _mounts(self, run: Path, files: Path | None) -> Iterator[str]:
        above = {str(up) for path in (*SYSTEM, *python_folders()) for up in Path(path).parents}
        for folder in sorted(above - {"/"}):  # bubblewrap would make them for itself alone
            yield from ("--perms", "0755", "--dir", folder)
        for path in SYSTEM:
            if os.path.islink(path):
                yield from ("--symlink", os.readlink(path), path)
            elif os.path.exists(path):
                yield from ("--ro-bind", path, path)
        for secret in self.secrets:  # should one of them lie in what is shown
            if any(Path(secret).is_relative_to(path) for path in SYSTEM):
                yield from ("--tmpfs", secret)
        for path in python_folders():
            yield from ("--ro-bind", path, path)
            if Path(PACKAGE).is_relative_to(path):
                yield from ("--tmpfs", str(PACKAGE))
        yield from ("--ro-bind", str(course()), "/course")
        yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
        if files:
            yield from ("--ro-bind", str(files), "/submission")
        for place in (HOME, "/tmp", "/dev/shm"):
            yield from ("--perms", "1777", "--size", str(self.limits.disk), "--tmpfs", place)
        yield from ("--bind", str(run), DESK, "--remount-ro", "/")


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
    secrets = (str(PACKAGE / "exercises"), *secrets)
    found = [_tried(Cage(level, limits, {}, as_user, secrets)) for as_user in _ways()]
    best = max(found, key=lambda tried: sum(tried.layers.values()))
    missing = [name for name in REQUIRED[level] if not best.layers.get(name)]
    if missing:
        raise NoCage(_refusal(level, f"this does not hold on this machine: {', '.join(missing)}"))
    return best


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
            one.command(Path(folder), None, "try"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
    try:
        layers = json.loads(done.stdout)
    except ValueError:
        layers = {}
    return Cage(one.level, one.limits, layers, one.as_user, one.secrets)


def own(folder: Path, one: Cage) -> None:
    """Let the user of the cage bind its sockets in this folder."""
    if one.as_user:
        user = FIRST_USER + os.getpid() % 4000
        os.chown(folder, user, user)


@cache
def course() -> Path:
    """A folder with all that is seen of the grader in a cage, made once for each process."""
    made = tempfile.TemporaryDirectory(prefix="course-")
    course.kept = made  # gone when the process ends
    folder = Path(made.name)
    folder.chmod(0o755)
    package = folder / "grader"
    package.mkdir()
    for name in SHARED:
        source, target = PACKAGE / name, package / Path(name).name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, target)
    for source in sorted((HERE / "inside").glob("*.py")):
        top = source.stem in ("__init__", "catalogue")
        shutil.copyfile(source, (package if top else folder) / source.name)
    fonts = Path(matplotlib.get_cachedir()).glob("fontlist*.json")  # slow to make anew
    (folder / "matplotlib").mkdir()
    for path in fonts:
        shutil.copyfile(path, folder / "matplotlib" / path.name)
    return folder


@cache
def python_folders() -> tuple[str, ...]:
    """The folders of this Python and its libraries, without what else lies around them."""
    prefixes = {sys.prefix, sys.base_prefix}
    paths = {os.path.join(prefix, name) for prefix in prefixes for name in ("bin", "lib", "lib64")}
    paths |= {os.path.join(sys.prefix, "pyvenv.cfg"), sysconfig.get_path("stdlib")}
    paths |= {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        paths.add(site.getusersitepackages())
    return tuple(sorted(path for path in paths if os.path.exists(path) and path not in SYSTEM))


def _environment(home: Path, desk: Path, course: Path) -> Iterator[tuple[str, str]]:
    """All environment variables of the kernel; nothing is passed on from the grading process."""
    yield "PATH", os.path.dirname(sys.executable) + ":/usr/bin:/bin"
    yield "PYTHONPATH", str(course)
    yield "PYTHONDONTWRITEBYTECODE", "1"
    yield "LANG", "C.UTF-8"
    yield "HOME", str(home)
    yield "MPLCONFIGDIR", str(home / ".matplotlib")
    yield "GRADER_DESK", str(desk / "desk")
    yield from (("USER", "learner"), ("LOGNAME", "learner"))
    for library in ("OMP", "OPENBLAS", "MKL"):  # more would meet the limit of processes
        yield f"{library}_NUM_THREADS", "1"
