"""Grades a class: what is not done yet goes to the workers, what comes back to the gradebook.

Every step leaves the disk in a state from which the same command goes on: a record is written,
whole, before the gradebook, and marked when the gradebook has it. This process is the one writer.
"""

import fcntl
import json
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from grader.classroom.course import FROM_NBGRADER, Course, Submission
from grader.classroom.files import beside
from grader.classroom.gradebook import Writer, lay_down
from grader.classroom.ledger import code_version
from grader.classroom.outcome import RECORDS, Outcome, from_plain
from grader.classroom.settings import NoCourse
from grader.classroom.submission import not_graded, prepare
from grader.classroom.worker import Task
from grader.runtime.cage import Cage

ATTEMPTS = 3  # a submission that has ended its worker so often is set aside
KILLS = (
    "Grading it ended the process that graded it, {} times in a row, so it was set aside. This "
    "costs nothing; whoever teaches the course has to look at it."
)


class Busy(NoCourse):
    """Somebody else grades this course right now."""


@dataclass(eq=False)
class Job:
    """One notebook of one submission: what is known of it before, and what came of it now."""

    submission: Submission
    released: Path
    key: str
    before: Outcome | None
    after: Outcome | None = None
    attempts: int = 0


class Batch:
    """What is to be graded of a lesson: `plan`, then `run`; `jobs` tell what came of it.

    `progress` is told of each job when it is done; see progress.py.
    Example: `Batch(course, "01-averaging", "*", cage, progress).plan(force=False)`
    """

    def __init__(self, course: Course, lesson: str, student: str, cage: Cage, progress) -> None:
        self._course, self._lesson, self._student = course, lesson, student
        self._cage, self._progress = cage, progress
        self.jobs: list[Job] = []

    def plan(self, force: bool) -> None:
        """Find out what is done already; raises NoCourse if there is nothing at all."""
        self._ledger = self._course.ledger(self._lesson)
        for submission in self._course.submissions(self._lesson, self._student):
            for released in self._course.lesson(self._lesson):
                key = self._ledger.key(submission.folder, released.stem)
                before = self._ledger.find(submission.student, released.stem)
                self.jobs.append(Job(submission, released, key, before))
        if not self.jobs:
            who = "" if self._student == "*" else f" by {self._student!r}"
            raise NoCourse(
                f"Nothing was handed in for {self._lesson}{who}: "
                f"{self._course.directory.submitted_directory}/LEARNER/{self._lesson}/ is where "
                "it would lie."
            )
        for job in self.jobs:
            same = job.before and job.before.key == job.key and not job.before.ours
            job.after = job.before if same and not force else None

    def run(self, workers: int | None, scheduler: str | None, dry: bool) -> None:
        """Grade what is not done; with `dry` nothing on disk is changed. Raises NoCluster, Busy."""
        self._dry = dry
        done = [job for job in self.jobs if job.after]
        self._waiting = deque(job for job in self.jobs if not job.after)
        self._progress.start(len(self.jobs), done)
        with ExitStack() as stack:
            if not dry:
                stack.enter_context(self._alone())
                self._writer = stack.enter_context(Writer(self._course))
                self._writer.look_up(self._lesson)
                for job in done:
                    if not job.after.written:  # it was stopped in between
                        self._write(job)
            if self._waiting:
                self._grade(stack, workers, scheduler)

    def _grade(self, stack: ExitStack, workers: int | None, scheduler: str | None) -> None:
        from grader.classroom.cluster import Crew  # slow to import, and not needed for a second run

        crew = stack.enter_context(Crew(workers, scheduler))
        self._cage = crew.try_out(self._cage)
        ahead, done = self._next(), None
        while ahead or crew.busy or done:
            if ahead and crew.has_room:
                crew.start(*ahead)
                ahead = self._next()
                continue
            if done:  # written down only now: the workers go first
                self._take_back(*done)
                done, ahead = None, ahead or self._next()
                continue
            self._progress.running(crew.busy)
            done = crew.wait()

    def _take_back(self, job: Job, result: tuple[dict, str] | None) -> None:
        """What came of a job, nothing if its worker has ended."""
        if result is None:
            self._lost(job)
        else:
            self._finish(job, from_plain(result[0]), result[1])

    def _next(self) -> tuple[Job, Task] | None:
        """The next job and all that a worker needs for it, prepared while the workers work."""
        if not self._waiting:
            return None
        job = self._waiting.popleft()
        notebook = prepare(job.submission.folder, job.released)
        files = beside(Path(notebook.metadata.intake["folder"]), FROM_NBGRADER)
        if not self._dry and job.attempts == 0:
            self._writer.take_up(job.submission)
        outcome = self._blank(job)
        key = self._ledger.seeds_key
        text = json.dumps(notebook)
        return job, Task(outcome, text, files, self._cage, key, code_version())

    def _blank(self, job: Job) -> Outcome:
        who = job.submission
        return Outcome(who.lesson, who.student, job.released.stem, key=job.key)

    def _lost(self, job: Job) -> None:
        """The worker that graded it has ended; once more, after all others, or no more."""
        job.attempts += 1
        if job.attempts < ATTEMPTS:
            self._waiting.append(job)
            return
        reason = KILLS.format(ATTEMPTS)
        untouched = nbformat.read(job.released, as_version=4)
        outcome = replace(self._blank(job), reason=reason, cage=str(self._cage))
        notebook, outcome = not_graded(untouched, outcome)
        self._finish(job, outcome, nbformat.writes(notebook))

    def _finish(self, job: Job, outcome: Outcome, notebook: str) -> None:
        job.after = outcome
        if not self._dry:
            lay_down(self._course, job.submission, outcome.notebook, notebook)
            self._ledger.keep(outcome)
            self._write(job)
        self._progress.done(job)

    def _write(self, job: Job) -> None:
        self._writer.write(job.after)
        job.after = self._ledger.keep_written(job.after)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time writes what comes of a course."""
        path = self._course.root / RECORDS / "lock"
        path.parent.mkdir(exist_ok=True)
        with open(path, "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Busy("Another command grades this course right now; wait for it.") from None
            yield
