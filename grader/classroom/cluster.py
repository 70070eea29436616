"""Where the work is done: Dask workers here or on a cluster, one submission at a time for each.

Dask moves the work and notices when a worker is gone. What is done, and how often a submission may
take a worker with it, is kept by batch.py.
"""

import os
import re
import tempfile
import uuid
from concurrent.futures import CancelledError
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster, as_completed

from grader.classroom.worker import OtherCode, Task, code_version, ready, work
from grader.errors import UserError
from grader.runtime.cage import Cage, NoCage
from grader.runtime.warm import warmed

_ADDRESS = re.compile(r"(\w+://)?[^/\s]+:\d+(/\S*)?")
SECONDS = 20  # until a scheduler answers
SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,  # each death is told at once
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,  # which looks at what runs 100 times a second
    # Dask's pages about what runs, which everybody on this machine could read.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


class NoCluster(UserError):
    """The Dask cluster cannot be had; the message says what to do."""


class Crew:
    """The workers: `jobs` here, one for each core if None, or those of a scheduler.

    Use it with `with`. Raises NoCluster. Example: `with Crew(2, None) as crew: crew.wait()`
    """

    def __init__(self, jobs: int | None, scheduler: str | None) -> None:
        self._jobs, self._scheduler, self._cluster = jobs or os.cpu_count(), scheduler, None
        self._running: dict[str, Any] = {}

    def __enter__(self) -> "Crew":
        self._scratch = tempfile.TemporaryDirectory(prefix="dask-")
        with dask.config.set({**SETTINGS, "temporary-directory": self._scratch.name}):
            self._client = self._join() if self._scheduler else self._hire()
        self._results = as_completed(loop=self._client.loop, raise_errors=False)
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()
        if self._cluster:
            self._cluster.close()
        self._scratch.cleanup()

    def _join(self) -> Client:
        if not _ADDRESS.fullmatch(self._scheduler):
            raise NoCluster(
                f"There can be no Dask scheduler at {self._scheduler}: an address is like "
                "tcp://HOST:8786."
            )
        try:
            return Client(self._scheduler, timeout=SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise NoCluster(
                f"There is no Dask scheduler at {self._scheduler} ({_line(error)}). "
                "`dask scheduler` starts one, and prints its address."
            ) from None

    def _hire(self) -> Client:
        # Dask's ports carry code, and everybody on this machine can reach them: TLS, with keys that
        # exist for this run only, lets nobody else in.
        self._cluster = LocalCluster(
            n_workers=self._jobs,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=50,
            security=True,
        )
        return Client(self._cluster, set_as_default=False)

    def try_out(self, cage: Cage) -> Cage:
        """The cage as tasks are given it; raises NoCluster if a worker cannot grade in it."""
        if self._cluster:
            return warmed(cage)
        self._client.wait_for_workers(1)
        for worker, trouble in self._client.run(ready, cage, code_version()).items():
            if trouble:
                raise NoCluster(f"The worker at {worker} {trouble}")
        return cage

    @property
    def busy(self) -> int:
        """How many submissions are being graded."""
        return len(self._running)

    @property
    def has_room(self) -> bool:
        """Whether a worker is free; none has two, as the death of one would be blamed on both."""
        return self.busy < max(1, sum(self._client.nthreads().values()))

    def start(self, job: Any, task: Task) -> None:
        """Have a worker grade; `wait` gives the job back."""
        name = f"grade-{uuid.uuid4().hex}"
        future = self._client.submit(work, task, key=name, pure=False)
        self._running[name] = job
        self._results.add(future)

    def wait(self) -> tuple[Any, tuple[dict, str] | None]:
        """The next job that is done with what `work` returned, None if its worker has ended."""
        future = next(self._results)
        job = self._running.pop(future.key)
        try:
            return job, future.result()
        except KilledWorker:
            return job, None
        except (NoCage, OtherCode, RuntimeError) as error:
            raise NoCluster(f"A worker cannot grade: {_line(error)}") from None
        except (CancelledError, OSError) as error:
            raise NoCluster(
                f"The Dask scheduler is gone ({_line(error)}). What is done is kept; the same "
                "command goes on from there."
            ) from None


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
