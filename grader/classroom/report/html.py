"""Pieces of HTML that the parts of the page share."""

from collections.abc import Iterable, Sequence
from html import escape


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence], text: int = 0) -> str:
    """A table whose first column names the rows; the last `text` columns hold sentences."""
    wordy = set(range(len(columns) - text, len(columns)))

    def cells(start: str, end: str, values: Sequence) -> str:
        return "".join(
            f"<{start}{' class=text' if place in wordy else ''}>{escape(str(value))}</{end}>"
            for place, value in enumerate(values)
            if place or end == "th"
        )

    head = cells("th scope='col'", "th", columns)
    body = "".join(
        f"<tr><th scope='row'>{escape(str(row[0]))}</th>{cells('td', 'td', row)}</tr>"
        for row in rows
    )
    return (
        f"<div class='wide' tabindex='0' role='region' aria-label='{escape(caption)}'>"
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def link(name: str) -> str:
    """To what the page says of an exercise: `link("mix")` -> "<a href='#mix'>..."."""
    return f"<a href='#{escape(name)}'><code>{escape(name)}</code></a>"
