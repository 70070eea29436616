"""The lines of an answer, out of order and with lines that do not belong: put them in order.

The judge is the one of `check`, so a wrong order is answered by the name of the mistake.
"""

import linecache
from collections.abc import Callable, Sequence
from html import escape
from textwrap import indent
from typing import Any

import torch

from grader import report
from grader.checking import grade
from grader.errors import UserError
from grader.exercise import Exercise
from grader.exercises import find
from grader.live import show
from grader.progress.file import change
from grader.progress.standing import event
from grader.verdict import Verdict

NO_POINTS = "This is a try: it does not count, and opens no hint."
CARRY = "Now write it into the answer cell, and run the check:"


class Disorder(UserError, ValueError):
    """These lines cannot be put together; the message says why."""


def order_lines(exercise: str, lines: Sequence[str], *, order: Sequence[int] | None = None) -> None:
    """Let the lines be put in order, with buttons or with `order`, their numbers from 1 on.

    The lines become the body of the function and are judged as in `check`, but do not count.
    Example: `order_lines("mix", ["return x @ weights", "return weights @ x"], order=[2])`
    """
    try:
        found = find(exercise)
        listed = _listed(lines)
        if order is not None:
            show(*tried(found, _chosen(listed, order)))
            return
    except UserError as error:
        print(error)
        return
    from grader.play.sorting import sorter  # ipywidgets is slow to import

    how = f"Without buttons: add order={[*range(len(listed), 0, -1)][:3]} to this call, with the "
    how += "numbers of the lines that you want, in your order, and run the cell again."
    task = f"Put the lines of {head(found)} in order. Some may not belong."
    numbered = [f"  {number}. {line}" for number, line in enumerate(listed, start=1)]
    items = "".join(f"<li><code>{escape(line)}</code></li>" for line in listed)
    html = f"<div>{escape(task)}</div><ol>{items}</ol><div>{escape(how)}</div>"
    judge = _judge(found)
    show("\n".join([task, *numbered, how]), html, lambda: sorter(task, listed, judge))


def tried(exercise: Exercise, lines: Sequence[str]) -> tuple[str, str]:
    """The report on an answer with these lines, as text and as HTML. Raises Disorder."""
    source = f"def {head(exercise)}:\n{indent(chr(10).join(lines), '    ')}\n"
    verdict = grade(exercise.name, _made(exercise.name, source))
    change(lambda record: event(record, exercise.lesson))
    text, html = _report(verdict)
    if verdict.passed:
        text += f"\n\n{CARRY}\n\n{source}"
        html += f"<div>{CARRY}</div><pre>{escape(source)}</pre>"
    return text, html


def head(exercise: Exercise) -> str:
    """How the function begins: `head(find("mix"))` -> "mix(weights, x)" """
    return f"{exercise.name}({', '.join(exercise.arguments)})"


def _report(verdict: Verdict) -> tuple[str, str]:
    text = f"{NO_POINTS}\n{report.as_text(verdict)}"
    return text, f"<div>{NO_POINTS}</div>{report.as_html(verdict)}"


def _judge(exercise: Exercise) -> Callable[[Sequence[str]], str]:
    """What the button "Try" does: the lines come in, HTML goes out."""

    def judge(lines: Sequence[str]) -> str:
        if not lines:
            raise Disorder(EMPTY)
        return tried(exercise, lines)[1]

    return judge


EMPTY = "No line is left: choose at least one."


def _listed(lines: Sequence[str]) -> list[str]:
    if isinstance(lines, str) or not isinstance(lines, Sequence) or len(lines) < 2:
        raise Disorder("order_lines: there must be a list of two lines or more.")
    return [str(line) for line in lines]


def _chosen(lines: list[str], order: Any) -> list[str]:
    """The lines in that order. Raises Disorder."""
    try:
        numbers = [int(number) for number in order]
    except (TypeError, ValueError):
        numbers = [0]
    if any(not 1 <= number <= len(lines) for number in numbers):
        raise Disorder(f"order is a list of numbers from 1 to {len(lines)}, such as [2, 1].")
    if len(set(numbers)) < len(numbers):
        raise Disorder("order names a line twice: each can be used once.")
    if not numbers:
        raise Disorder(EMPTY)
    return [lines[number - 1] for number in numbers]


def _made(name: str, source: str) -> Any:
    """The function that the source defines. Raises Disorder."""
    where = f"<{name} in your order>"
    names: dict[str, Any] = {"torch": torch}
    try:
        exec(compile(source, where, "exec"), names)
    except SyntaxError as error:
        raise Disorder(f"In this order it is no Python: {error.msg}.") from error
    # a report that quotes the line of an error finds it here
    linecache.cache[where] = (len(source), None, source.splitlines(keepends=True), where)
    return names[name]
