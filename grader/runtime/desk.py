"""Where the caged kernel and the grading process meet: a socket that answers three requests.

    {"exercise": name}             the inputs, if that exercise is being checked right now
    {"box": number, "args": ...}   what a black box makes of three tensors
    {"observation": ...}           what came back from the answer; the first one counts

Whatever else is sent is nobody's harm: it is read up to a size and a deadline, and dropped.
"""

import contextlib
import math
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

MOST_LINES = 4
MOST_ASKED = 1_000  # bytes of a first request
MOST_CALLS = 20_000  # of black boxes, in one check
MOST_NUMBERS = 2**20  # in one call: of what goes in, of the scores, of the context
MOST_WORK = 2**26  # scores, in all calls of one check


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
        self.exercise, self.probes = exercise, probes
        self.observation: Observation | None = None
        self._boxes = [arg for p in probes for arg in p.args if isinstance(arg, BlackBox)]
        self._calls = self._work = 0

    def box(self, asks: dict) -> tuple | None:
        """What box number `asks["box"]` makes of the tensors, None if it makes nothing of them.

        No reason is given: it could tell one box from another.
        """
        number, args = asks["box"], asks.get("args")
        self._calls += 1
        if type(number) is not int or not 0 <= number < len(self._boxes):
            return None
        self._work += _scores(args)
        if self._calls > MOST_CALLS or self._work > MOST_WORK:
            return None
        try:
            with fresh_state(), torch.no_grad():
                result = self._boxes[number].kernel(*args)
        except Exception:
            return None
        return tuple(part.detach() for part in result)


def _scores(args: object) -> float:
    """How many scores three tensors make; infinitely many if they are not what a lesson gives."""
    if not isinstance(args, tuple) or len(args) != 3:
        return math.inf
    if not all(isinstance(arg, Tensor) and arg.is_floating_point() for arg in args):
        return math.inf
    if not all(2 <= arg.dim() <= 4 and arg.numel() for arg in args):
        return math.inf
    q, k, v = args
    try:
        batch = math.prod(torch.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2]))
    except RuntimeError:
        return math.inf
    scores, context = batch * q.shape[-2] * k.shape[-2], batch * q.shape[-2] * v.shape[-1]
    largest = max(scores, context, *(arg.numel() for arg in args))
    return scores if largest <= MOST_NUMBERS else math.inf
