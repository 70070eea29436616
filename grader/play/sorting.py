"""A list of lines to sort with buttons: the keyboard alone is enough, and moves are read out."""

from collections.abc import Callable, Sequence

import ipywidgets

from grader.live import announced, marked_up
from grader.play.button import WIDE, button

OUT = "left out"


def sorter(
    task: str, lines: Sequence[str], judge: Callable[[Sequence[str]], str]
) -> ipywidgets.Widget:
    """Lines to choose from, and buttons to move the chosen one, to leave it out, and to try.

    `judge(chosen lines)` gives HTML, or raises UserError.
    """
    order, left_out = list(range(len(lines))), set()
    # not a list box: JupyterLab takes its arrow keys for itself
    shown = ipywidgets.RadioButtons(
        description="Line to move:",
        tooltip="Line to move",
        layout=WIDE,
        style={"description_width": "initial"},
    )
    status, report = ipywidgets.HTML(), ipywidgets.HTML()

    def kept() -> list[int]:
        return [number for number in order if number not in left_out]

    def place(number: int) -> str:
        """`place(3)` -> "2. weights = ..." """
        where = OUT if number in left_out else f"{kept().index(number) + 1}"
        return f"{where}. {lines[number]}"

    def redraw(chosen: int) -> None:
        shown.options = [(place(number), number) for number in order]
        shown.index = chosen

    def move(by: int) -> str:
        here, there = shown.index, shown.index + by
        if not 0 <= there < len(order):
            return f"It is the {'first' if by < 0 else 'last'} already."
        order[here], order[there] = order[there], order[here]
        redraw(there)
        return place(order[there])

    def leave_out_or_take_in() -> str:
        left_out.symmetric_difference_update({order[shown.index]})
        redraw(shown.index)
        return place(order[shown.index])

    def try_it() -> str:
        report.value = ""
        report.value = announced(judge([lines[number] for number in kept()]))
        return ""

    redraw(0)
    buttons = ipywidgets.HBox(
        [
            button("Up", lambda: move(-1), status),
            button("Down", lambda: move(1), status),
            button("Leave out or take in", leave_out_or_take_in, status),
            button("Try", try_it, status),
        ]
    )
    return ipywidgets.VBox([ipywidgets.HTML(marked_up(task)), shown, buttons, status, report])
