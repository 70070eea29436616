"""What goes wrong in attention, one file per step: score – scale – normalise – mix – result.

A slip replaces one step of `kernels.attention`. It is named after the mistake, and its docstring
is what the student reads. In a formula, {q}, {k} and {v} stand for the three inputs and {s} for
the scores as they enter the softmax.
"""

from grader.attention.slips import mix, normalise, result, scale, score
from grader.attention.slips.slip import SLIPS, Slip, add_slips

__all__ = ["SLIPS", "Slip", "add_slips", "mix", "normalise", "result", "scale", "score"]
