"""How far the hint ladder is open: one rung further each time the same mistake comes back."""

from grader.progress.file import Record
from grader.progress.standing import entry_of
from grader.verdict import Verdict


def rungs(record: Record, verdict: Verdict) -> int:
    """Count this verdict in, and say how many of its hints may be read now.

    The learner's record keeps it; a right answer folds the ladder up again.
    Example: the second `rungs(record, v)` for one wrong answer -> 2
    """
    if not verdict.hints and not verdict.passed:
        return 0
    mistakes = entry_of(record, verdict.exercise)["hints"]
    if verdict.passed:
        mistakes.clear()
        return 0
    name = str(verdict.misconception)
    mistakes[name] = mistakes.get(name, 0) + 1
    return min(mistakes[name], len(verdict.hints))
