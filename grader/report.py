"""Formats a verdict: HTML for the notebook, plain text for everything else.

Whatever is shown is said in the learner's language; the verdict itself is not changed.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from IPython import get_ipython
from IPython.display import display

from grader.judge.words import LABELS
from grader.translate import language, say
from grader.verdict import Comparison, Verdict

_LABEL = re.compile(rf"^({'|'.join(LABELS)}): ")


def show(verdict: Verdict, hints: int) -> None:
    """Display the verdict and so many of its hints in a notebook, print them elsewhere."""
    if get_ipython() is None:
        print(as_text(verdict, hints))
        return
    content = {"text/plain": as_text(verdict, hints), "text/html": as_html(verdict, hints)}
    display(content, raw=True, metadata={"verdict": verdict.to_json()})
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not verdict.passed:
        # of a check that is short of its points, the dialog shows what stderr says, or a set phrase
        print(as_text(replace(verdict, comparison=None, properties=())), file=sys.stderr)


def title(verdict: Verdict) -> str:
    """One line: `title(Verdict("mix", 2.0, 2.0))` -> 'mix: right, 2 of 2 points'."""
    how = (
        say("right") if verdict.passed else say("not done yet" if verdict.untouched else "not yet")
    )
    points, most = f"{verdict.points:g}", f"{verdict.max_points:g}"
    earned = say(f"{points} of {most} point" if most == "1" else f"{points} of {most} points")
    return f"{verdict.exercise}: {how}, {earned}"


def as_text(verdict: Verdict, hints: int = 0) -> str:
    """Title, message, numbers, what was looked at with yes or no, and the hints that are open."""
    lines = [title(verdict)]
    if verdict.untouched:
        lines += [say(line) for line in verdict.message.splitlines()[1:]]
    elif not verdict.passed:
        lines += ["", *([f"{say('Step')}: {verdict.step}"] if verdict.step else [])]
        lines += [
            f"{label}: {text}" if label else text for label, text in lines_of(verdict.message)
        ]
    if verdict.comparison:
        lines += ["", *_numbers_in_lines(verdict.comparison)]
    if verdict.properties:
        yes, no = f"{say('yes'):3}", f"{say('no').upper():3}"
        lines += ["", *(f"  {yes if held else no}  {say(at)}" for at, held in verdict.properties)]
        lines += [f"{say('Points')}: {say(verdict.because)}"] if verdict.because else []
    lines += [f"{name}: {hint}" for name, hint in _open_hints(verdict, hints)]
    lines += [f"{say('WARNING')}: {say(verdict.cage)}"] if verdict.cage else []
    return "\n".join(lines)


def as_html(verdict: Verdict, hints: int = 0, picture: bool = True) -> str:
    """The same as a box: a coloured edge, but every fact in words; panel and hints folded.

    Without the `picture`, which takes longer than the verdict, its numbers are there as tables.
    """
    edge = "#1b7f5c" if verdict.passed else "#8a8a8a" if verdict.untouched else "#b3531b"
    parts = [f"<strong>{escape(title(verdict))}</strong>"]
    if verdict.untouched:
        parts += [f"<div>{escape(say(line))}</div>" for line in verdict.message.splitlines()[1:]]
    elif not verdict.passed:
        if verdict.step:
            parts.append(f"<div>{say('Step')}: <strong>{escape(verdict.step)}</strong></div>")
        for label, text in lines_of(verdict.message):
            bold = f"<strong>{escape(label)}:</strong> " if label else ""
            text = escape(text, quote=False)
            parts.append(f"<div style='margin:.3em 0'>{bold}{text}</div>")
    if verdict.comparison:
        parts.append(_numbers(verdict.comparison, picture))
    if verdict.properties:
        parts.append(_panel(verdict))
    parts += [_fold(name, escape(hint)) for name, hint in _open_hints(verdict, hints)]
    if hints and hints < len(verdict.hints):
        more = say("If the same mistake comes back, one more hint opens.")
        parts.append(f"<div>{escape(more)}</div>")
    if verdict.cage:
        warning = f"{say('WARNING')}: {say(verdict.cage)}"
        parts.append(f"<div><strong>{escape(warning)}</strong></div>")
    box = f"border-left:4px solid {edge};padding:.3em .8em;margin:.3em 0"
    lang = "" if language() == "en" else f" lang='{language()}'"
    return f"<div{lang} style='{box}'>{''.join(parts)}</div>"


def lines_of(message: str) -> Iterator[tuple[str, str]]:
    """The label, if there is one, and the text of each line, in the learner's language."""
    for line in message.splitlines():
        label, text = _LABEL.split(line)[1:] if _LABEL.match(line) else ("", line)
        yield say(label), say(text)


def _open_hints(verdict: Verdict, hints: int) -> list[tuple[str, str]]:
    return [
        (say(f"Hint {i} of {len(verdict.hints)}"), say(hint))
        for i, hint in enumerate(verdict.hints[:hints], start=1)
    ]


def _panel(verdict: Verdict) -> str:
    held = sum(held for _, held in verdict.properties)
    yes, no = say("yes"), f"<strong>{say('no')}</strong>"
    rows = "".join(
        f"<li>{yes if held else no} – {escape(say(label))}</li>"
        for label, held in verdict.properties
    )
    because = escape(f"{say('Points')}: {say(verdict.because)}")
    because = f"<div>{because}</div>" if verdict.because else ""
    summary = say(f"What was looked at: {held} of {len(verdict.properties)} hold")
    return _fold(summary, f"<ul style='margin:.2em 0'>{rows}</ul>{because}")


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


# -- numbers to look at ---------------------------------------------------------------------------


def _sides(comparison: Comparison) -> dict[str, tuple]:
    """`{"yours": rows, "right": rows, "difference": rows}`"""
    pairs = zip(comparison.yours, comparison.right, strict=True)
    difference = tuple(tuple(y - r for y, r in zip(*pair, strict=True)) for pair in pairs)
    sides = comparison.yours, comparison.right, difference
    return dict(zip((say("yours"), say("right"), say("difference")), sides, strict=True))


def _where(comparison: Comparison) -> str:
    part = comparison.part.capitalize() or say("Result")
    return say(f"{part} on {comparison.probe}")


def _numbers_in_lines(comparison: Comparison) -> list[str]:
    sides = _sides(comparison)
    rows = zip(*sides.values(), strict=True)
    lines = (" | ".join(" ".join(f"{v:7.3g}" for v in part) for part in row) for row in rows)
    return [f"{' | '.join(sides)}: {_where(comparison)}", *lines]


def _numbers(comparison: Comparison, picture: bool) -> str:
    """The picture with its alt text, and folded below it the numbers as tables."""
    sides = _sides(comparison)
    tables = "".join(_table(name, rows) for name, rows in sides.items())
    if not picture:
        return _fold(_where(comparison), tables)
    from grader.figures.heat import heatmaps_as_html  # matplotlib is slow to import

    drawn = heatmaps_as_html(sides, title=_where(comparison), words=say)
    return f"<div>{drawn}</div>" + _fold(say("The numbers as tables"), tables)


def _table(name: str, rows: tuple) -> str:
    cells = "".join(
        f"<tr><th scope='row'>{escape(say(f'row {i}'))}</th>"
        + "".join(f"<td>{value:.3g}</td>" for value in row)
        + "</tr>"
        for i, row in enumerate(rows)
    )
    return f"<table><caption>{escape(name)}</caption>{cells}</table>"
