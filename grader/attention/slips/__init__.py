"""What goes wrong in attention, one file per step: score – scale – mask – normalise – mix – result.

A slip replaces one step of `kernels.attention`. It is named after the mistake, and its docstring
is what the student reads. In a formula, {q}, {k} and {v} stand for the three inputs and {s} for
the scores as they enter the softmax. SLIPS are those of attention without a mask, CAUSAL those of
attention with a causal one.
"""

from grader.attention.slips import mask, mix, normalise, result, scale, score
from grader.attention.slips.causal import CAUSAL, NOT_A_NUMBER
from grader.attention.slips.slip import SLIPS, Slip, add_slips

__all__ = [
    "CAUSAL",
    "NOT_A_NUMBER",
    "SLIPS",
    "Slip",
    "add_slips",
    "mask",
    "mix",
    "normalise",
    "result",
    "scale",
    "score",
]
