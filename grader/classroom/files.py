"""Reads what was handed in beside the notebook: regular files only, no links, up to a size."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

MOST_FILES = 200
MOST_BYTES = 20 * 2**20  # together
MOST_FOLDERS = 3  # one in the other


def beside(folder: Path, but: tuple[str, ...] = ()) -> dict[str, bytes]:
    """The files of a submission by their paths in it, but for notebooks, hidden ones and `but`.

    Links, pipes and devices are passed over, and so is what is too much.
    """
    found, room = {}, MOST_BYTES
    for number, path in enumerate(_files(folder, MOST_FOLDERS)):
        wanted = number < MOST_FILES and path.suffix != ".ipynb" and path.name not in but
        content = read_regular(path, room) if wanted else None
        if content is not None:
            room -= len(content)
            found[str(path.relative_to(folder))] = content
    return found


def read_regular(path: Path, most: int) -> bytes | None:
    """What a regular file holds; None for anything else, through a link, or of a larger size."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        with open(number, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(number)


def _files(folder: Path, deep: int) -> Iterator[Path]:
    if folder.is_symlink() or deep < 0:
        return
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path), deep - 1)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
