"""How far a learner is, as a table for a page."""

from html import escape

from grader.live import marked_up, show
from grader.progress.file import Record, read
from grader.progress.standing import (
    DONE,
    OPEN,
    PARTLY,
    LessonStanding,
    Standing,
    following,
    here,
    standing,
)

COLUMNS = ("Lesson", "Done", "Partly", "Open", "Points", "Time")


def progress() -> None:
    """Show what is done, partly done and open in each lesson, and what to do next.

    Example: `progress()` -> a table with a row for each lesson, and "Next: `average` in ..."
    """
    record = read()
    lines = [*map(_line, standing(record)), next_line(following(record))]
    show("\n".join(lines), as_html(record))


def next_line(coming: Standing | None) -> str:
    """`next_line(None)` -> "Next: nothing, all is done." """
    if coming is None:
        return "Next: nothing, all is done."
    return f"Next: `{coming.exercise}` in {coming.lesson}"


def earned(lesson: LessonStanding) -> str:
    """The points of a lesson: "3 of 9" """
    return f"{lesson.best:g} of {lesson.points:g}"


def _cells(lesson: LessonStanding) -> tuple[str, ...]:
    """The columns of one lesson as text, without its name."""
    states = (", ".join(lesson.names(state)) for state in (DONE, PARTLY, OPEN))
    return (*states, earned(lesson), lesson.time)


def _line(lesson: LessonStanding) -> str:
    named = zip(COLUMNS[1:], _cells(lesson), strict=True)
    return f"{lesson.lesson}: " + "; ".join(f"{n.lower()} {cell or '–'}" for n, cell in named)


def as_html(record: Record) -> str:
    """The same as a table with a caption, its lessons as links."""
    head = "".join(f"<th scope='col'>{column}</th>" for column in COLUMNS)
    rows = "".join(
        f"<tr><th scope='row'>{_link(lesson.lesson)}</th>"
        + "".join(f"<td>{escape(cell) or '–'}</td>" for cell in _cells(lesson))
        + "</tr>"
        for lesson in standing(record)
    )
    caption = "<caption>Your progress, lesson by lesson</caption>"
    table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{table}<div>{marked_up(next_line(following(record)))}</div>"


def _link(lesson: str) -> str:
    """To the lesson's notebook, from the folder of all lessons or from a lesson's own."""
    up = "../" if here() else ""
    name = lesson.partition("-")[2].replace("-", "_")
    return f"<a href='{up}{lesson}/{name}.ipynb'>{lesson}</a>"
