"""The learner's own attention in an explorer: asked with copies, and left out where it fails."""

import contextlib
import inspect
import io
import time
import traceback
import warnings

import torch

SLOW = 0.3  # seconds; a slider should answer in less


class Asked:
    """Attention over tokens: `Asked(theirs)(x)` -> context (T, d), weights (T, T), what to say.

    `theirs` takes `x`, or `q, k, v`, which are all `x` here. Where it is missing or does not work,
    the softmax of `x @ x.T` is used, and the words say so.
    """

    def __init__(self, theirs=None) -> None:
        self._theirs, self._slow = theirs, ""

    def __call__(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, str]:
        if self._theirs is None:
            return *plain_attention(x), ""
        if not self._slow:
            try:
                start = time.perf_counter()
                answer = _ask(self._theirs, x)
                if (took := time.perf_counter() - start) > SLOW:
                    self._slow = f"Your function took {took:.1f} seconds, too long for a slider"
                return *answer, self.note if self._slow else ""
            except NotImplementedError as error:
                last = traceback.extract_tb(error.__traceback__)[-1].name  # it may call others
                problem = f"Do the exercise `{last}` first"
            except Exception as error:  # whatever an unfinished answer does, the picture stays
                problem = f"`{_name(self._theirs)}` did not work: {_said(error)}"
            return *plain_attention(x), f"{problem}. {_INSTEAD}"
        return *plain_attention(x), self.note

    @property
    def note(self) -> str:
        """Why the function is not asked again."""
        return f"{self._slow}. {_INSTEAD}"


_INSTEAD = "Until then the picture uses softmax(x @ x.T) @ x."


def plain_attention(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x (T, d) -> context (T, d), weights (T, T): nothing is scaled or learned."""
    weights = torch.softmax(x @ x.T, dim=-1)
    return weights @ x, weights


def _ask(theirs, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    arguments = [x.clone() for _ in range(_how_many(theirs))]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        answer = theirs(*arguments)
    T, d = x.shape
    for what, found, wanted in zip(
        ("context", "weights"), _pair(answer), ((T, d), (T, T)), strict=True
    ):
        if not isinstance(found, torch.Tensor):
            raise ValueError(f"the {what} should be a tensor, but a {type(found).__name__} came")
        if tuple(found.shape) != wanted:
            raise ValueError(
                f"the {what} should have shape {wanted}, but {tuple(found.shape)} came"
            )
        if not torch.isfinite(found).all():
            raise ValueError(f"the {what} should be finite, but nan or inf came")
    return tuple(found.detach().to(x.dtype) for found in answer)


def _pair(answer):
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise ValueError(f"it should return context, weights, but a {type(answer).__name__} came")
    return answer


def _how_many(theirs) -> int:
    """1 for a function of x, 3 for one of q, k, v."""
    try:
        signature = inspect.signature(theirs)
    except (TypeError, ValueError):
        raise ValueError("it should be a function of x or of q, k, v") from None
    for count in (1, 3):
        with contextlib.suppress(TypeError):
            signature.bind(*range(count))
            return count
    raise ValueError("it should be a function of x or of q, k, v")


def _name(theirs) -> str:
    return getattr(theirs, "__name__", type(theirs).__name__)


def _said(error: Exception) -> str:
    """One line of an error, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:160].rstrip(".")
