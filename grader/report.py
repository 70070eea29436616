"""Formats a verdict: HTML for the notebook, plain text for everything else."""

from html import escape

from IPython import get_ipython
from IPython.display import display

from grader.verdict import Verdict


def show(verdict: Verdict) -> None:
    """Display the verdict in a notebook, print it elsewhere."""
    if get_ipython() is None:
        print(as_text(verdict))
        return
    content = {"text/plain": as_text(verdict), "text/html": as_html(verdict)}
    display(content, raw=True, metadata={"verdict": verdict.to_json()})


def title(verdict: Verdict) -> str:
    """One line: `title(Verdict("mix", 2.0, 2.0))` -> 'mix: right, 2 of 2 points'."""
    word = "right" if verdict.passed else "not done yet" if verdict.untouched else "not yet"
    points = f"{verdict.points:g} of {verdict.max_points:g}"
    return f"{verdict.exercise}: {word}, {points} point{'s' if verdict.max_points != 1 else ''}"


def as_text(verdict: Verdict) -> str:
    """The title, the message, and what was looked at with yes or no."""
    lines = [title(verdict)]
    if verdict.untouched:
        lines += verdict.message.splitlines()[1:]
    elif not verdict.passed:
        lines += ["", *([f"Step: {verdict.step}"] if verdict.step else []), verdict.message]
    if verdict.properties:
        lines += [
            "",
            *(f"  {'yes' if held else 'NO ':3}  {label}" for label, held in verdict.properties),
        ]
    return "\n".join(lines)


def as_html(verdict: Verdict) -> str:
    """The same as a box: a coloured edge, but every fact in words; panel and hints folded."""
    edge = "#1b7f5c" if verdict.passed else "#8a8a8a" if verdict.untouched else "#b3531b"
    parts = [f"<strong>{escape(title(verdict))}</strong>"]
    if verdict.untouched:
        parts += [f"<div>{escape(line)}</div>" for line in verdict.message.splitlines()[1:]]
    elif not verdict.passed:
        parts += (
            [f"<div>Step: <strong>{escape(verdict.step)}</strong></div>"] if verdict.step else []
        )
        parts += [
            f"<p style='margin:.5em 0'>{escape(paragraph).replace(chr(10), '<br>')}</p>"
            for paragraph in verdict.message.split("\n\n")
        ]
    if verdict.properties:
        held = sum(held for _, held in verdict.properties)
        rows = "".join(
            f"<li>{'yes' if held else '<strong>no</strong>'} – {escape(label)}</li>"
            for label, held in verdict.properties
        )
        parts.append(
            _fold(
                f"What was looked at: {held} of {len(verdict.properties)} hold",
                f"<ul style='margin:.2em 0'>{rows}</ul>",
            )
        )
    parts += [
        _fold(f"Hint {i} of {len(verdict.hints)}", escape(hint))
        for i, hint in enumerate(verdict.hints, start=1)
    ]
    return (
        f"<div style='border-left:4px solid {edge};padding:.3em .8em;margin:.3em 0'>"
        + "".join(parts)
        + "</div>"
    )


def _fold(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"
