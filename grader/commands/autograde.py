"""`grader autograde LESSON`: grade everything that was handed in for a lesson."""

import multiprocessing.forkserver
import os
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

WORKERS_NEED = ("distributed", "grader.classroom.worker", "grader.classroom.grading")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("lesson")
    parser.add_argument("--jobs", type=_count, metavar="N", help="workers; one for each core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster: tcp://HOST:8786")
    parser.add_argument("--student", default="*", metavar="GLOB", help="only these")
    parser.add_argument("--force", action="store_true", help="also what is graded already")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, change none")
    parser.add_argument("--cage", help="none, standard or strict, in place of the course's own")


def run(options: Namespace) -> int:
    """Exit status 0 only if every submission that was asked for is graded."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if not options.scheduler:  # in the background: what all workers of this machine import
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        multiprocessing.set_forkserver_preload(list(WORKERS_NEED))
        multiprocessing.forkserver.ensure_running()
    # All these are slow to import. The template imports what it needs meanwhile.
    from grader.classroom.settings import CagedGrading, config_here
    from grader.runtime.warm import started

    settings = CagedGrading(config=config_here())
    if options.scheduler:  # each machine has to try its own
        shut_in = settings.wanted(Path.cwd(), options.cage)
    else:
        shut_in = settings.tried_out(Path.cwd(), options.cage)
        shut_in = started(shut_in) if shut_in.official else shut_in

    from grader.classroom.batch import Batch
    from grader.classroom.course import Course
    from grader.classroom.progress import Show

    course = Course.here()
    with Show(options.lesson) as show:
        batch = Batch(course, options.lesson, options.student, shut_in, show)
        batch.plan(options.force)
        try:
            batch.run(options.jobs, options.scheduler, options.dry_run)
        except KeyboardInterrupt:
            print("Stopped. What is done is kept; the same command goes on from there.")
            return 130
    return show.sum_up(batch.jobs, options.dry_run)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of workers; 1 or more")
    return int(text)
