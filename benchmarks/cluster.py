"""Two real `dask worker` on a real `dask scheduler`, one killed midway: every submission once.

    python -m benchmarks.cluster [LESSON [COUNT]]

A class graded in a disturbed run must have the grades of the same class graded by one local worker
undisturbed, and each submission is graded once: the command prints a line for each.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.classes import BIN, Class


def main(lesson: str = "02-dot-product-weights", count: str = "16") -> None:
    """Prints what became of the submissions; exit status 1 if any is missing or differs."""
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        there, here = Path(folder, "there"), Path(folder, "here")
        there.mkdir()
        here.mkdir()
        disturbed, calm = Class(there, lesson, int(count)), Class(here, lesson, int(count))
        calm.grade("grader", "autograde", "--jobs", "1")
        with dask_cluster(disturbed, 2) as (address, workers):
            start = time.perf_counter()
            grading = subprocess.Popen(
                [BIN / "grader", "autograde", lesson, "--scheduler", address],
                cwd=there,
                env=disturbed.environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            said = []
            for line in grading.stdout:
                said.append(line)
                if line.startswith(f"{int(count) // 2} of "):
                    workers[0].send_signal(signal.SIGKILL)
            status = grading.wait()
            taken = time.perf_counter() - start
        done = re.findall(r"^\d+ of \d+  (\S+):", "".join(said), re.MULTILINE)
        once = len(done) == len(set(done)) == int(count)
        same = disturbed.scores() == calm.scores()
        print(f"{len(set(done))} of {count} graded in {taken:.1f} s, one of two workers killed")
        print(f"each once: {once}; the grades of an undisturbed run: {same}; exit status {status}")
        if not once or not same or status:
            sys.exit(1)


@contextlib.contextmanager
def dask_cluster(course: Class, count: int) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler and its workers as processes of their own, as on a cluster."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = [BIN / "dask", "scheduler", "--host", "127.0.0.1", "--port", str(port)]
    worker = [BIN / "dask", "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    started = [
        subprocess.Popen(command, cwd=course.folder, env=dict(os.environ), **quiet)
        for command in ([*scheduler, "--no-dashboard"], *[worker] * count)
    ]
    try:
        yield address, started[1:]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
