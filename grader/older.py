"""Notices that a check is handed an older answer than the one that was just written."""

import ast
import re
from collections.abc import Sequence
from difflib import get_close_matches

from IPython import get_ipython

from grader.translate import say

_DEFINED = re.compile(r"^\s*(?:def|class)\s+(\w+)", re.MULTILINE)


def older(exercise: str, untouched: bool) -> str:
    """A sentence if the cell that should make the answer made none, or another one."""
    shell = get_ipython()
    ran = shell.history_manager.input_hist_parsed[:-1] if shell else ()  # without the check itself
    return _older(exercise, untouched, ran)


def _older(exercise: str, untouched: bool, ran: Sequence[str]) -> str:
    """From the cells that ran, the last one last.

    A stub that is left tells that nothing of that name was written since.
    Example: `_older("mix", False, ["def mix(weights, x:"])` -> "Python could not ..."
    """
    for cell in reversed(ran):
        defined = _DEFINED.findall(cell)
        if exercise in defined and _is_python(cell):
            return ""
        if exercise in defined:  # after a SyntaxError the name still holds what it held before
            return say(
                "Python could not read the cell above, so this is about the answer before it. "
                "Mend the cell, run it, and check again."
            )
        if untouched and (close := get_close_matches(exercise, defined, n=1, cutoff=0.8)):
            (near,) = close
            return say(
                f"The cell that you ran last defines {near}, and this check wants {exercise}."
            )
    return ""


def _is_python(cell: str) -> bool:
    try:
        ast.parse(cell)
    except (SyntaxError, ValueError):
        return False
    return True
