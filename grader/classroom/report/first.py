"""The first screen: how did it go, where is the class stuck, what to do in the next hour."""

from html import escape

from grader.classroom.report.advice import advice, stuck
from grader.classroom.report.answers import UNTRIED
from grader.classroom.report.gather import Results
from grader.classroom.report.html import link
from grader.classroom.report.numbers import Item, Spread
from grader.exercise import Exercise

HARDEST = 3


def first_screen(
    results: Results, analysed: list[Item], found: Spread | None, known: dict[str, Exercise]
) -> str:
    """Three cards, each an answer."""
    nobody = "<p>Nobody has a score yet.</p>"
    went = _went(results, found) if found else nobody
    hard = "".join(f"<li>{_hard(item)}</li>" for item in stuck(analysed)[:HARDEST])
    nowhere = "<p>Nowhere: every answer has full points.</p>" if found else nobody
    hard = f"<ol>{hard}</ol>" if hard else nowhere
    todo = "".join(
        f"<li><strong>{escape(one.about)}</strong>"
        f"{f' ({link(one.exercise)})' if one.exercise else ''}: {escape(one.text)}</li>"
        for one in advice(results, analysed, known)
    )
    cards = {
        "How did it go?": went,
        "Where is the class stuck?": hard,
        "What to do in the next hour": f"<ol>{todo}</ol>",
    }
    return f"<div class='first'>{''.join(_card(*card) for card in cards.items())}</div>"


def _card(title: str, inside: str) -> str:
    return f"<section><h2>{title}</h2>{inside}</section>"


def _went(results: Results, found: Spread) -> str:
    scores, most = results.scores, results.most_points
    full = sum(score >= most for score in scores)
    late = sum(learner.grade.seconds_late > 0 for learner in results.learners)
    low, middle, high = found.quartiles
    count = f"{len(scores)} learner{'' if len(scores) == 1 else 's'}"
    lines = [
        f"The median of {count}; the mean is {found.mean:.3g}.",
        f"Half of the class lies between {low:.3g} and {high:.3g}.",
        f"{full} of {len(scores)} {'has' if full == 1 else 'have'} full points.",
        f"{late} handed in late." if late else "",
    ]
    told = "".join(f"<p>{line}</p>" for line in lines if line)
    return f"<p class='big'>{middle:.3g} <small>of {most:g} points</small></p>{told}"


def _hard(item: Item) -> str:
    share = f"{100 * item.difficulty:.0f} % of the points"
    wrong = item.learners - item.full
    untried = item.kinds[UNTRIED]
    also = f", {untried} of them not tried" if untried else ""
    return f"{link(item.name)}: {share}. {wrong} of {item.learners} not right{also}."
