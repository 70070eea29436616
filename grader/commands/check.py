"""`grader check NOTEBOOK`: run one notebook and say what each exercise earns."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from grader import __version__
from grader.report import lines_of
from grader.results import Result, results
from grader.runtime.notebook import NotANotebook, read_notebook, run_notebook
from grader.translate import say


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON instead")


def run(options: Namespace) -> int:
    """Run the notebook in a fresh kernel and print one row for each exercise."""
    path = options.notebook
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
    if options.json:
        found = {
            "version": __version__,
            "notebook": str(path),
            "points": points,
            "max_points": most,
            "exercises": [asdict(row) for row in rows],
        }
        print(json.dumps(found, indent=2))
    else:
        Console().print(_table(rows, points, most))
    return 0 if points == most else 1


def _table(rows: list[Result], points: float, most: float) -> Table:
    table = Table(show_footer=True)
    table.add_column(say("Exercise"), say("Total"), no_wrap=True)
    table.add_column(say("Points"), f"{points:g} {say('of')} {most:g}", no_wrap=True)
    table.add_column(say("Message"), overflow="fold")
    for row in rows:
        first = next(lines_of(row.message), ())
        earned = f"{row.points:g} {say('of')} {row.max_points:g}"
        table.add_row(row.exercise, earned, ": ".join(filter(None, first)))
    return table
