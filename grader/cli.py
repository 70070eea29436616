"""The command line: `grader check`, `grader explain`, `grader autograde` and `grader cage`."""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress
from rich.table import Table

from grader.catalogue import UnknownMistake, about_exercise, about_mistake, mistake_of
from grader.exercises import UnknownExercise, find
from grader.results import Result, results
from grader.runtime.cage import LEVELS, NoCage, cage
from grader.runtime.notebook import NotANotebook, read_notebook, run_notebook


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the result is the exit status: 0 full points, 1 fewer, 2 cannot be done."""
    parser = argparse.ArgumentParser(
        prog="grader", description="Checks the course's notebooks and explains its mistakes."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="run one notebook and say what each exercise earns")
    check.add_argument("notebook", type=Path)
    check.add_argument("--json", action="store_true", help="print the verdicts as JSON instead")
    explain = commands.add_parser("explain", help="list an exercise's known mistakes, or tell one")
    explain.add_argument("exercise")
    explain.add_argument("mistake", nargs="?")
    autograde = commands.add_parser("autograde", help="grade what was handed in of a lesson")
    autograde.add_argument("lesson")
    autograde.add_argument("--student", default="*", metavar="GLOB")
    autograde.add_argument("--force", action="store_true", help="also what is graded already")
    level = os.environ.get("COURSE_CAGE", "standard")
    autograde.add_argument("--cage", choices=LEVELS, default=level)
    tried = commands.add_parser("cage", help="try how well submissions can be shut in here")
    tried.add_argument("--cage", choices=LEVELS, default=level)
    options = parser.parse_args(arguments)
    try:
        if options.command == "autograde":
            return autograde_lesson(options.lesson, options.student, options.force, options.cage)
        if options.command == "cage":
            return try_cage(options.cage)
        if options.command == "explain":
            return explain_mistakes(options.exercise, options.mistake)
        return check_notebook(options.notebook, options.json)
    except (NotANotebook, UnknownExercise, UnknownMistake, NoCage) as error:
        print(error, file=sys.stderr)
        return 2


def explain_mistakes(name: str, mistake: str | None) -> int:
    """Print an exercise with its known mistakes, or one of them in full."""
    exercise = find(name)
    if mistake:
        text = about_mistake(exercise, mistake_of(exercise, mistake))
    else:
        text = about_exercise(exercise)
    Console().print(Markdown(text))
    return 0


def check_notebook(path: Path, as_json: bool) -> int:
    """Run the notebook in a fresh kernel and print one row for each exercise."""
    notebook = read_notebook(path)
    if not results(notebook):
        raise NotANotebook(f"{path}: no exercise of this course is checked in it")
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        cells = sum(cell.cell_type == "code" for cell in notebook.cells)
        task = progress.add_task(f"Running {path.name}", total=cells)
        ended = run_notebook(notebook, path.parent, lambda: progress.advance(task))
    rows = results(notebook, ended)
    points, most = sum(row.points for row in rows), sum(row.max_points for row in rows)
    if as_json:
        found = {"notebook": str(path), "points": points, "max_points": most}
        print(json.dumps(found | {"exercises": [asdict(row) for row in rows]}, indent=2))
    else:
        Console().print(_table(rows, points, most))
    return 0 if points == most else 1


def autograde_lesson(lesson: str, student: str, force: bool, level: str) -> int:
    """What `nbgrader autograde` does, in the folder of the course, with the cage named."""
    command = [sys.executable, "-m", "nbgrader", "autograde", lesson, "--student", student]
    environment = {**os.environ, "COURSE_CAGE": level}
    return subprocess.run([*command, *(["--force"] if force else [])], env=environment).returncode


def try_cage(level: str) -> int:
    """Print what holds; raises NoCage where that is less than the level asks for."""
    found = cage(level)
    print(found)
    for layer, holds in found.layers.items():
        print(f"  {'yes' if holds else 'NO ':3}  {layer}")
    return 0


def _table(rows: list[Result], points: float, most: float) -> Table:
    table = Table(show_footer=True)
    table.add_column("Exercise", "Total", no_wrap=True)
    table.add_column("Points", f"{points:g} of {most:g}", no_wrap=True)
    table.add_column("Message", overflow="fold")
    for row in rows:
        line = row.message.splitlines()[0] if row.message else ""
        table.add_row(row.exercise, f"{row.points:g} of {row.max_points:g}", line)
    return table


if __name__ == "__main__":
    sys.exit(main())
