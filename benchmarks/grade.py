"""How long `grade` takes on right and on wrong answers, each with inputs it has never seen.

Every call has a seed of its own, so nothing is remembered: the inputs, the right results and those
of the known mistakes are all made anew. Beside the milliseconds stands the ratio to calling the
answer itself once on every input, in the same run.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from grader import Exercise, exercises, grade
from grader.observe import first_call
from grader.quiet import fresh_state, quiet

#: milliseconds: (median over everything, slowest)
GOALS = {"right": (50, 500), "wrong": (150, 1500)}


def milliseconds(work: Callable, *args: object, **options: object) -> float:
    start = time.perf_counter()
    work(*args, **options)
    return 1000 * (time.perf_counter() - start)


def bare(exercise: Exercise, answer: Callable, seed: int) -> float:
    """The answer's own time: one call on every input."""
    probes = exercise.probes(seed)
    with quiet(), fresh_state():
        return sum(milliseconds(first_call, answer, probe) for probe in probes)


def unnamed(exercise: Exercise) -> Callable:
    """A wrong answer that equals no known mistake, so that every one and every pair is tried."""
    right = exercise.right

    def spoiled(*args: object) -> object:
        result = right(*args)
        several = isinstance(result, tuple)
        parts = [2 * torch.tanh(torch.as_tensor(r)) for r in (result if several else (result,))]
        return tuple(parts) if several else parts[0]

    if not isinstance(right, type):
        return spoiled
    forward = right.forward
    return type("Spoiled", (right,), {"forward": lambda self, x: 2 * torch.tanh(forward(self, x))})


def measure() -> dict[str, dict[str, list[tuple[float, float]]]]:
    """{"right" or "wrong": {exercise: [(milliseconds of grade, ratio to the answer alone)]}}"""
    found = {kind: {e.name: [] for e in exercises()} for kind in GOALS}
    seed = 10_000
    for exercise in exercises():
        grade(exercise.name, exercise.right)  # imports and torch's own first calls
        right = (exercise.right, exercise.slow, *exercise.variants)
        wrong = [*exercise.known_wrong]
        if exercise.compared is None:
            wrong.append(unnamed(exercise))
        for kind, answers in (("right", right), ("wrong", wrong)):
            for answer in answers:
                seed += 1
                alone = bare(exercise, answer, seed)
                took = milliseconds(grade, exercise.name, answer, seed=seed)
                found[kind][exercise.name].append((took, took / alone))
    return found


def main() -> int:
    """Print the table; the exit status is 1 if a goal is missed."""
    console, missed = Console(), False
    for kind, by_exercise in measure().items():
        every = [took for rows in by_exercise.values() for took, _ in rows]
        median, most = GOALS[kind]
        table = Table("exercise", "answers", "median ms", "slowest ms", "× the answer alone")
        for name, rows in by_exercise.items():
            took, ratios = zip(*rows, strict=True)
            ratio = f"{statistics.median(ratios):.1f}"
            cells = (f"{statistics.median(took):.0f}", f"{max(took):.0f}", ratio)
            table.add_row(name, str(len(rows)), *cells)
        console.print(f"\n{kind} answers", table)
        middle = statistics.median(every)
        reached = middle <= median and max(every) <= most
        console.print(
            f"{kind}: median {middle:.0f} ms (goal {median}), slowest {max(every):.0f} ms "
            f"(goal {most}): {'reached' if reached else 'MISSED'}"
        )
        missed |= not reached
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
