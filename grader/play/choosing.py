"""The buttons of a question: the keyboard alone is enough, and what happens is read out."""

from collections.abc import Callable
from typing import Any

import ipywidgets

from grader.live import marked_up
from grader.play.button import WIDE, button
from grader.play.question import SURE, Question


def prediction(asked: Question, state: str, keep: Callable[[str, int], str]) -> ipywidgets.Widget:
    """Choices, how sure, and a button; `keep(choice, sure)` says what is kept, or raises Silly."""
    choices = _choices(asked, "Prediction:")
    sure = _radios("How sure:", [(word, level) for level, word in SURE.items()])

    def press() -> str:
        if choices.value is None or sure.value is None:
            return "Choose an answer and how sure you are, then keep it."
        return keep(choices.value, sure.value)

    return _box("Predict.", asked, [choices, sure], "Keep this answer", state, press)


def recollection(asked: Question, heading: str, judge: Callable[[str], str]) -> ipywidgets.Widget:
    """Choices and a button; `judge(choice)` says whether it is right now."""
    choices = _choices(asked, "Your answer:")

    def press() -> str:
        return "Choose an answer first." if choices.value is None else judge(choices.value)

    return _box(heading, asked, [choices], "Answer", "", press)


def _choices(asked: Question, label: str) -> ipywidgets.RadioButtons:
    return _radios(label, [(asked.say(choice), choice) for choice in asked.choices])


def _radios(label: str, options: list[tuple[str, Any]]) -> ipywidgets.RadioButtons:
    """Also for "how sure": which of ipywidgets' ToggleButtons is pressed, nobody can hear."""
    return ipywidgets.RadioButtons(
        options=options,
        value=None,
        description=label,
        tooltip=label,
        style={"description_width": "initial"},
        layout=WIDE,
    )


def _box(
    heading: str, asked: Question, parts: list, label: str, state: str, press: Callable[[], str]
) -> ipywidgets.Widget:
    text = f"<strong>{heading}</strong> {marked_up(asked.question)}"
    status = ipywidgets.HTML(marked_up(state))
    return ipywidgets.VBox([ipywidgets.HTML(text), *parts, button(label, press, status), status])
