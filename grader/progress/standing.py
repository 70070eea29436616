"""How far a learner is: what is counted in, what it comes to, and what is best done next."""

from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from grader.exercises import exercises
from grader.progress.file import Record
from grader.verdict import Verdict

BREAK = 600  # seconds; a longer gap between two events was no work on the lesson
DONE, PARTLY, OPEN = "done", "partly", "open"


@dataclass(frozen=True)
class Standing:
    """One exercise: its state, the most points it has earned, and how often it was tried.

    Example: `Standing("mix", "01-averaging", "partly", 1.5, 2.0, 3)`
    """

    exercise: str
    lesson: str
    state: str
    best: float
    points: float
    tries: int


@dataclass(frozen=True)
class LessonStanding:
    """One lesson and its exercises. Example: `LessonStanding("01-averaging", 840.0, (...))`"""

    lesson: str
    seconds: float
    exercises: tuple[Standing, ...]

    @property
    def best(self) -> float:
        return sum(each.best for each in self.exercises)

    @property
    def points(self) -> float:
        return sum(each.points for each in self.exercises)

    @property
    def time(self) -> str:
        """`LessonStanding("01-averaging", 4000.0, ()).time` -> "1 h 7 min" """
        hours, minutes = divmod(round(self.seconds / 60), 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min"

    def names(self, state: str) -> list[str]:
        """The exercises in that state: `.names("done")` -> ["average", "mix"]"""
        return [each.exercise for each in self.exercises if each.state == state]

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "best": self.best, "points": self.points}


# -- counting in ----------------------------------------------------------------------------------


def event(record: Record, lesson: str) -> None:
    """Something was done in the lesson now: the time since the last event counts, if it is short.

    Example: events at 9:00, 9:04 and 11:00 -> 240 seconds
    """
    now = _now()
    entry = record["lessons"].setdefault(lesson, {"seconds": 0, "when": now.isoformat()})
    gap = (now - datetime.fromisoformat(entry["when"])).total_seconds()
    if 0 < gap < BREAK:
        entry["seconds"] = round(entry["seconds"] + gap, 3)
    entry["when"] = now.isoformat(timespec="milliseconds")


def note(record: Record, verdict: Verdict, lesson: str) -> None:
    """Count a verdict in: points, best points, tries, when. An empty stub is no try."""
    event(record, lesson)
    if verdict.untouched:
        return
    entry = entry_of(record, verdict.exercise)
    entry["points"] = verdict.points
    entry["best"] = max(entry["best"], verdict.points)
    entry["tries"] += 1
    entry["when"] = record["lessons"][lesson]["when"]


def entry_of(record: Record, exercise: str) -> dict[str, Any]:
    """The entry of an exercise, made if it is not there."""
    new = {"points": 0.0, "best": 0.0, "tries": 0, "hints": {}, "when": ""}
    return record["exercises"].setdefault(exercise, new)


def _now() -> datetime:
    return datetime.now().astimezone()


# -- reading out ----------------------------------------------------------------------------------


def standing(record: Record) -> list[LessonStanding]:
    """Every lesson in order. Example: `standing(read())[0].names("open")` -> ["mix"]"""
    found = []
    for lesson, group in groupby(exercises(), key=lambda exercise: exercise.lesson):
        seconds = record["lessons"].get(lesson, {}).get("seconds", 0)
        found.append(LessonStanding(lesson, seconds, tuple(_of(e, record) for e in group)))
    return found


def _of(exercise: Any, record: Record) -> Standing:
    entry = record["exercises"].get(exercise.name, {"best": 0.0, "tries": 0})
    best = min(entry["best"], exercise.points)
    state = DONE if best == exercise.points else PARTLY if entry["tries"] else OPEN
    return Standing(exercise.name, exercise.lesson, state, best, exercise.points, entry["tries"])


def following(record: Record) -> Standing | None:
    """What is best done next; None when all is done.

    One that was begun in the lesson last worked in, else the first that is open, else any begun.
    Example: `following(read()).exercise` -> "softmax"
    """
    left = [e for lesson in standing(record) for e in lesson.exercises if e.state != DONE]
    worked = record["lessons"].items()
    last = max(worked, key=lambda item: datetime.fromisoformat(item[1]["when"]), default=("", {}))
    return min(
        left,
        key=lambda e: (not (e.state == PARTLY and e.lesson == last[0]), e.state != OPEN),
        default=None,
    )


def here() -> str:
    """The lesson whose folder this kernel runs in, or "": `here()` -> "01-averaging" """
    try:
        name = Path.cwd().name
    except OSError:  # the folder is gone
        return ""
    return name if any(exercise.lesson == name for exercise in exercises()) else ""
