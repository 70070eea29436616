"""How far the hint ladder is open: one rung further each time the same mistake comes back."""

from collections import Counter

from grader.verdict import Verdict

_met: dict[str, Counter] = {}


def rungs(verdict: Verdict) -> int:
    """Count this verdict in, and say how many of its hints may be read now.

    It is kept for as long as the kernel lives; a right answer folds the ladder up again.
    Example: the second `rungs(v)` for one wrong answer -> 2
    """
    if verdict.passed:
        _met.pop(verdict.exercise, None)
        return 0
    mistakes = _met.setdefault(verdict.exercise, Counter())
    mistakes[verdict.misconception] += bool(verdict.hints)
    return min(mistakes[verdict.misconception], len(verdict.hints))
