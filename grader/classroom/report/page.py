"""The class report as one page of HTML: no script, nothing from elsewhere, light, dark, printed."""

from collections import Counter
from html import escape
from importlib.resources import files

from grader.classroom.feedback import POLICY
from grader.classroom.grades import BY_HAND, NOT_SUBMITTED
from grader.classroom.outcome import GRADED, NOT_GRADABLE
from grader.classroom.report import drawing, times
from grader.classroom.report.answers import KINDS, plain_reason
from grader.classroom.report.first import first_screen
from grader.classroom.report.gather import WAITS, Learner, Results
from grader.classroom.report.html import table
from grader.classroom.report.mistakes import mistakes
from grader.classroom.report.numbers import FEWEST, Item, Spread, items, spread
from grader.exercises import exercises

HOW = (
    "Mean share is the difficulty: the mean points over what the exercise is worth; 100 % is easy. "
    "Discrimination is the correlation between the points of the exercise and those of all others "
    "together (corrected item-total correlation, Henrysson 1963). Near 1, who does well elsewhere "
    "does well here; under 0, look at the exercise. There is none (–) with fewer than "
    f"{FEWEST} learners, or where all have the same. Under about 30 learners it is rough."
)
SOURCES = (
    "Points are those of the gradebook, late penalties and grades by hand included; mistakes are "
    "those of the records. Nothing was judged again."
)
NAMED = "This page names learners: it is for who teaches them, and for nobody else."
NUMBERED = (
    "Learners have numbers, in an order that follows from the course's secret. All the same, a "
    "count of 1 or 2, or a rare score, can tell who it is to somebody who knows the class, the "
    "smaller the class the more. Hints may end with the answer. Look through the page before you "
    "show it."
)

# JupyterLab gives the first <base> of a page the file's address on the server. A link within it
# would then load that address, which a hub forbids inside of another page. This one is found, which
# says nothing to a browser, as it is not HTML's.
NO_BASE = '<svg style="display:none"><base/></svg>'


def page(results: Results, day: str) -> str:
    """The whole page: `page(gather(course, "01-averaging"), "2030-01-31")` -> "<!DOCTYPE ..."."""
    analysed = items(results)
    known = {exercise.name: exercise for exercise in exercises()}
    found = spread(results.scores, results.most_points)
    title = escape(f"{results.lesson}: class report")
    parts = [
        f"<header><h1>{title}</h1><p class='soft'>{escape(_how_many(results))} {day}</p></header>",
        first_screen(results, analysed, found, known),
        _charts(analysed, found),
        _exercises(analysed),
        mistakes(results, analysed, known),
        _not_graded(results),
        times.section(results),
        _about(results),
    ]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body>{NO_BASE}<main>{''.join(parts)}</main></body></html>\n"
    )


def _how_many(results: Results) -> str:
    count = Counter(learner.grade.state for learner in results.learners)
    handed_in = len(results.learners) - count[NOT_SUBMITTED]
    parts = [f"{handed_in} handed in", f"{count[GRADED]} graded"]
    for state in (NOT_GRADABLE, WAITS, BY_HAND, NOT_SUBMITTED):
        if count[state]:
            told = "not graded yet" if state == WAITS else state
            parts.append(f"{count[state]} {told}")
    return ", ".join(parts) + "."


def _charts(analysed: list[Item], found: Spread | None) -> str:
    if not found:
        return ""
    names, counts = zip(*found.bins, strict=True)
    bins = table("Learners by points", ("Points", *names), [("Learners", *counts)])
    return (
        "<h2>Points and answers</h2><div class='charts'>"
        f"<figure><figcaption>Learners by points</figcaption>{drawing.scores(found)}</figure>"
        "<figure><figcaption>What the answers were</figcaption>"
        f"{drawing.answers(analysed)}</figure></div>{bins}"
    )


def _exercises(analysed: list[Item]) -> str:
    columns = ("Exercise", "Worth", "Mean share", "Discrimination")
    rows = [
        (
            item.name, f"{item.most:g}", _percent(item.difficulty),
            _number(item.discrimination), *item.kinds.values(),
        )
        for item in analysed
    ]  # fmt: skip
    easy = [item.name for item in analysed if item.learners and item.full == item.learners]
    nobody = ", ".join(f"<code>{escape(name)}</code>" for name in easy) or "none"
    kinds = [kind.capitalize() for kind in KINDS]
    return (
        "<h2>Exercises</h2>"
        + table("Each exercise, and what the answers to it were", (*columns, *kinds), rows)
        + f"<p>Exercises that nobody fails: {nobody}.</p>"
        + f"<p class='soft'>{escape(HOW)}</p>"
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")


def _not_graded(results: Results) -> str:
    failed, waiting = results.having(NOT_GRADABLE), results.having(WAITS)
    rows = [(learner.label, _why(learner, results.named)) for learner in failed]
    rows += [(learner.label, "Not graded yet.") for learner in waiting]
    if not rows:
        return ""
    told = table("Submissions without a score, and why", ("Learner", "Reason"), rows, text=1)
    return f"<h2>Not graded</h2>{told}<p>This costs them nothing: it is not a score of zero.</p>"


def _why(learner: Learner, named: bool) -> str:
    return learner.grade.reason if named else plain_reason(learner.grade.reason)


def _about(results: Results) -> str:
    who = NAMED if results.named else NUMBERED
    return f"<h2>About these numbers</h2><p>{escape(SOURCES)}</p><p>{escape(who)}</p>"
