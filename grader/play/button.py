"""A button whose answer is put below it and read out."""

from collections.abc import Callable

import ipywidgets

from grader.errors import UserError
from grader.live import announced, marked_up

WIDE = {"width": "max-content", "max_width": "100%"}


def button(words: str, does: Callable[[], str], status: ipywidgets.HTML) -> ipywidgets.Button:
    """Shows in `status` what `does()` gives back, or the UserError that it raises."""
    made = ipywidgets.Button(description=words, layout=WIDE)

    def pressed(_: ipywidgets.Button) -> None:
        try:
            said = does()
        except UserError as error:
            said = str(error)
        status.value = announced(marked_up(said))

    made.on_click(pressed)
    return made
