"""CAUSAL: the slips of attention with a causal mask, in its mask and in its other steps.

The scores of later keys are -∞ as they enter the softmax, and a few slips there would make nothing
but NaN of them. Those are given in the form that someone with a mask would write.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import cleandoc

import torch
from torch import Tensor

from grader.attention.kernels import causal
from grader.attention.slips import mix, normalise, result, scale, score  # noqa: F401  fill SLIPS
from grader.attention.slips.mask import MASK_SLIPS
from grader.attention.slips.slip import SLIPS, Slip


def _plain(name: str) -> Slip:
    return next(each for each in SLIPS if each.id == name)


def _changed_before_the_mask(name: str, change: Callable[[Tensor], Tensor]) -> Slip:
    """A slip that changes the scores, with the mask put on what it makes of them."""
    plain = _plain(name)
    return replace(plain, replaced={"mask": lambda scores, *_: causal(change(scores))})


def _with_zeros_for_hidden(name: str) -> Slip:
    """A slip that divides scores by something, with 0 where a key is hidden."""
    plain = _plain(name)

    @wraps(plain.function)
    def divided(scores, *_):
        return plain.function(scores.masked_fill(scores == -torch.inf, 0))

    return replace(plain, function=divided, replaced={"normalise": divided})


_OTHER_FORM = (
    _changed_before_the_mask("of_absolute_scores", torch.abs),
    _changed_before_the_mask("sign_turned", torch.neg),
    *map(
        _with_zeros_for_hidden,
        ("divided_by_the_sum", "squares_over_their_sum", "divided_by_the_length"),
    ),
)


def _under_a_mask(plain: Slip) -> Slip:
    """The slip as it is told here: it was met in the open without a causal mask."""

    @wraps(plain.function)
    def told(*args):
        return plain.function(*args)

    told.__doc__, _, _ = cleandoc(plain.function.__doc__).partition("\n\nSeen in ")
    return replace(plain, function=told, formula=f"{plain.formula}, later keys hidden")


_NOT_HERE = ("later_keys_hidden", "divided_by_root_of_T_q", *(each.id for each in _OTHER_FORM))
_AS_EVER = [each for each in SLIPS if each.id not in _NOT_HERE]

#: for `add_slips(..., slips=CAUSAL, mask=causal)`: one sequence, so that T_q and T_k are the same
CAUSAL = [
    *map(_under_a_mask, (*_AS_EVER, *_OTHER_FORM)),
    *MASK_SLIPS,
]
#: of these the context alone is not a number, in one way or another
NOT_A_NUMBER = ("no_softmax", "log_softmax", "scores_mixed", "weights_set_to_infinity")
