"""A table of learners that a learning management system has exported, and who is who in it."""

import csv
import io
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.outcome import GRADED, NOT_GRADABLE
from grader.classroom.report.gather import Learner, Results
from grader.errors import UserError

CANVAS, MOODLE = "canvas", "moodle"
#: the columns that say who somebody is
IDENTITY = {
    CANVAS: ("ID", "SIS User ID", "SIS Login ID", "Integration ID"),
    MOODLE: ("Username", "ID number", "Email address"),
}
LAST_OF_CANVAS = "Section"  # the last column before assignments


class NoRoster(UserError):
    """The file is no table of learners that the system has exported; the message says why."""


@dataclass(frozen=True)
class Roster:
    """A table that the system has exported: its columns, its rows, and what parts them."""

    columns: list[str]
    rows: list[list[str]]
    comma: str

    def at(self, row: list[str], column: str) -> str:
        place = self.columns.index(column)
        return row[place].strip() if place < len(row) else ""


def read_roster(path: Path, system: str) -> Roster:
    """The table in a file; raises NoRoster."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.partition("\n")[0]
        comma = max(",;\t", key=first.count)
        columns, *rows = [row for row in csv.reader(io.StringIO(text), delimiter=comma) if any(row)]
    except OSError as error:
        raise NoRoster(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, csv.Error):
        raise NoRoster(f"{path} is not a table that {system.title()} has exported.") from None
    columns = [column.strip() for column in columns]
    wanted = LAST_OF_CANVAS if system == CANVAS else ""
    if not set(columns) & set(IDENTITY[system]) or (wanted and wanted not in columns):
        names = ", ".join(filter(None, (*IDENTITY[system], wanted)))
        raise NoRoster(
            f"{path} is not a table that {system.title()} has exported: its first line should "
            f"name columns such as {names}."
        )
    return Roster(columns, rows, comma)


def match(
    results: Results, roster: Roster, rows: list[list[str]], system: str
) -> tuple[dict[int, Learner], list[str]]:
    """The learner of each row by the row's `id`, and a line for everybody who is left over.

    A row fits if one of its columns in IDENTITY is a learner's id, LMS id or email address.
    """
    called = defaultdict(list)
    for learner in results.learners:
        for name in {name.casefold() for name in (learner.id, *learner.addresses)}:
            called[name].append(learner)
    columns = [name for name in IDENTITY[system] if name in roster.columns]
    fits = {}
    for row in rows:
        names = [roster.at(row, column).casefold() for column in columns]
        fits[id(row)] = {one.id: one for name in names for one in called.get(name, ())}
    times = Counter(name for found in fits.values() for name in found)
    matched = {
        row: one
        for row, found in fits.items()
        for one in found.values()
        if len(found) == 1 and times[one.id] == 1
    }
    taken = {one.id for one in matched.values()}
    left = [one.id for one in results.learners if one.id not in taken and has_news(one)]
    told = [f"Not in the roster, or not alone there: {name}." for name in left]
    alone = [row[0] for row in rows if id(row) not in matched]
    return matched, told + [f"In the roster only, or not for sure: {name}." for name in alone]


def telling_apart(roster: Roster, rows: list[list[str]]) -> str:
    """The first column of Moodle's that has another entry for each of these learners."""
    for column in IDENTITY[MOODLE]:
        if column in roster.columns:
            names = {roster.at(row, column) for row in rows}
            if len(names) == len(rows) and "" not in names:
                return column
    raise NoRoster(f"No column of the roster tells learners apart: {', '.join(IDENTITY[MOODLE])}.")


def has_news(learner: Learner) -> bool:
    """Whether there is anything to upload; a sum that waits for a grade by hand is not."""
    return learner.grade.state in (GRADED, NOT_GRADABLE)


def failed(learner: Learner) -> bool:
    return learner.grade.state == NOT_GRADABLE
