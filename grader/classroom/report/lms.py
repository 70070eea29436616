"""Grades as the two learning management systems take them: Canvas' gradebook, Moodle's import.

Both only know their own learners. So the columns are made for a roster, which is a table that the
system itself has exported, and who is in one of the two only is told.

Canvas takes a table that begins with its own columns, up to "Section", then one for each
assignment, named "Title (number)"; a row "Points Possible" comes first. Moodle lets one choose the
columns when a file is uploaded. An empty cell is a 0 in a new grade item of Moodle's; "-" is none.
"""

import re
from dataclasses import dataclass, field

from grader.classroom.grades import BY_HAND
from grader.classroom.report.gather import Learner, Results
from grader.classroom.report.roster import (
    CANVAS,
    LAST_OF_CANVAS,
    MOODLE,
    NoRoster,
    Roster,
    failed,
    has_news,
    match,
    telling_apart,
)
from grader.classroom.spreadsheet import cell, written

POINTS_POSSIBLE = "Points Possible"
_NUMBER = re.compile(r" \(\d+\)$")


@dataclass
class Columns:
    """The text of a file to upload, and what to tell about it, a line each."""

    text: str
    remarks: list[str] = field(default_factory=list)


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
    return Columns(written(lines, roster.comma), remarks + told + _waiting(results))


def for_moodle(results: Results, roster: Roster | None, column: str = "") -> Columns:
    """One column that says who it is, one with points or "-", one with a word of feedback.

    Moodle refuses a whole file for one learner that it does not know: with a roster only those of
    the roster are in it. Who has not handed in is not in it.
    """
    title = column or results.lesson
    if roster is None:
        who, told = "Username", []
        known = {one.id: one for one in results.learners if has_news(one)}
    else:
        matched, told = match(results, roster, roster.rows, MOODLE)
        rows = [row for row in roster.rows if id(row) in matched and has_news(matched[id(row)])]
        who = telling_apart(roster, rows)
        known = {roster.at(row, who): matched[id(row)] for row in rows}
    lines = [[who, cell(title), cell(f"{title} (feedback)")]]
    for name, learner in known.items():
        why = f"Not graded: {learner.grade.reason}" if failed(learner) else ""
        lines.append([cell(name), _points(learner, "") or "-", cell(why)])
    return Columns(written(lines), told + _waiting(results))


def _waiting(results: Results) -> list[str]:
    return [f"Left as it is until graded by hand: {one.id}." for one in results.having(BY_HAND)]


def _is_learner(row: list[str]) -> bool:
    """Canvas has rows for points and for how grades are posted, too."""
    return bool(row[0].strip()) and POINTS_POSSIBLE not in row[0]


def _points(learner: Learner, old: str) -> str:
    if failed(learner):
        return ""
    return f"{learner.grade.score:.10g}" if has_news(learner) else old


def _differ(one: str, other: str) -> bool:
    try:
        return float(one.replace(",", ".")) != float(other)
    except ValueError:
        return bool(one)
