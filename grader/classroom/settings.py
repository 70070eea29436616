"""What nbgrader_config.py says about grading, read without nbgrader, which is slow to import."""

from pathlib import Path

from traitlets import Enum, Integer
from traitlets.config import Config, Configurable, PyFileConfigLoader

from grader.classroom.outcome import RECORDS
from grader.errors import UserError
from grader.runtime.cage import LEVELS, Cage, Limits, cage

CONFIG = "nbgrader_config.py"
RESTORED = "restored"
REPORTS = "reports"  # where `grader report` and `grader alike` write
#: nbgrader's own names for its folders, where the configuration gives no other
FOLDERS = ("source", "release", "submitted", "autograded", "feedback")


class NoCourse(UserError):
    """There is no such course, lesson or submission here; the message says so and what to do."""


class CagedGrading(Configurable):
    """How submissions are shut in: the section of that name in nbgrader_config.py."""

    cage = Enum(LEVELS, "standard", help="none, standard or strict").tag(config=True)
    check_seconds = Integer(Limits.check, help="time for one check").tag(config=True)
    cell_seconds = Integer(Limits.cell, help="time for any other cell").tag(config=True)
    notebook_seconds = Integer(Limits.wall, help="time for one notebook").tag(config=True)

    def wanted(self, root: Path, level: str = "") -> Cage:
        """The cage for the course in a folder, at its own level or another, not tried out."""
        check = min(self.check_seconds, self.cell_seconds)
        limits = Limits(check=check, cell=self.cell_seconds, wall=self.notebook_seconds)
        return Cage(level or self.cage, limits, secrets=secrets(root, self.config))

    def tried_out(self, root: Path, level: str = "") -> Cage:
        """The same, tried out on this machine; raises NoCage."""
        wanted = self.wanted(root, level)
        return cage(wanted.level, wanted.secrets, wanted.limits)


def config_here() -> Config:
    """The configuration in the current folder; raises NoCourse."""
    if not Path(CONFIG).is_file():
        raise NoCourse(f"There is no {CONFIG} in this folder: go to the folder of the course.")
    return PyFileConfigLoader(CONFIG, path=str(Path.cwd())).load_config()


def secrets(root: Path, config: Config) -> tuple[str, ...]:
    """What must not be seen in the cage, wherever the course lies."""
    here = config.CourseDirectory
    folders = [str(here.get(f"{name}_directory", name)) for name in FOLDERS]
    database = file_of(str(here.get("db_url", "sqlite:///gradebook.db")))
    exchange = str(config.Exchange.get("root", ""))
    paths = (*folders, RESTORED, RECORDS, REPORTS, database, exchange)
    return tuple(str(root / path) for path in paths if path)


def file_of(url: str) -> str:
    """The file that a gradebook is, if it is one: `file_of("sqlite:///a.db?timeout=3")` -> "a.db".

    The URL of a server holds no path, but perhaps a password, which must go no further.
    """
    kind, _, path = url.partition(":///")
    return path.removeprefix("file:").partition("?")[0] if kind.startswith("sqlite") else ""
