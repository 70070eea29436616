"""Finds the notebooks in a folder that was handed in, following no link and reading no device."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from grader.classroom.reading import NotReadable, notebook_of

MOST_BYTES = 50_000_000  # of one file; of all files together twice as much
MOST_ENTRIES = 1000  # that are looked at
MOST_NAMES = 100_000  # that are read, to find notebooks among them
MOST_LEVELS = 3
MOST_SHOWN = 60  # characters of a file's name
_ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json")
_PERHAPS = (".json", ".txt")  # no matter if these are something else
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LARGE = "is too large; clear its outputs and save it again"
_LINK = "is a link, and links are not followed; hand in the notebook itself"
_DEVICE = "is no regular file; hand in the notebook itself"


class NoFolder(ValueError):
    """What was handed in is no folder; the message says so to the learner."""


@dataclass
class Found:
    """The notebooks in a folder by name, sentences on what should be one, and all other names."""

    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    entries: int = 0
    bytes: int = 0


def look(folder: Path) -> Found:
    """Read every notebook in the folder and those below; raises NoFolder, or OSError.

    Hidden files are passed over. A failure to read a regular file is the machine's, and is raised.
    Example: `look(Path("submitted/ada/01-averaging")).notebooks` -> {"averaging.ipynb": ...}
    """
    found = Found()
    try:
        with _opened(folder, _FOLDER) as number:
            _look_in(number, "", 1, found)
    except FileNotFoundError:
        raise NoFolder("Nothing was handed in.") from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise NoFolder(
            "What was handed in is a link or a file, not a folder. Hand in the notebook itself."
        ) from None
    if found.entries > MOST_ENTRIES:
        found.troubles.append(
            f"There are more than {MOST_ENTRIES} files, and not all were looked at; hand in the "
            "notebook alone."
        )
    return found


def shown(name: str) -> str:
    """The end of a file's name, harmless to print: `shown("a\\n.ipynb")` -> "a?.ipynb"."""
    text = "".join(char if char.isprintable() else "?" for char in name)
    return text if len(text) <= MOST_SHOWN else f"…{text[1 - MOST_SHOWN :]}"


def _look_in(folder: int, path: str, level: int, found: Found) -> None:
    """Read the files of an open folder, then those of the folders in it."""
    folders = []
    for name in _names(folder, found):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            folders.append(name)
        else:
            _take(folder, path + name, mode, found)
    for name in folders if level < MOST_LEVELS else []:
        with _opened(name, _FOLDER, folder) as number:
            _look_in(number, f"{path}{name}/", level + 1, found)


def _names(folder: int, found: Found) -> list[str]:
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.entries += 1
            if found.entries > MOST_NAMES:
                break
            if found.entries <= MOST_ENTRIES or entry.name.lower().endswith(_ENDINGS):
                names.append(entry.name)
    return sorted(name for name in names if not name.startswith("."))


def _take(folder: int, path: str, mode: int, found: Found) -> None:
    """Put one file where it belongs among what was found."""
    name = os.path.basename(path)
    if name == "timestamp.txt":  # nbgrader's own
        return
    wanted = name.lower().endswith(_ENDINGS)
    if not wanted and not name.lower().endswith(_PERHAPS):
        found.others.append(path)
        return
    try:
        found.notebooks[path] = notebook_of(_content(folder, name, mode, found))
    except NotReadable as reason:
        if wanted:
            found.troubles.append(f"{shown(path)} {reason}.")
        else:
            found.others.append(path)


def _content(folder: int, name: str, mode: int, found: Found) -> bytes:
    if stat.S_ISLNK(mode):
        raise NotReadable(_LINK)
    if not stat.S_ISREG(mode):
        raise NotReadable(_DEVICE)
    with _opened(name, _FILE, folder) as number:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):  # it was exchanged meanwhile
            raise NotReadable(_DEVICE)
        room = min(MOST_BYTES, 2 * MOST_BYTES - found.bytes)
        if about.st_size > room:
            raise NotReadable(_LARGE)
        with open(number, "rb", closefd=False) as file:
            content = file.read(room + 1)
    if len(content) > room:  # it grew meanwhile
        raise NotReadable(_LARGE)
    found.bytes += len(content)
    return content


@contextmanager
def _opened(path: Path | str, how: int, folder: int | None = None) -> Iterator[int]:
    number = os.open(path, how, dir_fd=folder)
    try:
        yield number
    finally:
        os.close(number)
