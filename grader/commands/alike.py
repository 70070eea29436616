"""`grader alike LESSON`: where two answers have more in common than one would expect."""

import sys
from argparse import ArgumentParser, Namespace

from grader.errors import UserError

PAGE = "alike.html"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("lesson")


def run(options: Namespace) -> int:
    """Exit status 0, also if something is found: it is a place to look."""
    # All these are slow to import.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from grader.classroom.alike.compare import places
    from grader.classroom.alike.gather import gather
    from grader.classroom.alike.page import NO_PROOF, page, summary, tell
    from grader.classroom.course import Course
    from grader.classroom.display import plain_text
    from grader.classroom.files import write_private
    from grader.classroom.settings import REPORTS

    course = Course.here()
    found = gather(course, options.lesson)
    if not found.handed_in and not found.left_out:
        raise UserError(f"Nothing was handed in for {options.lesson}.")
    looked = places(found)
    folder = course.root / REPORTS / options.lesson
    try:
        write_private(folder / PAGE, page(found, looked))
    except OSError as error:
        raise UserError(f"{folder / PAGE} cannot be written: {error.strerror}.") from None
    console = Console()
    if looked:
        table = Table(title=f"{options.lesson}: places to look", show_lines=True)
        table.add_column("Learners", overflow="fold")
        table.add_column("What they share", overflow="fold")
        for place in looked:
            table.add_row(Text(plain_text("\n".join(place.learners))), Text("\n".join(tell(place))))
        console.print(table)
    print(summary(found, looked))
    if looked:
        print(NO_PROOF)
    for line in found.left_out:
        print(plain_text(line, 500), file=sys.stderr)
    print((folder / PAGE).relative_to(course.root))
    return 0
