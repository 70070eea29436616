"""A large class: whether rate and memory stay flat, and how many workers one process feeds.

    python -m benchmarks.scale [COUNT [LESSON]]

Grades COUNT submissions with two workers, then a tenth of them with one. While it runs, the rate
and the memory of all its processes are taken in ten parts.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.classes import BIN, Class

PARTS = 10


def main(count: str = "1000", lesson: str = "02-dot-product-weights") -> None:
    """Prints the parts, the overhead of the coordinating process, and the speed-up."""
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        large, small = Path(folder, "large"), Path(folder, "small")
        large.mkdir()
        small.mkdir()
        course = Class(large, lesson, int(count))
        parts, own = graded(course, "2")
        print(f"{count} of {lesson}, two workers")
        print(f"{'submissions':>12}{'a minute':>10}{'memory MB':>11}")
        for done, rate, memory in parts:
            print(f"{done:12}{rate:10.0f}{memory:11.0f}")
        steady = [rate for _, rate, _ in parts[1:]]
        print(f"rate of the last part to the second: {steady[-1] / steady[0]:.2f}")
        each, two = own / int(count), sum(steady) / len(steady)
        feeds = 60 / each / (two / 2)
        print(f"coordinating process: {1000 * each:.0f} ms of processor time a submission,")
        print(f"so one feeds {feeds:.0f} workers")
        few = Class(small, lesson, int(count) // 10)
        alone, _ = graded(few, "1")
        one = sum(rate for _, rate, _ in alone[1:]) / len(alone[1:])
        print(f"speed-up from one to two workers on {os.cpu_count()} cores: {two / one:.2f}")


def graded(course: Class, jobs: str) -> tuple[list[tuple[int, float, float]], float]:
    """[(submissions done, their rate a minute, megabytes)] in parts; the coordinator's seconds."""
    process = subprocess.Popen(
        [BIN / "grader", "autograde", course.lesson, "--jobs", jobs],
        cwd=course.folder,
        env=course.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    own, parts, last = psutil.Process(process.pid), [], time.perf_counter()
    used, start = 0.0, sum(own.cpu_times()[:2])
    for line in process.stdout:
        done, _, rest = line.strip().partition(" of ")
        if not done.isdigit() or not rest.split()[0].isdigit():
            continue
        each = max(1, int(rest.split()[0]) // PARTS)
        if int(done) == 1:  # the workers are there
            last, start = time.perf_counter(), sum(own.cpu_times()[:2])
        if int(done) % each == 0:
            now = time.perf_counter()
            used = sum(own.cpu_times()[:2]) - start
            parts.append((int(done), 60 * each / (now - last), _memory(own)))
            last = now
    if process.wait():
        sys.exit("not every submission was graded")
    return parts, used


def _memory(process: psutil.Process) -> float:
    """Megabytes of a process and all it started; what forks share counts once."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**20


if __name__ == "__main__":
    main(*sys.argv[1:])
