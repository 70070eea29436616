"""`grader progress`: what is done, partly done and open, and what to do next."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from grader.errors import UserError
from grader.progress.file import forget, place, read
from grader.progress.overview import earned, next_line
from grader.progress.standing import DONE, OPEN, PARTLY, LessonStanding, following, standing


class NotForgotten(UserError):
    """The file is still there; the message says why."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON instead")
    parser.add_argument("--forget", action="store_true", help="delete the file that holds it")
    parser.add_argument("--yes", action="store_true", help="delete it without a question")


def run(options: Namespace) -> int:
    """Print a row for each lesson, or delete the learner's file."""
    if options.forget:
        return _forget(options.yes)
    record = read()
    lessons, coming = standing(record), following(record)
    if options.json:
        file = place() and str(place())
        found = {"file": file, "lessons": [lesson.plain() for lesson in lessons]}
        print(json.dumps(found | {"next": coming and asdict(coming)}, indent=2))
        return 0
    Console().print(_table(lessons))
    print(next_line(coming))
    print(f"Kept in {place()}" if place() else "Nothing is kept: COURSE_PROGRESS is none.")
    return 0


def _table(lessons: list[LessonStanding]) -> Table:
    best, points = sum(each.best for each in lessons), sum(each.points for each in lessons)
    table = Table(show_footer=True, show_lines=True)
    table.add_column("Lesson", "Total", no_wrap=True)
    table.add_column("Exercises", overflow="fold")
    table.add_column("Points", f"{best:g} of {points:g}", no_wrap=True)
    table.add_column("Time", no_wrap=True)
    for lesson in lessons:
        states = {state: ", ".join(lesson.names(state)) for state in (DONE, PARTLY, OPEN)}
        listed = "\n".join(f"{state}: {names}" for state, names in states.items() if names)
        table.add_row(lesson.lesson, listed, earned(lesson), lesson.time)
    return table


def _forget(sure: bool) -> int:
    """0 if nothing is left, 1 if the answer was no. Raises NotForgotten."""
    path = place()
    if path is None:
        raise NotForgotten("Nothing is kept: COURSE_PROGRESS is none.")
    if not sure:
        try:
            sure = input(f"Delete {path}? [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            raise NotForgotten("Nothing was deleted. Add --yes to delete it.") from None
    if not sure:
        print("Nothing was deleted.")
        return 1
    try:
        gone = forget()
    except OSError as error:
        raise NotForgotten(f"It could not be deleted: {error}") from error
    print("\n".join(f"Deleted {each}" for each in gone) or "There was nothing to delete.")
    return 0
