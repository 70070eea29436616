"""Which given cells are run for a learner's answers; leaving out the others changes no verdict."""

import random
import sys

import nbformat
import pytest

from benchmarks.classes import ROOT, handed_in, solved
from grader.classroom import grading
from grader.classroom.needed import names_in, needed
from grader.runtime.cage import cage
from grader.runtime.warm import warmed

GIVEN = {
    0: "import torch",
    1: "x = torch.ones(3)",
    2: "y = x + 1",
    3: "print(y)",
    4: "def double(a):\n    return factor * a",
    5: "factor = 2",
    6: "factor += 1",
    7: "x[0] = 5",
    8: "torch.set_default_dtype(torch.float64)",
}

CASES = {
    "nothing but what sets torch up": ("def f(a): return a", {0, 8}),
    "an import": ("def f(a): return torch.exp(a)", {0, 8}),
    "data, and whatever reads it and may change it": ("def f(): return x", {0, 1, 2, 7, 8}),
    "what the needed cell needs": ("def f(): return y", {0, 1, 2, 3, 7, 8}),
    "a function and its global": ("def f(a): return double(a)", {0, 4, 5, 6, 8}),
    "a name in a nested function": ("def f():\n  def g(): return x\n  return g", {0, 1, 2, 7, 8}),
    "a parameter of the same name is another": ("def f(x): return x + 1", {0, 8}),
    "a local variable is another": ("def f():\n  y = 1\n  return y", {0, 8}),
    "a default value": ("def f(a=x): return a", {0, 1, 2, 7, 8}),
    "a base class": ("class F(torch.nn.Module): pass", {0, 8}),
}


@pytest.mark.parametrize(("source", "wanted"), CASES.values(), ids=CASES)
def test_a_cell_is_run_for_what_it_defines_changes_or_sets(source, wanted):
    assert needed(GIVEN, [source]) == wanted


EVERYTHING = {
    "globals()": "def f(): return globals()['x']",
    "eval": "def f(): return eval('x')",
    "IPython's shell": "def f(): return get_ipython().user_ns['x']",
    "a magic": "%run other.py",
    "a command": "!cat x",
    "the last output": "z = _",
    "an earlier output": "z = _3",
    "the main module": "import __main__\nz = __main__.x",
    "modules": "import sys\nz = sys.modules['x']",
    "a star": "from helpers import *",
    "what is not Python": "def f(:",
}


@pytest.mark.parametrize("source", EVERYTHING.values(), ids=EVERYTHING)
def test_every_cell_is_run_where_names_may_be_looked_up_otherwise(source):
    assert needed(GIVEN, ["def f(a): return a", source]) == set(GIVEN)


def test_names_are_told_apart_by_where_they_are_bound():
    names = names_in("def f(a):\n    global total\n    total = a + b\n    local = a\nc = f(d)")
    assert names.bound == {"f", "c", "total"}
    assert names.read >= {"f", "b", "d"}
    assert not names.read & {"a", "local"}


LESSONS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))


def released(lesson):
    (path,) = (ROOT / "notebooks" / lesson).glob("*.ipynb")
    source = nbformat.read(ROOT / "solutions" / lesson / path.name, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    return notebook, solved(notebook, source)


@pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")
@pytest.mark.parametrize(
    ("kind", "lesson"),
    [*(("solved", lesson) for lesson in LESSONS), *(("slips", lesson) for lesson in LESSONS[2::5])],
)
def test_the_verdicts_are_those_of_a_run_of_every_cell(kind, lesson, monkeypatch):
    shut_in = warmed(cage("standard"))
    notebook = handed_in(kind, *reversed(released(lesson)), random.Random(3))
    some = grading.grade_notebook(notebook, shut_in, None, lambda name: 5)
    monkeypatch.setattr(grading, "needed", lambda given, written: set(given))
    every = grading.grade_notebook(notebook, shut_in, None, lambda name: 5)
    assert some.verdicts == every.verdicts
    assert (kind == "solved") == all(verdict.passed for verdict in some.verdicts.values())
    ran = [sum(bool(cell.get("outputs")) for cell in each.notebook.cells) for each in (some, every)]
    assert ran[0] < ran[1]


def test_an_answer_that_misses_a_name_is_judged_again_with_every_cell_run(monkeypatch):
    if sys.platform != "linux":
        pytest.skip("the cage is made of bubblewrap")
    notebook, _ = released("01-averaging")
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "mix":
            cell.source = "def mix(weights, values):\n    return weights @ values + 0 * tokens_seen"
    notebook.cells.insert(1, nbformat.v4.new_code_cell("tokens_seen = 1"))
    monkeypatch.setattr(grading, "needed", lambda given, written: set())
    done = grading.grade_notebook(notebook, warmed(cage("standard")))
    assert done.verdicts["mix"].passed
