"""The course in a folder, as nbgrader's configuration describes it, and what was handed in."""

import glob
import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps.baseapp import NbGrader
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc
from traitlets.config import Config

from grader.classroom.files import read_regular
from grader.classroom.ledger import Ledger
from grader.classroom.outcome import RECORDS
from grader.classroom.settings import RESTORED, NoCourse, config_here
from grader.names import did_you_mean

TIME = "timestamp.txt"
#: what `nbgrader submit` writes beside the notebook, and needs to hand feedback back
FROM_NBGRADER = (TIME, "submission_secret.txt")
#: nbgrader looks for folders by patterns, and writes their names into tables and logs
ODD = re.compile(r"[\x00-\x1f\x7f*?\[\]]")


@dataclass(frozen=True)
class Submission:
    """What one learner handed in for one lesson; `folder` may be anything, also a link or a file.

    Example: `Submission("ada", "01-averaging", Path("submitted/ada/01-averaging"))`
    """

    student: str
    lesson: str
    folder: Path

    def from_nbgrader(self) -> dict[str, bytes]:
        """nbgrader's own files beside the notebook, as far as they can be trusted to be its own."""
        if self.folder.is_symlink() or self.folder.parent.is_symlink():
            return {}
        found = {name: read_regular(self.folder / name, 1000) for name in FROM_NBGRADER}
        if not _is_time(found[TIME]):
            del found[TIME]
        return {name: content for name, content in found.items() if content}


class Course:
    """nbgrader's folders and settings; `directory` is nbgrader's own object for them."""

    def __init__(self, directory: CourseDirectory, config: Config) -> None:
        self.directory, self.config = directory, config
        self.root = Path(directory.root)

    @classmethod
    def here(cls) -> "Course":
        """The course in the current folder; raises NoCourse."""
        config_here()
        app = NbGrader(log_level=40)
        app.initialize([])
        return cls(app.coursedir, app.config)

    def lesson(self, name: str) -> list[Path]:
        """The released notebooks of a lesson; raises NoCourse if there are none."""
        released = Path(self._path(self.directory.release_directory, ".", name))
        notebooks = sorted(released.glob("*.ipynb")) if released.name == name else []
        if not notebooks:
            known = [path.name for path in released.parent.glob("*") if path.is_dir()]
            raise NoCourse(
                f"No lesson {name!r} has been released here.{did_you_mean(name, known)} "
                f"`nbgrader generate_assignment {name}` makes what learners get."
            )
        return notebooks

    def ledger(self, lesson: str) -> Ledger:
        """The records of a lesson; raises NoCourse."""
        return Ledger(self.root / RECORDS, lesson, self.lesson(lesson))

    def submissions(self, lesson: str, student: str = "*") -> list[Submission]:
        """Everything handed in for a lesson by the students whose names match."""
        here = self.directory
        pattern = self._path(here.submitted_directory, "(?P<student>.*)", "(?P<lesson>.*)", True)
        excluded = set(here.student_id_exclude.split(","))
        found = []
        for path in sorted(glob.glob(self._path(here.submitted_directory, student, lesson))):
            names = re.match(pattern, path, re.DOTALL).groupdict()
            if names["student"] not in excluded:
                name = ODD.sub(lambda odd: f"%{ord(odd[0]):02X}", names["student"])
                found.append(Submission(name, names["lesson"], Path(path)))
        return found

    def restored(self, submission: Submission) -> Path:
        """Where nbgrader finds a submission in its released shape."""
        return Path(self._path(RESTORED, submission.student, submission.lesson))

    def autograded(self, submission: Submission) -> Path:
        """Where nbgrader keeps a graded submission."""
        folder = self.directory.autograded_directory
        return Path(self._path(folder, submission.student, submission.lesson))

    def _path(self, step: str, student: str, lesson: str, escape: bool = False) -> str:
        return self.directory.format_path(step, student, lesson, escape=escape)


def _is_time(stamp: bytes | None) -> bool:
    try:
        parse_utc((stamp or b"").decode().strip())
    except (ValueError, OverflowError):
        return False
    return bool(stamp)
