"""A check says so where its answer is older than what was just typed."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

STUB = "def mix(weights, x):\n    raise NotImplementedError"
RIGHT = "def mix(weights, x):\n    return weights @ x"
UNREAD = "def mix(weights, x)\n    return weights @ x"
MISSPELT = "def mixx(weights, x):\n    return weights @ x"
OTHER = "def helper(weights):\n    return 2 * weights"


def said(*cells):
    """What the check says after these cells, before its report."""
    check = new_code_cell("from grader import check\ncheck('mix', mix)")
    notebook = new_notebook(cells=[*map(new_code_cell, cells), check])
    NotebookClient(notebook, timeout=120, kernel_name="warm", allow_errors=True).execute()
    assert not [o for o in check.outputs if o.get("name") == "stderr"]
    assert check.outputs[-1].output_type == "execute_result"
    return "".join(o.text for o in check.outputs if o.output_type == "stream")


@pytest.mark.parametrize("before", [STUB, RIGHT])
def test_a_cell_that_python_cannot_read_is_told_apart_from_the_answer_before_it(before):
    assert said(before, UNREAD, OTHER).startswith("Python could not read the cell above")


def test_an_answer_under_another_name_is_not_taken_for_none():
    assert said(STUB, MISSPELT) == (
        "The cell that you ran last defines mixx, and this check wants mix.\n"
    )


@pytest.mark.parametrize("cells", [(STUB,), (STUB, OTHER), (UNREAD, RIGHT), (RIGHT, MISSPELT)])
def test_nothing_is_said_where_the_answer_is_the_last_one(cells):
    assert said(*cells) == ""
