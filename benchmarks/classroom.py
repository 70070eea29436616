"""A class of mixed submissions, with stock nbgrader and with `grader autograde` in its cage.

    python -m benchmarks.classroom [LESSON [COUNT]]

Both start from nothing, on the same submissions, all of them honest: the scores must be the same.
The last line is the ratio of the two times.
"""

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.classes import Class

LESSON, COUNT = "03-query-key-value", 24


def main(lesson: str = LESSON, count: str = str(COUNT)) -> None:
    """Prints the seconds of both, and the ratio."""
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        stock, here = Path(folder, "stock"), Path(folder, "here")
        stock.mkdir()
        here.mkdir()
        theirs = Class(stock, lesson, int(count), stock=True)
        ours = Class(here, lesson, int(count))
        slow = theirs.grade("nbgrader", "autograde")
        print(f"nbgrader autograde, {count} of {lesson}: {slow:.1f} s", flush=True)
        fast = ours.grade()
        print(f"grader autograde, {count} of {lesson}, in the cage: {fast:.1f} s", flush=True)
        if differ := different(theirs.scores(), ours.scores()):
            sys.exit(f"The scores differ, so the times cannot be compared: {differ}")
    print(f"the same scores for all {count} on {os.cpu_count()} cores")
    print(f"ratio: {slow / fast:.1f}")


def different(theirs: dict, ours: dict) -> list[str]:
    """Whose scores differ, and in what."""
    return [
        f"{learner} {check}: {score} and {ours.get(learner, {}).get(check)}"
        for learner, scores in theirs.items()
        for check, score in scores.items()
        if ours.get(learner, {}).get(check) != score
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
