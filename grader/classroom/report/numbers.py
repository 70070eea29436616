"""Item analysis: how hard an exercise was, whether it tells learners apart, what was wrong.

Difficulty is the p of item analysis, for points: their mean over what the exercise is worth (1 is
easy). Discrimination is the correlation of Pearson between the points of an exercise and the sum
of the points of all others, which for right and wrong is the point-biserial one: the corrected
item-total correlation (S. Henrysson, Psychometrika 28, 1963, 211-218; L. Crocker and J. Algina,
Introduction to Classical and Modern Test Theory, 1986, chapter 14).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.classroom.report.answers import KINDS, RIGHT, Found, found
from grader.classroom.report.gather import Learner, Results

FEWEST = 5  # learners; with fewer a correlation says nothing
MOST_BARS = 16


@dataclass(frozen=True)
class Item:
    """One exercise of a class: `difficulty` and `discrimination` are None where undefined.

    `found` counts what the answers were, the most frequent first.
    """

    name: str
    most: float
    learners: int
    full: int
    difficulty: float | None
    discrimination: float | None
    found: tuple[tuple[Found, int], ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many answers were right, a known mistake, ...: `item.kinds["right"]` -> 12."""
        count = dict.fromkeys(KINDS, 0)
        for what, times in self.found:
            count[what.kind] += times
        return count

    @property
    def wrong(self) -> list[tuple[Found, int]]:
        return [(what, times) for what, times in self.found if what.kind != RIGHT]


def items(results: Results) -> list[Item]:
    """Every exercise of the lesson, over all learners who have points in it."""
    return [_item(results, name, most) for name, most in results.most.items()]


def _item(results: Results, name: str, most: float) -> Item:
    with_points = [one for one in results.graded if one.points.get(name) is not None]
    points = [one.points[name] for one in with_points]
    rest = [_rest(one, name) for one in with_points]
    count = Counter(found(one.verdicts[name]) for one in with_points if name in one.verdicts)
    return Item(
        name,
        most,
        len(points),
        sum(each >= most for each in points),
        float(np.mean(points)) / most if points and most else None,
        correlation(points, rest) if len(points) >= FEWEST else None,
        tuple(sorted(count.items(), key=lambda each: (-each[1], each[0]))),
    )


def _rest(learner: Learner, but: str) -> float:
    return sum(points or 0.0 for name, points in learner.points.items() if name != but)


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's, None where one of the two does not vary: `correlation([0, 1], [3, 5])` -> 1.0."""
    if len(one) < 2:
        return None
    x, y = (np.asarray(values) - np.mean(values) for values in (one, other))
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale > 1e-12 else None


@dataclass(frozen=True)
class Spread:
    """How scores are spread: quartiles, mean, and how many fall into each bin.

    Example: `spread([1, 2, 2], 2).bins` -> (("0", 0), ("1", 1), ("2", 2))
    """

    mean: float
    quartiles: tuple[float, float, float]
    bins: tuple[tuple[str, int], ...]


def spread(scores: Sequence[float], most: float) -> Spread | None:
    """The last bin holds full points alone, and what is above them; None without scores."""
    if not scores:
        return None
    width = max(1, math.ceil(most / MOST_BARS))
    starts = list(range(0, math.ceil(most), width))
    count = Counter(
        len(starts) if score >= most else int(score // width) for score in map(float, scores)
    )
    names = [_range(start, min(start + width, most)) for start in starts] + [f"{most:g}"]
    low, middle, high = (float(each) for each in np.percentile(scores, [25, 50, 75]))
    bins = tuple((name, count[place]) for place, name in enumerate(names))
    return Spread(float(np.mean(scores)), (low, middle, high), bins)


def _range(start: float, end: float) -> str:
    return f"{start:g}" if end - start <= 1 else f"{start:g}\N{EN DASH}{end:g}"
