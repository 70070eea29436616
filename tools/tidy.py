"""What `make outputs` puts right in a lesson beside its outputs, so that nobody has to by hand."""

import re
from itertools import count
from pathlib import Path

import nbformat
from nbformat import NotebookNode

DRAWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f-]+)?")  # an id that Jupyter made up
BOX = re.compile(r"> \*\*Exercise `(\w+)`\*\*")
ROW = re.compile(r"^(\| \[.*?\]\((.*?)\) \|.*\| )\d+( minutes \|)$", re.MULTILINE)
MINUTES = re.compile(r"^> Difficulty: .* about (\d+) minutes", re.MULTILINE)


def readable_ids(notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
    """Name new cells after their exercise, or after the cell above: "softmax-box", "softmax-1"."""
    taken = {cell.id for cell in notebook.cells}
    above = "cell"
    for cell in notebook.cells:
        if DRAWN.fullmatch(cell.id):
            cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or next(
                name for name in _names(cell, above) if name not in taken
            )
            taken.add(cell.id)
        above = cell.id
    return notebook, resources


def _names(cell: NotebookNode, above: str):
    if box := BOX.match(cell.source):
        yield f"{box[1]}-box"
    yield from (f"{above}-{number}" for number in count(1))


def minutes(notebook: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
    """Add up for each lesson in the table of the first page what its exercises' boxes say."""
    folder = Path(resources["metadata"]["path"])

    def added_up(row: re.Match) -> str:
        cells = nbformat.read(folder / row[2], as_version=4).cells
        boxes = "\n".join(cell.source for cell in cells)
        return f"{row[1]}{sum(map(int, MINUTES.findall(boxes)))}{row[3]}"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = ROW.sub(added_up, cell.source)
    return notebook, resources
