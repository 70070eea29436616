"""Grades the zoo of tests/zoo with stock nbgrader and with the course: `python -m benchmarks.zoo`.

Both get the same submissions and the same seconds for a cell. Stock nbgrader has no cage: there,
what could harm the machine is not run, and the rest runs under limits. Names of animals after the
command choose a few.
"""

import contextlib
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from nbgrader.api import MissingEntry

from benchmarks.classes import ROOT, STOCK
from grader.names import did_you_mean

sys.path.insert(0, str(ROOT / "tests"))

from zoo import ZOO, Animal  # noqa: E402
from zoo.course import Course, Reaper  # noqa: E402

STOCK_IN_A_HURRY = STOCK + "c.Execute.timeout = 6\n"
#: they would reach other processes, install things, fill a disk, copy all files or wait for ever
NOT_RUN = {
    "disk-bomb", "fork-bomb", "kill-everybody", "links-out-of-the-folder", "memory-bomb-of-many",
    "notebook-is-a-pipe", "pip-lines", "pipe-beside-it", "reads-solutions", "system-calls",
    "thread-bomb", "writes-records", "writes-the-gradebook",
}  # fmt: skip
LIMITS = {"RLIMIT_AS": 2**32, "RLIMIT_FSIZE": 2**28, "RLIMIT_CORE": 0}
SECONDS = 300  # for one submission
WIDTH = max(len(name) for name in ZOO)


def main() -> None:
    """Prints a line for each animal: what stock nbgrader gives, what ours gives, what is right."""
    if unknown := [name for name in sys.argv[1:] if name not in ZOO]:
        sys.exit(f"There is no {unknown[0]} in the zoo.{did_you_mean(unknown[0], ZOO)}")
    wanted = [ZOO[name] for name in sys.argv[1:]] or list(ZOO.values())
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        batch = stock_batch(Path(folder) / "batch", wanted)
        stock = in_stock(Path(folder) / "stock", wanted)
        course = Course(Path(folder) / "here", wanted).grade()
        here = {animal.name: course.scores(animal) for animal in wanted}
        at_once = ended(course)
    print(f"{'':{WIDTH}}  {'nbgrader':>10}  {'here':>10}  {'deserved':>10}")
    for animal in wanted:
        given = stock.get(animal.name, "not run"), here[animal.name], animal.scores
        columns = "  ".join(f"{in_words(scores):>10}" for scores in given)
        print(f"{animal.name:{WIDTH}}  {columns}  {remark(*given)}".rstrip())
    print()
    for name, found in (("nbgrader", stock), ("here", here)):
        right = sum(points(found[a.name]) == points(a.scores) for a in wanted if a.name in found)
        print(f"{name}: as deserved {right} of {len(found)}")
    print(f"nbgrader, all at once: {batch}")
    print(f"here, all at once: {at_once}")


def in_stock(folder: Path, animals: list[Animal]) -> dict[str, dict | None]:
    """What nbgrader gives without this course's plug-in, each submission graded by itself."""
    course, found = _stock_course(folder, animals), {}
    for animal in animals:
        if animal.name not in NOT_RUN:
            course.hand_in(animal)
            _limited(course, animal.lesson, "--student", animal.name)
            found[animal.name] = _given(course, animal)
    return found


def stock_batch(folder: Path, animals: list[Animal]) -> str:
    """The same submissions in one command, in words."""
    course = _stock_course(folder, animals)
    for animal in animals:
        if animal.name not in NOT_RUN:
            course.hand_in(animal)
    for lesson in course.lessons:
        _limited(course, lesson, seconds=SECONDS * len(animals))
    return ended(course)


def ended(course: Course) -> str:
    """How the commands ended, and how many submissions were left without any grade."""
    submitted = [animal for animal in course.animals if course.submission(animal).exists()]
    none = [animal.name for animal in submitted if points(_given(course, animal)) is None]
    status = {code for name, code in course.commands.items() if name.startswith("autograde")}
    return f"exit status {max(status, default=0)}, {len(none)} of {len(submitted)} without a grade"


def _stock_course(folder: Path, animals: list[Animal]) -> Course:
    folder.mkdir()
    config = folder / "stock.py"
    config.write_text(STOCK_IN_A_HURRY)
    return Course(folder, animals, config)


def _limited(course: Course, *arguments: str, seconds: int = SECONDS) -> None:
    """Grade without a cage, and end whatever is left running."""
    with Reaper() as reaper:
        try:
            course.nbgrader("autograde", *arguments, timeout=seconds, preexec_fn=_limit)
        except subprocess.TimeoutExpired:
            course.commands[f"autograde {' '.join(arguments)}"] = 124
        reaper.end()


def _limit() -> None:
    for name, value in LIMITS.items():
        resource.setrlimit(getattr(resource, name), (value, value))


def _given(course: Course, animal: Animal) -> dict[str, float | None] | None:
    with contextlib.suppress(MissingEntry):
        return course.scores(animal)
    return None


def points(scores: dict[str, float | None] | None) -> dict[str, float | None] | None:
    """The scores, None where there is none: `points({"mix": None})` -> None"""
    return scores if scores and any(s is not None for s in scores.values()) else None


def in_words(scores: dict | str | None) -> str:
    """The sum; `in_words({"mix": 2.0, "average": None})` -> "2 and ?", as one is not known."""
    if isinstance(scores, str):
        return scores
    if points(scores) is None:
        return "none"
    total = f"{sum(score or 0 for score in scores.values()):g}"
    return f"{total} and ?" if None in scores.values() else total


def remark(stock: dict | str | None, here: dict | None, right: dict | None) -> str:
    """What is wrong in a line: points forged or lost."""
    found = []
    for name, scores in (("nbgrader", stock), ("here", here)):
        if not isinstance(scores, str) and points(scores) != points(right):
            gained = sum(s or 0 for s in (scores or {}).values()) - sum((right or {}).values())
            what = "forged" if gained > 0 else "lost" if gained < 0 else "another state"
            found.append(f"{name}: {abs(gained):g} points {what}" if gained else f"{name}: {what}")
    return "; ".join(found)


if __name__ == "__main__":
    main()
