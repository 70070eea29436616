"""`grader report LESSON`: what a class made of a lesson, as a page, a table and LMS columns."""

import sys
from argparse import ArgumentParser, Namespace
from datetime import date
from pathlib import Path

from grader.errors import UserError


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("lesson")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="in place of reports/LESSON")
    parser.add_argument("--names", action="store_true", help="name learners; numbers otherwise")
    parser.add_argument("--lms", choices=("canvas", "moodle"), help="also a table to upload there")
    parser.add_argument("--roster", type=Path, metavar="CSV", help="a table exported from there")
    parser.add_argument("--column", default="", help="the assignment's name there, if not LESSON")


def run(options: Namespace) -> int:
    """Exit status 0, or 1 if something had to be left out, which is said."""
    if options.lms == "canvas" and not options.roster:
        raise UserError(
            "Canvas takes grades only with its own numbers: export the gradebook there, and name "
            "the file with --roster."
        )
    if options.roster and not options.lms:
        raise UserError("--roster goes with --lms canvas or --lms moodle.")
    # All these are slow to import.
    from grader.classroom.course import Course
    from grader.classroom.files import write_private
    from grader.classroom.report import lms
    from grader.classroom.report.gather import gather
    from grader.classroom.report.page import page
    from grader.classroom.report.roster import read_roster
    from grader.classroom.report.table import columns, rows
    from grader.classroom.settings import REPORTS
    from grader.classroom.spreadsheet import as_text

    roster = read_roster(options.roster, options.lms) if options.roster else None
    course = Course.here()
    results = gather(course, options.lesson, options.names)
    made = {
        "report.html": page(results, date.today().isoformat()),
        "learners.csv": as_text(columns(results), rows(results)),
    }
    remarks = []
    if options.lms:
        make = lms.for_canvas if options.lms == "canvas" else lms.for_moodle
        uploaded = make(results, roster, options.column)
        made[f"{options.lms}.csv"], remarks = uploaded.text, uploaded.remarks
    folder = options.to or course.root / REPORTS / options.lesson
    try:
        for name, text in made.items():
            write_private(folder / name, text)
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}.") from None
    for line in (*results.troubles, *remarks):
        print(line, file=sys.stderr)
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    for name in made:
        print(shown / name)
    return 1 if results.troubles else 0
