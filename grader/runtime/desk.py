"""Where the caged kernel and the grading process meet: a socket that answers three requests.

    {"exercise": name}             the inputs, if that exercise is being checked right now
    {"box": number, "args": ...}   what a black box makes of three tensors
    {"observation": ...}           what came back from the answer; the first one counts

Whatever else is sent is nobody's harm: it is read up to a size and a deadline, and dropped.
"""

import contextlib
import socket
import threading
from pathlib import Path

import torch
from torch import Tensor

from grader.probes import BlackBox, Probe
from grader.quiet import fresh_state
from grader.record import Observation
from grader.runtime.questions import asked
from grader.wire import Garbled, receive, send

MOST_LINES = 16
MOST_CALLS = 20_000  # of black boxes, in one check
MOST_NUMBERS = 2**20


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
        threading.Thread(target=self._serve, daemon=True).start()

    def open(self, exercise: str, probes: tuple[Probe, ...]) -> None:
        """From now on the inputs may be asked for."""
        self.trouble = ""
        self._open = _Check(exercise, probes)

    def close(self) -> Observation | None:
        """What was handed over since `open`; `trouble` says what was wrong if it was garbled."""
        check, self._open = self._open, None
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
                self._talk(line)
        except Garbled as error:
            self.trouble = str(error)
        except OSError:  # hung up
            pass
        finally:
            self._lines.release()

    def _talk(self, line: socket.socket) -> None:
        asks, check = receive(line), self._open
        name = asks.get("exercise") if isinstance(asks, dict) else None
        if check is None or name != check.exercise:
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
        self.exercise, self.probes = exercise, probes
        self.observation: Observation | None = None
        self._boxes = [arg for p in probes for arg in p.args if isinstance(arg, BlackBox)]
        self._calls = 0

    def box(self, asks: dict) -> tuple | None:
        """What box number `asks["box"]` makes of the tensors, None if it makes nothing of them.

        No reason is given: it could tell one box from another.
        """
        number, args = asks["box"], asks.get("args")
        self._calls += 1
        if type(number) is not int or not 0 <= number < len(self._boxes):
            return None
        if self._calls > MOST_CALLS or not _small(args):
            return None
        try:
            with fresh_state(), torch.no_grad():
                result = self._boxes[number].kernel(*args)
        except Exception:
            return None
        return tuple(part.detach() for part in result)


def _small(args: object) -> bool:
    """Three tensors of floating numbers with no more numbers, or pairs of tokens, than is sane."""
    if not isinstance(args, tuple) or len(args) != 3:
        return False
    if not all(isinstance(arg, Tensor) and arg.is_floating_point() and arg.dim() for arg in args):
        return False
    q, k, _ = args
    pairs = q.numel() // max(1, q.shape[-1]) * (k.numel() // max(1, k.shape[-1]))
    return max(pairs, *(arg.numel() for arg in args)) <= MOST_NUMBERS
