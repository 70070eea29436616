"""`check` in a real kernel: a plain float comes back, stderr is empty, the learner is told."""

import json
import subprocess
import sys

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from grader import check, grade
from grader.verdict import Verdict

SETUP = """
import logging, os, subprocess, sys, threading, warnings
import torch
from IPython.display import display
from grader import check
logging.basicConfig(stream=sys.stderr)
kept = sys.stderr

def right(scores):
    exps = torch.exp(scores - scores.amax(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)
"""
RIGHT_BUT_LOUD = {
    "prints": "print('noise', flush=True)",
    "prints to stderr": "print('noise', file=sys.stderr, flush=True)",
    "prints to a stream it kept": "print('noise', file=kept, flush=True)",
    "writes below Python": "os.write(2, b'noise')",
    "starts a loud child": "subprocess.run([sys.executable, '-c', 'import sys; sys.exit(\"x\")'])",
    "warns": "warnings.warn('noise')",
    "logs": "logging.warning('noise')",
    "displays": "display('noise')",
    "has a thread that raises": "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "drops an object that complains": "type('T', (), {'__del__': lambda s: 1 / 0})()",
    "changes torch's defaults": "torch.set_default_dtype(torch.float32)",
}
WRONG = {
    "raises": "raise ValueError('no')",
    "exits": "sys.exit()",
    "exits politely": "exit()",
    "returns nothing": "return None",
    "returns a generator": "yield scores",
    "returns infinity": "return scores * torch.inf",
    "returns a numpy array": "return scores.numpy()",
    "returns a list": "return scores.tolist()",
    "returns True": "return True",
    "returns a number": "return 3",
    "returns another shape": "return right(scores).sum(-1)",
    "needs a gradient": "return scores.clone().requires_grad_()",
    "asks a question": "return input()",
    "is interrupted": "raise KeyboardInterrupt",
    "is not there": "raise NotImplementedError",
}


def cell(body: str, after: str = "") -> str:
    return f"def answer(scores):\n    {body}\n    {after}\ncheck('softmax', answer)"


@pytest.fixture(scope="module")
def outputs():
    """The outputs of one check cell for each answer, from one kernel."""
    cells = {name: cell(body, "return right(scores)") for name, body in RIGHT_BUT_LOUD.items()}
    cells |= {name: cell(body) for name, body in WRONG.items()}
    cells |= {"a name misspelt": "check('sofmax', right)", "not a function": "check('softmax', 3)"}
    notebook = new_notebook(cells=[new_code_cell(SETUP), *map(new_code_cell, cells.values())])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    assert not notebook.cells[0].outputs
    return dict(zip(cells, (c.outputs for c in notebook.cells[1:]), strict=True))


def result(cell_outputs) -> float:
    """What nbgrader will read: the text of the only result, as a float."""
    (found,) = (o.data["text/plain"] for o in cell_outputs if o.output_type == "execute_result")
    assert found == repr(float(found))
    return float(found)


def said(cell_outputs) -> str:
    return "".join(o.get("text", "") or o.data["text/plain"] for o in cell_outputs[:-1])


def problems(cell_outputs) -> list:
    return [o for o in cell_outputs if o.output_type == "error" or o.get("name") == "stderr"]


@pytest.mark.parametrize("name", RIGHT_BUT_LOUD)
def test_a_right_answer_that_makes_noise_keeps_its_points(outputs, name):
    assert not problems(outputs[name])
    assert result(outputs[name]) == 3.0
    assert "noise" not in str(outputs[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_earns_a_plain_zero_and_a_message(outputs, name):
    assert not problems(outputs[name])
    assert result(outputs[name]) == 0.0
    assert said(outputs[name])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", ("ValueError: no", "raise ValueError('no')")),
        ("exits", ("SystemExit",)),
        ("returns nothing", ("None came back", "(5, 7)", "return")),
        ("returns a generator", ("a generator came back", "(5, 7)")),
        ("returns infinity", ("NaN or infinity",)),
        ("returns a numpy array", ("ndarray", "tensor")),
        ("returns a list", ("a tuple or list of 5", "(5, 7)")),
        ("returns True", ("True came back", "(5, 7)")),
        ("returns a number", ("a single number came back", "(5, 7)")),
        ("returns another shape", ("(5,)", "(5, 7)", "axis -1, of length 7, is gone")),
        ("needs a gradient", ("away from the right ones",)),
        ("is interrupted", ("interrupted",)),
        ("is not there", ("not done yet",)),
        ("a name misspelt", ("Did you mean 'softmax'",)),
        ("not a function", ("an int came in where a function is expected",)),
    ],
)
def test_the_message_says_what_came_back_and_what_was_expected(outputs, name, words):
    for word in words:
        assert word in said(outputs[name])


def test_the_verdict_travels_with_the_output(outputs):
    (shown,) = (o for o in outputs["prints"] if o.output_type == "display_data")
    verdict = Verdict.from_json(shown.metadata["verdict"])
    assert verdict.passed
    assert "text/html" in shown.data


def test_outside_a_notebook_the_report_is_printed(capsys):
    assert check("average", lambda x: x) == 0.0
    assert "average: not yet, 0 of 1 point" in capsys.readouterr().out


def test_a_script_needs_no_notebook():
    code = "from grader import check; print(check('average', lambda x: x.mean(-2)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.endswith("\n0.0\n")


def test_a_verdict_survives_json():
    verdict = grade("mix", lambda weights, x: weights.mT @ x)
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert json.loads(verdict.to_json())["misconception"] == "weights_transposed"
