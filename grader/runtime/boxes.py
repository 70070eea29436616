"""Black boxes: functions that an answer may call but not look into, as they run out here."""

import math

import torch
from torch import Tensor

from grader.probes import Probe
from grader.quiet import fresh_state
from grader.runtime.questions import black_boxes

MOST_CALLS = 20_000  # in one check
MOST_NUMBERS = 2**20  # in one call: of what goes in, of the scores, of the context
MOST_WORK = 2**26  # scores, in all calls of one check


class Boxes:
    """The boxes of one check's probes, numbered as `questions.asked` numbers them."""

    def __init__(self, probes: tuple[Probe, ...]) -> None:
        self._kernels = list(black_boxes(probes))
        self._calls = self._work = 0

    def __call__(self, asks: dict) -> Tensor | tuple | None:
        """What box number `asks["box"]` makes of the tensors, None if it makes nothing of them.

        With `along`, one tensor for each result: the gradients of the arguments along these.
        No reason is given for None: it could tell one box from another.
        """
        number, args, along = asks["box"], asks.get("args"), asks.get("along")
        self._calls += 1
        if type(number) is not int or not 0 <= number < len(self._kernels):
            return None
        self._work += _scores(args)
        if self._calls > MOST_CALLS or self._work > MOST_WORK:
            return None
        kernel = self._kernels[number]
        try:
            with fresh_state():
                return _results(kernel, args) if along is None else _gradients(kernel, args, along)
        except Exception:
            return None


def _results(kernel, args: tuple) -> Tensor | tuple:
    with torch.no_grad():
        result = kernel(*args)
    return result.detach() if isinstance(result, Tensor) else tuple(r.detach() for r in result)


def _gradients(kernel, args: tuple, along: tuple) -> tuple:
    with torch.enable_grad():
        args = [a.requires_grad_() if a.is_floating_point() else a for a in args]
        result = kernel(*args)
        sources = [a for a in args if a.requires_grad]
        results = (result,) if isinstance(result, Tensor) else result
        found = iter(torch.autograd.grad(results, sources, along, allow_unused=True))
    return tuple(next(found) if a.requires_grad else None for a in args)


def _scores(args: object) -> float:
    """How many scores these tensors make; infinitely many if they are not what a lesson gives.

    Rows of numbers have T and a size as their last axes, ids only T.
    """
    if not isinstance(args, tuple) or not args:
        return math.inf
    if not all(isinstance(arg, Tensor) and 1 <= arg.dim() <= 4 and arg.numel() for arg in args):
        return math.inf
    rows = [arg if arg.is_floating_point() else arg.unsqueeze(-1) for arg in args]
    if any(arg.dim() < 2 for arg in rows):
        return math.inf
    try:
        batch = math.prod(torch.broadcast_shapes(*(arg.shape[:-2] for arg in rows)))
    except RuntimeError:
        return math.inf
    T, size = max(arg.shape[-2] for arg in rows), max(arg.shape[-1] for arg in rows)
    largest = max(batch * T * T, batch * T * size)
    return batch * T * T if largest <= MOST_NUMBERS else math.inf
