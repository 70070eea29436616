"""Tables that spreadsheets open: no text in them is taken for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence


def as_text(columns: Sequence[str], rows: Iterable[dict]) -> str:
    """A table with its header: `as_text(["name"], [{"name": "ada"}])` -> "name\\r\\nada\\r\\n"."""
    file = io.StringIO(newline="")
    table = csv.writer(file)
    table.writerow(columns)
    for row in rows:
        table.writerow([cell(row.get(column)) for column in columns])
    return file.getvalue()


def cell(value: object) -> str:
    """The text of a cell: `cell("=1+1")` -> "'=1+1", `cell(-1.5)` -> "-1.5", `cell(None)` -> ""."""
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
