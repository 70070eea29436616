"""Pieces of HTML that the parts of the page share."""

from collections.abc import Iterable, Sequence
from html import escape


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence], text: int = 0) -> str:
    """A table whose first column names the rows; the last `text` columns hold sentences."""
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in columns)
    body = ""
    for first, *rest in rows:
        cells = "".join(
            f"<td{' class=text' if place >= len(rest) - text else ''}>{escape(str(value))}</td>"
            for place, value in enumerate(rest)
        )
        body += f"<tr><th scope='row'>{escape(str(first))}</th>{cells}</tr>"
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='{escape(caption)}'>"
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def link(name: str) -> str:
    """To what the page says of an exercise: `link("mix")` -> "<a href='#mix'>..."."""
    return f"<a href='#{escape(name)}'><code>{escape(name)}</code></a>"
