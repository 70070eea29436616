"""Grades as the two learning management systems take them: Canvas' gradebook, Moodle's import.

Both only know their own learners. So the columns are made for a roster, which is a table that the
system itself has exported, and who is in one of the two only is told.

Canvas takes a table that begins with its own columns, up to "Section", then one for each
assignment, named "Title (number)"; a row "Points Possible" comes first. Moodle lets one choose the
columns when a file is uploaded. An empty cell is a 0 in a new grade item of Moodle's; "-" is none.
"""

import csv
import io
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.outcome import NOT_GRADABLE
from grader.classroom.report.gather import Learner, Results
from grader.classroom.spreadsheet import cell
from grader.errors import UserError

CANVAS, MOODLE = "canvas", "moodle"
#: the columns that say who somebody is
IDENTITY = {
    CANVAS: ("ID", "SIS User ID", "SIS Login ID", "Integration ID"),
    MOODLE: ("Username", "ID number", "Email address"),
}
LAST_OF_CANVAS = "Section"  # the last column before assignments
POINTS_POSSIBLE = "Points Possible"
_NUMBER = re.compile(r" \(\d+\)$")


class NoRoster(UserError):
    """The file is no table of learners that the system has exported; the message says why."""


@dataclass
class Columns:
    """The text of a file to upload, and what to tell about it, a line each."""

    text: str
    remarks: list[str] = field(default_factory=list)


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


def for_canvas(results: Results, roster: Roster, column: str = "") -> Columns:
    """Canvas' own columns untouched, and the one of this lesson; no other, which may be old.

    Who is not gradable has an empty cell; who has not handed in keeps what the roster says.
    """
    title = column or results.lesson
    fitting = [name for name in roster.columns if title in (name, _NUMBER.sub("", name))]
    if len(fitting) > 1:
        raise NoRoster(f"The roster has several columns {title!r}: {', '.join(fitting)}.")
    named, most = fitting[0] if fitting else title, f"{results.most_points:g}"
    remarks = [] if fitting else [f"Canvas has no {title!r} yet; it will offer to make it."]
    own = roster.columns.index(LAST_OF_CANVAS) + 1
    learners = [row for row in roster.rows if _is_learner(row)]
    matched, told = match(results, roster, learners, CANVAS)
    lines = [[*roster.columns[:own], cell(named)]]
    for row in roster.rows:
        old = roster.at(row, fitting[0]) if fitting else ""
        if POINTS_POSSIBLE in row[0]:
            if fitting and _differ(old, most):
                remarks.append(f"{named} has {old} points in Canvas, {most} in the course.")
            new = old or most
        else:
            learner = matched.get(id(row))
            new = _points(learner, old) if learner else old
        lines.append([*(row + [""] * own)[:own], new])
    return Columns(_written(lines, roster.comma), remarks + told)


def for_moodle(results: Results, roster: Roster | None, column: str = "") -> Columns:
    """One column that says who it is, one with points or "-", one with a word of feedback.

    Moodle refuses a whole file for one learner that it does not know: with a roster only those of
    the roster are in it. Who has not handed in is not in it.
    """
    title = column or results.lesson
    if roster is None:
        who, told = "Username", []
        known = {one.id: one for one in results.learners if _is_told(one)}
    else:
        matched, told = match(results, roster, roster.rows, MOODLE)
        rows = [row for row in roster.rows if id(row) in matched and _is_told(matched[id(row)])]
        who = _telling_apart(roster, rows)
        known = {roster.at(row, who): matched[id(row)] for row in rows}
    lines = [[who, cell(title), cell(f"{title} (feedback)")]]
    for name, learner in known.items():
        why = f"Not graded: {learner.grade.reason}" if _failed(learner) else ""
        lines.append([cell(name), _points(learner, "") or "-", cell(why)])
    return Columns(_written(lines, ","), told)


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
    times = defaultdict(int)
    for found in fits.values():
        for name in found:
            times[name] += 1
    matched = {
        row: one
        for row, found in fits.items()
        for one in found.values()
        if len(found) == 1 and times[one.id] == 1
    }
    taken = {one.id for one in matched.values()}
    left = [one.id for one in results.learners if one.id not in taken and _is_told(one)]
    told = [f"Not in the roster, or not alone there: {name}." for name in left]
    alone = [row[0] for row in rows if id(row) not in matched]
    return matched, told + [f"In the roster only, or not for sure: {name}." for name in alone]


def _is_learner(row: list[str]) -> bool:
    """Canvas has rows for points and for how grades are posted, too."""
    return bool(row[0].strip()) and POINTS_POSSIBLE not in row[0]


def _telling_apart(roster: Roster, rows: list[list[str]]) -> str:
    """The first column of Moodle's that has another entry for each of these learners."""
    for column in IDENTITY[MOODLE]:
        if column in roster.columns:
            names = {roster.at(row, column) for row in rows}
            if len(names) == len(rows) and "" not in names:
                return column
    raise NoRoster(f"No column of the roster tells learners apart: {', '.join(IDENTITY[MOODLE])}.")


def _is_told(learner: Learner) -> bool:
    """Whether there is anything to upload."""
    return learner.counts or _failed(learner)


def _failed(learner: Learner) -> bool:
    return learner.grade.state == NOT_GRADABLE


def _points(learner: Learner, old: str) -> str:
    if learner.grade.score is None:
        return "" if _failed(learner) else old
    return f"{learner.grade.score:.10g}"


def _differ(one: str, other: str) -> bool:
    try:
        return float(one.replace(",", ".")) != float(other)
    except ValueError:
        return bool(one)


def _written(lines: list[list[str]], comma: str) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=comma).writerows(lines)
    return file.getvalue()
