"""An earlier answer is taken over if it is right; otherwise the course's own, and it is said."""

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.exercises import UnknownExercise, find
from grader.lesson import own

HELPED = """
from torch.nn import functional as F

def by_library(scores):
    return F.softmax(scores, dim=-1)
"""
RIGHT = """
def scaled_dot_product_attention(q, k, v):
    weights = by_library(q @ k.mT / ROOT(k))
    return weights @ v, weights
"""
NAMES = ["import math", "ROOT = lambda k: math.sqrt(k.shape[-1])", HELPED]
LESSON = "03-query-key-value"


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Writes the cells of the earlier lesson, beside the folder that is worked in."""
    here = tmp_path / "08-tiny-gpt"
    here.mkdir()
    monkeypatch.chdir(here)

    def write(*sources, name="query_key_value"):
        folder = tmp_path / LESSON
        folder.mkdir(exist_ok=True)
        cells = [new_markdown_cell("# Q"), *map(new_code_cell, sources)]
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")

    return write


def taken():
    return own("scaled_dot_product_attention")


def is_the_courses(answer):
    return answer is find("scaled_dot_product_attention").right


def test_a_right_answer_is_taken_with_the_helpers_and_imports_it_needs(lesson, capsys):
    lesson(*NAMES, RIGHT)
    answer = taken()
    assert capsys.readouterr().out == f"scaled_dot_product_attention: your own, of {LESSON}\n"
    q, k, v = torch.randn(4, 6), torch.randn(3, 6), torch.randn(3, 2)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(answer(q, k, v)[0], expected)
    assert not is_the_courses(answer)


def test_cells_it_does_not_need_are_not_run_and_nothing_is_shown(lesson, capsys):
    lesson(*NAMES, "raise SystemExit", "print('noise')\n" + RIGHT, "1 / 0")
    assert not is_the_courses(taken())
    assert "noise" not in capsys.readouterr().out


def test_the_last_definition_counts(lesson):
    lesson(*NAMES, RIGHT.replace("weights @ v, weights", "v"), RIGHT)
    assert not is_the_courses(taken())


@pytest.mark.parametrize(
    ("sources", "why"),
    [
        ([], "yours is not there"),
        (["def scaled_dot_product_attention(q, k, v): raise NotImplementedError"], "not right yet"),
        ([*NAMES, RIGHT.replace("/ ROOT(k)", "")], "not right yet"),
        (["import nowhere", "def scaled_dot_product_attention(q, k, v): nowhere"], "raised Module"),
        (["def scaled_dot_product_attention(q, k, v:"], "raised"),
    ],
)
def test_otherwise_the_courses_own_is_taken_and_it_says_why(lesson, capsys, sources, why):
    lesson(*sources)
    assert is_the_courses(taken())
    said = capsys.readouterr().out
    assert said.startswith("scaled_dot_product_attention: the course's, because in 03-")
    assert why in said
    assert said.count("\n") == 1


def test_without_the_notebook_and_with_a_broken_file_it_goes_on(lesson, tmp_path, capsys):
    assert is_the_courses(taken())
    assert "no notebook of yours is there" in capsys.readouterr().out
    lesson(*NAMES, RIGHT, name="query_key_value")
    (tmp_path / LESSON / "a_copy.ipynb").write_text("{")
    assert not is_the_courses(taken())


def test_an_unknown_name_is_answered_with_the_nearest(lesson):
    with pytest.raises(UnknownExercise, match="Did you mean 'split_heads'|Did you mean"):
        own("scaled_dot_product_atention")
