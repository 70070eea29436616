"""What an explorer is on the page: controls, a picture, its alt text, its key numbers, its tables.

An explorer is a list of controls and a function from their values to a `View`. The same view is
shown twice in one output: live for front ends with widgets, and still for all others.
"""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from pathlib import Path

import anywidget
from IPython import get_ipython
from IPython.display import display
from traitlets import Bytes, Dict, List, Unicode

from grader.figures.canvas import image, wide
from grader.live import VIEW
from grader.widgets.stage import Stage

HERE = Path(__file__).parent
AGAIN = "<p>Run this cell to get the controls.</p>"
SIDE_BY_SIDE = "align-items: flex-start; display: flex; flex-wrap: wrap; gap: 0 2.5em"


@dataclass(frozen=True)
class View:
    """What is to be seen: a picture, the same in words, the key numbers in a line, tables in HTML.

    `options` replaces what a control offers, for controls that depend on others.
    """

    stage: Stage
    alt: str
    status: str
    tables: str
    options: dict[str, list] = field(default_factory=dict)


class Explorer(anywidget.AnyWidget):
    """The live form. Each change of `values`, here or on the page, changes all the rest."""

    _esm = HERE / "explorer.js"
    _css = HERE / "explorer.css"
    title = Unicode().tag(sync=True)
    controls = List().tag(sync=True)
    values = Dict().tag(sync=True)
    png = Bytes().tag(sync=True)
    alt = Unicode().tag(sync=True)
    status = Unicode().tag(sync=True)
    tables = Unicode().tag(sync=True)

    def __init__(self, title: str, controls: list[dict], view: Callable[..., View]) -> None:
        self._view = view
        values = {control["name"]: control.pop("value") for control in controls}
        seen = view(**values)
        super().__init__(title=title, controls=controls, values=values, **_traits(seen))
        self._offer(seen)
        self.observe(self._follow, "values")

    def _follow(self, _) -> None:
        try:
            seen = self._view(**self.values)
        except ValueError as error:
            self.status = str(error)
            return
        with self.hold_sync():  # one message, so that picture and words change together
            self._offer(seen)
            for name, value in _traits(seen).items():
                setattr(self, name, value)

    def _offer(self, seen: View) -> None:
        self.stage = seen.stage
        self.controls = [
            {**control, "options": seen.options.get(control["name"], control["options"])}
            for control in self.controls
        ]


def _traits(seen: View) -> dict:
    return {"png": seen.stage.png(), "alt": seen.alt, "status": seen.status, "tables": seen.tables}


def one_line(explorer: Callable[..., Explorer]) -> Callable[..., None]:
    """Let an explorer show itself, and say a mistake in its arguments in one line."""

    @wraps(explorer)
    def call(*arguments, **named) -> None:
        try:
            shown = explorer(*arguments, **named)
        except ValueError as error:
            print(f"{explorer.__name__}: {error}")
        else:
            show(shown)

    return call


def show(explorer: Explorer) -> None:
    """Display the live and the still form as one output; print the words outside a notebook."""
    if get_ipython() is None:
        print(explorer.alt)
        return
    png, alt = explorer.stage.fine(), explorer.alt
    still = f"{image(png, alt)}<p>{escape(explorer.status)}</p>"
    still += f'<div style="{SIDE_BY_SIDE}">{explorer.tables}</div>{AGAIN}'
    content = {
        VIEW: {"version_major": 2, "version_minor": 0, "model_id": explorer.model_id},
        "text/plain": alt,
        "text/html": still,
        "image/png": base64.b64encode(png).decode(),
    }
    display(content, raw=True, metadata={"image/png": {"alt": alt, "width": wide(png)}})


def slider(name: str, label: str, options: Iterable[tuple], value) -> dict:
    """A slider over (value, words) pairs: `slider("d_k", "d_k", [(1, "1"), (2, "2")], 1)`."""
    return _control("slider", name, label, value, options)


def choice(name: str, label: str, options: Iterable[tuple], value) -> dict:
    """One of several (value, words) pairs."""
    return _control("choice", name, label, value, options)


def text(name: str, label: str, value: str) -> dict:
    """A line to write in."""
    return _control("text", name, label, value)


def switch(name: str, label: str, value: bool) -> dict:
    """On or off."""
    return _control("switch", name, label, value)


def order(name: str, label: str, options: Iterable[tuple], value: list) -> dict:
    """(value, words) pairs that can be put in another order."""
    return _control("order", name, label, value, options)


def _control(kind, name, label, value, options=()) -> dict:
    options = [list(pair) for pair in options]
    return {"kind": kind, "name": name, "label": label, "value": value, "options": options}


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable]) -> str:
    """An HTML table whose first column names the rows.

    Example: `table("Weights", ["token", "weight"], [("cat", "0.3")])`
    """
    columns = "".join(f'<th scope="col">{escape(str(each))}</th>' for each in head)
    lines = ""
    for name, *cells in rows:
        rest = "".join(f"<td>{escape(str(each))}</td>" for each in cells)
        lines += f'<tr><th scope="row">{escape(str(name))}</th>{rest}</tr>'
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{columns}</tr></thead>"
        f"<tbody>{lines}</tbody></table>"
    )
