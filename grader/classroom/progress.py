"""What an instructor sees while a class is graded, and the tables at the end."""

import time
from collections import Counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.progress import TimeRemainingColumn as TimeLeft
from rich.table import Table

from grader.classroom.display import plain_text
from grader.classroom.outcome import GRADED, Outcome

LONGEST_REASON = 60  # characters of a reason by which failures are counted


class Show:
    """A live line in a terminal, one line for each submission elsewhere.

    Use it with `with`. Example: `with Show("01-averaging") as show: show.start(24, [])`
    """

    def __init__(self, lesson: str) -> None:
        self._console, self._lesson = Console(), lesson
        self._live = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeLeft(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._running = 0
        self._failed: Counter[str] = Counter()

    def __enter__(self) -> "Show":
        self._live.start()
        self._began = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def start(self, count: int, done: list[Any]) -> None:
        """So many submissions there are, and these are done already."""
        self._count, self._before, self._done = count, len(done), len(done)
        self._bar = self._live.add_task(f"Grading {self._lesson}", total=count, state="")
        for job in done:
            self._note(job.after)
        self._draw()
        if done:
            self._say(f"{len(done)} of {count} are graded already; --force grades them again.")

    def running(self, count: int) -> None:
        """So many are being graded now."""
        self._running = count
        self._draw()

    def done(self, job: Any) -> None:
        """One more."""
        self._done += 1
        self._note(job.after)
        self._draw()
        if not self._console.is_terminal:
            self._say(f"{self._done} of {self._count}  {job.submission.student}: {told(job.after)}")

    def _note(self, outcome: Outcome) -> None:
        if outcome.reason:
            self._failed[_short(outcome.reason)] += 1

    def _draw(self) -> None:
        taken = time.monotonic() - self._began
        rate = f"{60 * (self._done - self._before) / taken:.0f} a minute" if taken > 1 else ""
        failed = [f"{count} not: {why}" for why, count in self._failed.most_common(3)]
        parts = [f"{self._running} running", rate, *failed]
        state = ", ".join(part for part in parts if part)
        self._live.update(self._bar, completed=self._done, state=state)

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def sum_up(self, jobs: list[Any], dry: bool) -> int:
        """Print the tables; 0 if every submission is graded, otherwise 1."""
        outcomes = [job.after for job in jobs if job.after]
        graded = [outcome for outcome in outcomes if outcome.state == GRADED]
        if dry:
            self._console.print(_changes(jobs))
            self._say("Nothing was changed: this was a dry run.")
        table = Table(title=f"{self._lesson}: {len(graded)} of {len(jobs)} graded")
        table.add_column("Submissions")
        table.add_column("Number", justify="right")
        table.add_row("graded", str(len(graded)))
        for why, count in self._failed.most_common():
            table.add_row(f"not graded: {why}", str(count))
        if graded:
            mean = sum(outcome.points for outcome in graded) / len(graded)
            table.add_row(f"mean points of {graded[0].max_points:g}", f"{mean:.2f}")
        new = self._done - self._before
        table.add_row("graded now", str(new))
        table.add_row("seconds", f"{time.monotonic() - self._began:.1f}")
        self._console.print(table)
        if graded and not dry:
            self._say(f"Which mistakes the class made: grader report {self._lesson}")
        return 0 if len(graded) == len(jobs) else 1


def told(outcome: Outcome | None) -> str:
    """In a few words: `told(outcome)` -> "13 of 15 points"."""
    if outcome is None:
        return "nothing yet"
    if outcome.reason:
        return f"not graded: {_short(outcome.reason)}"
    return f"{outcome.points:g} of {outcome.max_points:g} points"


def _short(reason: str) -> str:
    text = plain_text(reason).split(". ")[0]
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _changes(jobs: list[Any]) -> Table:
    """What a submission had, what it would have, and which exercises make the difference."""
    table = Table(title="What would change")
    for column in ("Learner", "Before", "After", "Exercises"):
        table.add_column(column, overflow="fold")
    for job in jobs:
        if job.after and not _same(job.before, job.after):
            differ = "\n".join(_differences(job.before, job.after))
            table.add_row(job.submission.student, told(job.before), told(job.after), differ)
    return table


def _same(before: Outcome | None, after: Outcome) -> bool:
    return before is not None and told(before) == told(after) and not _differences(before, after)


def _differences(before: Outcome | None, after: Outcome) -> list[str]:
    found = []
    for now in after.verdicts:
        was = before.verdict(now.exercise) if before else None
        if was is None or was.points != now.points:
            found.append(f"{now.exercise}: {was.points if was else 0:g} -> {now.points:g}")
        elif was.possible != now.possible:
            names = " or ".join(now.possible) or "no known mistake"
            found.append(f"{now.exercise}: now {names}")
    return found
