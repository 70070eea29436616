"""The part of the page that says which mistakes the class made, with messages and hints."""

from html import escape

from grader.classroom.report.answers import KNOWN, UNTRIED, Found, found, mistakes_of
from grader.classroom.report.gather import Results
from grader.classroom.report.numbers import Item
from grader.exercise import Exercise


def mistakes(results: Results, analysed: list[Item], known: dict[str, Exercise]) -> str:
    """For each exercise that somebody has not right: what was wrong, how often, and the hints."""
    short = [item for item in analysed if item.wrong or item.full < item.learners]
    told = [_exercise(results, item, known.get(item.name)) for item in short]
    told = told or ["<p>None: no answer was judged wrong.</p>"]
    return f"<h2>Which mistakes the class made</h2>{''.join(told)}"


def _exercise(results: Results, item: Item, exercise: Exercise | None) -> str:
    rows = sorted(item.wrong, key=lambda each: each[0].kind == UNTRIED)
    if not rows or rows[0][0].kind == UNTRIED:
        why = f"right, or not tried ({rows[0][1]})" if rows else "no record says what is wrong"
        return f"<p id='{escape(item.name)}'><code>{escape(item.name)}</code>: {why}.</p>"
    told = "".join(_answer(results, item.name, exercise, *row) for row in rows)
    hints = "".join(f"<li>{escape(hint)}</li>" for hint in exercise.hints) if exercise else ""
    hints = f"<div class='hints'><p>Hints of this exercise:</p><ol>{hints}</ol></div>"
    return (
        f"<h3 id='{escape(item.name)}'><code>{escape(item.name)}</code></h3>"
        f"{told}{hints if exercise else ''}"
    )


def _answer(results: Results, name: str, exercise, what: Found, times: int) -> str:
    if what.kind == KNOWN:
        several = "<p>Equals several known mistakes, which come to the same here:</p>"
        told = several if len(what.mistakes) > 1 else ""
        told += "".join(_mistake(exercise, id) for id in what.mistakes)
    else:
        text = str(what)
        told = f"<p>{escape(text[:1].upper() + text[1:])}.</p>"
    if results.named:
        who = [one.label for one in results.graded if _is(one.verdicts.get(name), what)]
        told += f"<p class='soft'>{escape(', '.join(who))}</p>"
    return f"<div class='mistake'><div class='count'>{times}</div><div>{told}</div></div>"


def _is(verdict, what: Found) -> bool:
    return verdict is not None and found(verdict) == what


def _mistake(exercise: Exercise | None, id: str) -> str:
    """Formula, message and question, two of them for a pair."""
    declared = mistakes_of(exercise, id)
    told = "<p>Two mistakes at once:</p>" if len(declared) > 1 else ""
    told += "".join(
        f"<p><strong>{escape(one.formula)}</strong></p>"
        f"<p>{escape(one.what)} <em>{escape(one.question)}</em></p>"
        for one in declared
    )
    return f"{told}<p class='soft'><code>{escape(id)}</code></p>"
