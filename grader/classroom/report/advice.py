"""What the numbers suggest for the next hour: a few sentences, the weightiest first."""

from dataclasses import dataclass

from grader.classroom.outcome import NOT_GRADABLE
from grader.classroom.report.answers import KNOWN, OTHER, STOPPED, UNTRIED, mistakes_of
from grader.classroom.report.gather import WAITS, Results
from grader.classroom.report.numbers import Item
from grader.exercise import Exercise

MOST = 5
TALKED_OVER = 2  # the mistakes that a class has time for
MANY = 1 / 3  # of the class


@dataclass(frozen=True)
class Advice:
    """One thing to do: what it is about, the words, and the exercise to read more of."""

    about: str
    text: str
    exercise: str = ""


def stuck(items: list[Item]) -> list[Item]:
    """The exercises with the smallest mean share of the points, those that all have right left out.

    Example: `[item.name for item in stuck(items)]` -> ["softmax", "mix"]
    """
    hard = [item for item in items if item.difficulty is not None and item.full < item.learners]
    return sorted(hard, key=lambda item: item.difficulty)


def advice(results: Results, items: list[Item], known: dict[str, Exercise]) -> list[Advice]:
    """At most five things to do, from what most learners share to what few need."""
    given = [*(_to_talk_over(items, known) or _to_go_through(items, known))]
    given += [*_untried(items), *_unknown(items)]
    given += [*_odd(items), *_left_over(results)]
    return given[:MOST] or [Advice("Go on", "Nothing stands out: the class is ready for more.")]


def _to_talk_over(items: list[Item], known: dict[str, Exercise]) -> list[Advice]:
    shared = [
        (times, item, what)
        for item in items
        for what, times in item.wrong
        if what.kind == KNOWN and times > 1
    ]
    shared.sort(key=lambda each: -each[0])
    given = []
    for times, item, what in shared[:TALKED_OVER]:
        declared = mistakes_of(known.get(item.name), what.mistakes[0])
        formula = " and ".join(one.formula for one in declared) or what
        asked = f" Ask: {declared[0].question}" if declared else ""
        text = f"{times} of {item.learners} computed {formula}.{asked}"
        given.append(Advice("Talk it over", text, item.name))
    return given


def _to_go_through(items: list[Item], known: dict[str, Exercise]) -> list[Advice]:
    """The hardest exercise that somebody tried in vain, where no mistake is shared."""
    for item in stuck(items):
        tried = item.learners - item.kinds[UNTRIED]
        if tried <= item.full:
            continue
        start = f" Start from: {known[item.name].hints[0]}" if item.name in known else ""
        wrong = f"{tried - item.full} of {tried} answers are not right"
        return [
            Advice("Go through it", f"{wrong}, no two in the same known way.{start}", item.name)
        ]
    return []


def _untried(items: list[Item]) -> list[Advice]:
    found = [item for item in items if item.kinds[UNTRIED] >= max(2, MANY * item.learners)]
    if not found:
        return []
    names = ", ".join(f"{item.name} ({item.kinds[UNTRIED]})" for item in found)
    text = f"Many did not try {names}. Was there time for it?"
    return [Advice("Ask about time", text, found[0].name)]


def _unknown(items: list[Item]) -> list[Advice]:
    def unnamed(item: Item) -> int:
        return item.kinds[OTHER] + item.kinds[STOPPED]

    worst = max(items, key=unnamed, default=None)
    if worst is None or unnamed(worst) < 2:
        return []
    text = f"{unnamed(worst)} answers are wrong in a way that has no name yet."
    return [Advice("Read answers", text, worst.name)]


def _odd(items: list[Item]) -> list[Advice]:
    found = [item for item in items if (item.discrimination or 0.0) < -0.1]
    return [
        Advice(
            "Look at the exercise",
            "Who has fewer points elsewhere did better here. Is the text or the check to blame?",
            item.name,
        )
        for item in found[:1]
    ]


def _left_over(results: Results) -> list[Advice]:
    given = []
    if failed := len(results.having(NOT_GRADABLE)):
        text = f"{_submissions(failed)} could not be graded. Each needs a word from you."
        given.append(Advice("Write to them", text))
    if waiting := len(results.having(WAITS)):
        text = f"{_submissions(waiting)} handed in, but not graded yet."
        given.append(Advice("Grade the rest", text))
    return given


def _submissions(count: int) -> str:
    return f"{count} submission{'' if count == 1 else 's'}"
