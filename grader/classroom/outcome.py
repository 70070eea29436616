"""How one submission ended: graded, or not gradable with a reason; nothing else is possible."""

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from grader.errors import UserError
from grader.verdict import Verdict

RECORDS = "records"  # the folder of the course that keeps them
GRADED, NOT_GRADABLE = "graded", "not gradable"


class BadRecord(UserError):
    """A file among the records holds no outcome; the message names it and what to do."""


@dataclass(frozen=True)
class Outcome:
    """The record of one submission; it is kept on disk and everything shown is made from it.

    `reason` says in plain words why it is not gradable. `ours` means that the machine failed, not
    the submission. `remarks` are what was put right before it ran, and what happened while it ran.
    `cage` says in what it ran, `key` from which content it was made (see ledger.py), `written`
    that the gradebook has it. `seconds` is how long grading took, None in records of before that
    was kept; two outcomes that differ in nothing else are equal.
    Example: `Outcome("01-averaging", "ada", reason="The file is empty.").state` -> "not gradable"
    """

    lesson: str
    student: str
    notebook: str = ""
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    ours: bool = False
    remarks: tuple[str, ...] = ()
    cage: str = ""
    key: str = ""
    written: bool = False
    seconds: float | None = field(default=None, compare=False)

    @property
    def state(self) -> str:
        return NOT_GRADABLE if self.reason else GRADED

    @property
    def points(self) -> float:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def max_points(self) -> float:
        return sum(verdict.max_points for verdict in self.verdicts)

    def verdict(self, exercise: str) -> Verdict | None:
        return next((v for v in self.verdicts if v.exercise == exercise), None)

    def save(self, folder: Path) -> None:
        """Write `folder/LESSON/STUDENT/NOTEBOOK.json`, whole or not at all."""
        path = place(folder, self.lesson, self.student, self.notebook)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(asdict(self), file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)


def place(folder: Path, lesson: str, student: str, notebook: str) -> Path:
    return folder / lesson / student / f"{notebook}.json"


def load(path: Path) -> Outcome | None:
    """The outcome kept in a file, None if there is none yet; raises BadRecord."""
    try:
        return from_plain(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError):
        where = "/".join(path.parts[-4:])
        raise BadRecord(
            f"The record {where} is damaged: delete it, and `grader autograde {path.parts[-3]}` "
            "makes it anew."
        ) from None


def from_plain(fields: dict) -> Outcome:
    """What `dataclasses.asdict` was made from."""
    verdicts = tuple(Verdict.from_json(json.dumps(each)) for each in fields["verdicts"])
    return Outcome(**{**fields, "verdicts": verdicts, "remarks": tuple(fields["remarks"])})


def load_all(folder: Path, lesson: str, student: str) -> list[Outcome]:
    """The outcomes of every notebook of one submission."""
    found = sorted((folder / lesson / student).glob("*.json"))
    return [outcome for path in found if (outcome := load(path))]
