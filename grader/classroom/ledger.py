"""What has been graded already: records on disk, each under the content that it was made from."""

import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

import grader
from grader.classroom.files import read_regular
from grader.classroom.folder import MOST_BYTES, MOST_ENTRIES, MOST_LEVELS
from grader.classroom.outcome import Outcome, load, place
from grader.classroom.seeds import Seeds, seeds_of

SECRET = "seed"  # the file in records/ that all inputs follow from


class Ledger:
    """The records of one lesson; a record counts as long as its key is that of the submission.

    `released` are the notebooks that learners get.
    Example: `Ledger(Path("records"), "01-averaging", released).find("ada", "averaging").state`
    """

    def __init__(self, folder: Path, lesson: str, released: list[Path]) -> None:
        self._folder, self._lesson, self._released = folder, lesson, released

    @cached_property
    def version(self) -> str:
        """Of the lesson: what learners get, and the code that judges it."""
        return digest(*(path.read_bytes() for path in self._released), code_version().encode())

    def key(self, folder: Path, notebook: str) -> str:
        """Changes with anything in a submission's folder, and with the lesson's version."""
        return digest(self.version.encode(), notebook.encode(), *_contents(folder))

    @property
    def seeds_key(self) -> bytes:
        """All inputs of this version of the lesson follow from it; no learner may see it."""
        return hmac.digest(secret(self._folder), self.version.encode(), "sha256")

    @property
    def seeds(self) -> Seeds:
        """The inputs of this version of the lesson: the same ones for the whole class."""
        return seeds_of(self.seeds_key)

    def find(self, student: str, notebook: str) -> Outcome | None:
        """The last outcome of a submission, of whatever content."""
        return load(place(self._folder, self._lesson, student, notebook))

    def keep(self, outcome: Outcome) -> None:
        """Before the gradebook is written: from now on nothing is graded twice."""
        outcome.save(self._folder)

    def keep_written(self, outcome: Outcome) -> Outcome:
        """After the gradebook is written: from now on it is not written again."""
        written = replace(outcome, written=True)
        written.save(self._folder)
        return written


@cache
def code_version() -> str:
    """Of all code that grades: it differs between machines that would judge differently."""
    package = Path(grader.__file__).parent
    return digest(*(path.read_bytes() for path in sorted(package.rglob("*.py"))))


def digest(*parts: bytes) -> str:
    """A hash of the parts and of where one ends: `digest(b"ab") != digest(b"a", b"b")` -> True"""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8) + part)
    return found.hexdigest()


def _contents(folder: Path, level: int = 1) -> Iterator[bytes]:
    """What lies in a submission, links and devices by their names, without following any."""
    about = os.stat(folder, follow_symlinks=False)
    if not stat.S_ISDIR(about.st_mode) or level > MOST_LEVELS:
        yield f"{about.st_mode} {about.st_size} {about.st_mtime_ns}".encode()
        return
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry, _ in zip(entries, range(MOST_ENTRIES), strict=False))
    for name in names:
        yield os.fsencode(name)
        content = read_regular(folder / name, MOST_BYTES)
        yield from (content,) if content is not None else _contents(folder / name, level + 1)


def secret(records: Path) -> bytes:
    """The course's secret, in its folder of records, made of chance by the first who asks."""
    path = records / SECRET
    while not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(secrets.token_bytes(32))
        try:
            os.link(draft, path)  # of several who make one at once, the first one's counts
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes()
