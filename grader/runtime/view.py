"""What is seen in a cage: a Python and its libraries, a few files of the grader, and no more."""

import os
import shutil
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import matplotlib

PACKAGE = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
#: all of the package that is seen in the cage, beside runtime/inside
SHARED = (
    "compare.py", "figures", "lesson.py", "observe.py", "plain.py", "probes.py", "quiet.py",
    "record.py", "tiny.py", "watch.py", "wire.py", "runtime/questions.py",
)  # fmt: skip
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")
HOME = "/home/learner"
DESK = "/desk"  # the folder of sockets, as it is called in the cage
DESKS = "/desks"  # the folders of all kernels of a template, covered in each of them
COURSE = "/course"
WRITABLE = (HOME, "/tmp", "/dev/shm")


def mounts(sockets: Path, at: str, secrets: tuple[str, ...], room: int) -> Iterator[str]:
    """bubblewrap's words for the file system: read-only but for three places of `room` bytes.

    The folder of `sockets` is seen `at` DESK or DESKS; `secrets` stay hidden even if they lie in a
    folder that is shown.
    """
    above = {str(up) for path in (*SYSTEM, *python_folders()) for up in Path(path).parents}
    for folder in sorted(above - {"/"}):  # bubblewrap would make them for itself alone
        yield from ("--perms", "0755", "--dir", folder)
    for path in SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.exists(path):
            yield from ("--ro-bind", path, path)
    for path in python_folders():
        yield from ("--ro-bind", path, path)
    shown = (*SYSTEM, *python_folders())
    for secret in (*secrets, str(PACKAGE)):
        if any(Path(secret).is_relative_to(path) for path in shown) and os.path.exists(secret):
            over = ("--tmpfs",) if os.path.isdir(secret) else ("--ro-bind", "/dev/null")
            yield from (*over, secret)
    yield from ("--ro-bind", str(course()), COURSE)
    yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    for place in WRITABLE:
        yield from ("--perms", "1777", "--size", str(room), "--tmpfs", place)
    yield from ("--dir", DESK, "--bind", str(sockets), at, "--remount-ro", "/")


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
        top = source.stem in ("__init__", "boxes", "catalogue", "own", "play", "widgets")
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


def environment(home: Path, desk: Path, course: Path) -> Iterator[tuple[str, str]]:
    """All environment variables of the kernel; nothing is passed on from the grading process."""
    yield "PATH", os.path.dirname(sys.executable) + ":/usr/bin:/bin"
    yield "PYTHONPATH", str(course)
    yield "PYTHONDONTWRITEBYTECODE", "1"
    yield "LANG", "C.UTF-8"
    yield "TORCHDYNAMO_DISABLE", "1"  # torch.compile gives back what it was given: no compiler here
    yield "HOME", str(home)
    yield "MPLCONFIGDIR", str(home / ".matplotlib")
    yield "GRADER_DESK", str(desk / "desk")
    yield from (("USER", "learner"), ("LOGNAME", "learner"))
    for library in ("OMP", "OPENBLAS", "MKL"):  # more would meet the limit of processes
        yield f"{library}_NUM_THREADS", "1"
