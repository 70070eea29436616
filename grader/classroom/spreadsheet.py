"""Tables that spreadsheets open: no text in them is taken for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence


def as_text(columns: Sequence[str], rows: Iterable[dict]) -> str:
    """A table with its header: `as_text(["name"], [{"name": "ada"}])` -> "name\\r\\nada\\r\\n"."""
    cells = ([cell(row.get(column)) for column in columns] for row in rows)
    return written([columns, *cells])


def written(lines: Iterable[Sequence[str]], comma: str = ",") -> str:
    """Cells as they are, in lines: `written([["name", "ada"]], ";")` -> "name;ada\\r\\n"."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=comma).writerows(lines)
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
