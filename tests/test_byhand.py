"""Which library functions an answer calls by name is read from its text, helpers included."""

import glob

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.classroom.byhand import named_operations
from grader.exercises import exercises, find

FORBIDDEN = find("softmax").forbidden
FORBIDDING = [exercise for exercise in exercises() if exercise.forbidden]
CALLS = {
    "a function of torch": ["def softmax(s): return torch.softmax(s, -1)"],
    "a function of functional": ["def softmax(s): return F.softmax(s, dim=-1)"],
    "a method": ["def softmax(s): return s.softmax(-1)"],
    "its logarithm": ["def softmax(s): return torch.log_softmax(s, -1).exp()"],
    "an imported name": [
        "from torch.nn.functional import softmax as soft",
        "def softmax(s): return soft(s, dim=-1)",
    ],
    "an import inside": [
        "def softmax(s):\n    from torch import softmax as t\n    return t(s, -1)"
    ],
    "a helper": ["def share(s): return s.softmax(-1)", "def softmax(s): return share(s)"],
    "a helper's helper": [
        "share = lambda s: torch.softmax(s, -1)",
        "def rows(s): return share(s)",
        "def softmax(s):\n    return rows(s)",
    ],
    "another name for it": ["share = torch.softmax", "def softmax(s): return share(s, -1)"],
    "nothing but another name": ["softmax = torch.softmax"],
    "a method of a class": [
        "class Share:\n    def __call__(self, s): return s.softmax(-1)",
        "def softmax(s): return Share()(s)",
    ],
}
NO_CALLS = {
    "by hand": ["def softmax(s):\n    e = (s - s.max()).exp()\n    return e / e.sum(-1)"],
    "a comparison elsewhere": [
        "def softmax(s): return s.exp() / s.exp().sum(-1, keepdim=True)",
        "print(torch.allclose(softmax(x), torch.softmax(x, -1)))",
    ],
    "calling itself": ["def softmax(s):\n    return softmax(s[0]) if s.dim() > 9 else s.exp()"],
    "a comment and a docstring": ["def softmax(s):\n    'like torch.softmax'\n    return s  # so"],
    "another exercise's answer": [
        "def softmax(s): return s.exp()",
        "def attention(x): return torch.softmax(x @ x.T, -1) @ x",
    ],
    "a local name that stands for something else elsewhere": [
        "weights = torch.softmax(scores, -1)",
        "def softmax(s):\n    weights = s.exp()\n    return weights / weights.sum(-1)",
    ],
    "an argument of such a name": [
        "s = lambda x: torch.softmax(x, -1)",
        "def softmax(s): return s.exp() / s.exp().sum(-1)",
    ],
    "a first try above": [
        "def softmax(s): return torch.softmax(s, -1)",
        "def softmax(s): return s.exp() / s.exp().sum(-1)",
    ],
    "two that call each other": [
        "def half(s): return softmax(s / 2)",
        "def softmax(s): return half(s) if s.dim() > 9 else s.exp()",
    ],
    "no definition": ["softmax"],
    "code that does not parse": ["def softmax(s: return torch.softmax(s"],
}  # fmt: skip


def notebook(cells):
    return new_notebook(cells=[new_markdown_cell("torch.softmax"), *map(new_code_cell, cells)])


@pytest.mark.parametrize("cells", CALLS.values(), ids=CALLS)
def test_a_library_call_is_seen(cells):
    assert named_operations(notebook(cells), "softmax", FORBIDDEN)


@pytest.mark.parametrize("cells", NO_CALLS.values(), ids=NO_CALLS)
def test_what_is_no_call_of_the_answer_is_not_taken_for_one(cells):
    assert not named_operations(notebook(cells), "softmax", FORBIDDEN)


def test_only_the_definition_in_its_own_cell_counts_where_there_is_one():
    first = new_code_cell("def softmax(s): return s.exp()")
    answer = new_code_cell("def softmax(s): return torch.softmax(s, -1)", id="softmax")
    assert named_operations(new_notebook(cells=[first, answer]), "softmax", FORBIDDEN)


def test_functions_that_all_call_each_other_take_no_time_and_no_depth():
    many = range(300)
    calls = "; ".join(f"f{i}()" for i in many)
    cells = [f"def f{i}(): {calls}" for i in many] + ["def softmax(s): return f0()"]
    assert not named_operations(notebook(cells), "softmax", FORBIDDEN)
    chain = [f"def f{i}(): return f{i + 1}()" for i in range(3000)]
    chain += ["def f3000(): return s.softmax(-1)", "def softmax(s): return f0()"]
    assert named_operations(notebook(chain), "softmax", FORBIDDEN)


@pytest.mark.parametrize("exercise", FORBIDDING, ids=lambda exercise: exercise.name)
def test_the_solved_lessons_call_nothing_that_is_forbidden(exercise):
    (path,) = glob.glob(f"solutions/{exercise.lesson}/*.ipynb")
    solved = nbformat.read(path, as_version=4)
    assert not named_operations(solved, exercise.name, exercise.forbidden)
