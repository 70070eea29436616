"""What goes wrong in attention, one file per step: score – scale – mask – normalise – mix.

A slip replaces one step of `kernels.attention`. It is named after the mistake, and its docstring
is what the student reads. In a formula, {q}, {k} and {v} stand for the three inputs and {s} for
the scores as they enter the softmax.
"""

from grader.slips.slip import SLIPS, add_slips

from . import mix, normalise, result, scale, score  # noqa: F401, I001 – in the order of the steps

__all__ = ["SLIPS", "add_slips"]
