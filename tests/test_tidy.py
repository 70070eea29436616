"""What `make outputs` puts right: ids that Jupyter made up, and the minutes of the first page."""

import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import tidy


def test_new_cells_are_named_after_their_exercise_or_the_cell_above_and_old_ones_stay():
    cells = [
        new_markdown_cell("# A lesson", id="title"),
        new_code_cell("1"),
        new_code_cell("2"),
        new_markdown_cell("> **Exercise `mix`** · 2 points<br>"),
        new_code_cell("def mix(): ...", metadata={"nbgrader": {"grade_id": "mix"}}),
        new_markdown_cell("so", id="mix-1"),
        new_markdown_cell("more"),
    ]
    notebook, _ = tidy.readable_ids(new_notebook(cells=cells), {})
    ids = [cell.id for cell in notebook.cells]
    assert ids == ["title", "title-1", "title-1-1", "mix-box", "mix", "mix-1", "mix-1-1"]
    assert tidy.readable_ids(notebook, {})[0] == notebook


def test_the_minutes_of_the_first_page_follow_from_the_boxes(tmp_path):
    box = "> Difficulty: 1 of 5 · about {} minutes<br>"
    cells = [new_markdown_cell(box.format(minutes)) for minutes in (5, 7)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "one.ipynb")
    row = "| [1 · One](one.ipynb) | about one thing | {} minutes |"
    page = new_notebook(cells=[new_markdown_cell(row.format(3))])
    made, _ = tidy.minutes(page, {"metadata": {"path": str(tmp_path)}})
    assert made.cells[0].source == row.format(12)
