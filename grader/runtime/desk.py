"""Where the caged kernel and the grading process meet: a socket that answers three requests.

    {"exercise": name}             the inputs, if that exercise is being checked right now
    {"box": number, "args": ...}   what a black box makes of these tensors
    {"observation": ...}           what came back from the answer; the first one counts

Whatever else is sent is nobody's harm: it is read up to a size and a deadline, and dropped.
"""

import contextlib
import socket
import threading
from pathlib import Path

from grader.probes import Probe
from grader.record import Observation
from grader.runtime.boxes import Boxes
from grader.runtime.questions import asked
from grader.wire import Garbled, receive, send

MOST_LINES = 4
MOST_ASKED = 1_000  # bytes of a first request


class Desk:
    """Serves one kernel from a thread; `check` is open between `open` and `close` only.

    Example: `desk.open("mix", probes)`, the kernel runs the cell, `desk.close()` -> Observation
    """

    def __init__(self, path: Path) -> None:
        self.trouble = ""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        path.chmod(0o666)
        self._listener.listen(MOST_LINES)
        self._lines = threading.BoundedSemaphore(MOST_LINES)
        self._open: _Check | None = None
        self._talking: set[socket.socket] = set()
        threading.Thread(target=self._serve, daemon=True).start()

    def open(self, exercise: str, probes: tuple[Probe, ...]) -> None:
        """From now on the inputs may be asked for."""
        self.trouble = ""
        self._open = _Check(exercise, probes)

    def close(self) -> Observation | None:
        """What was handed over since `open`; `trouble` says what was wrong if it was garbled."""
        check, self._open = self._open, None
        for line in tuple(self._talking):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        return check.observation if check else None

    def shut(self) -> None:
        self._open = None
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:  # shut
                return
            if self._lines.acquire(blocking=False):
                threading.Thread(target=self._answer, args=(line,), daemon=True).start()
            else:
                line.close()

    def _answer(self, line: socket.socket) -> None:
        try:
            with line:
                self._talking.add(line)
                if self._open:
                    self._talk(line, self._open)
        except Garbled as error:
            self.trouble = str(error)
        except OSError:  # hung up
            pass
        finally:
            self._talking.discard(line)
            self._lines.release()

    def _talk(self, line: socket.socket, check: "_Check") -> None:
        asks = receive(line, most=MOST_ASKED)
        name = asks.get("exercise") if isinstance(asks, dict) else None
        if name != check.exercise:
            return send(line, None)
        send(line, asked(check.probes))
        while check is self._open:
            asks = receive(line, seconds=3600)  # the cell has a time limit of its own
            if not isinstance(asks, dict):
                raise Garbled("a request that is none")
            if "box" in asks:
                send(line, check.box(asks))
                continue
            observation = Observation.from_plain(asks.get("observation"))
            if not observation.refused and len(observation.calls) != len(check.probes):
                raise Garbled("not one call for each input")
            check.observation = check.observation or observation
            return send(line, True)
        return None


class _Check:
    """One exercise while it is checked."""

    def __init__(self, exercise: str, probes: tuple[Probe, ...]) -> None:
        self.exercise, self.probes, self.box = exercise, probes, Boxes(probes)
        self.observation: Observation | None = None
