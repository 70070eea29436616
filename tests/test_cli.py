"""`grader check`: the exit status, the table and the JSON, for good, bad and silly input."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader import __version__, check
from grader.cli import main
from grader.exercises import exercises
from grader.runtime import notebook as runtime

ROOT = Path(__file__).parent.parent
SOLVED = sorted(ROOT.glob("solutions/*/*.ipynb"))
UNTOUCHED = sorted(ROOT.glob("notebooks/*/*.ipynb"))
SOME = slice(0, None, 6)  # what the checks of every lesson say is held by nbval and the browser
SETUP = "from grader import check\nimport os, torch, time"
AVERAGE = "def average(x):\n    return x.mean(-2, keepdim=True).expand_as(x)"


def by_name(path):
    return path.stem


@pytest.fixture
def checked(tmp_path, capsys):
    """Runs `grader check --json` on a notebook made of these cells: (status, report)."""

    def run(*cells):
        path = tmp_path / "answers.ipynb"
        nbformat.write(new_notebook(cells=[new_code_cell(SETUP), *map(new_code_cell, cells)]), path)
        before = path.read_bytes()
        status = main(["check", str(path), "--json"])
        assert path.read_bytes() == before
        return status, json.loads(capsys.readouterr().out)

    return run


def message(report, name):
    return next(row["message"] for row in report["exercises"] if row["exercise"] == name)


@pytest.mark.parametrize("path", SOLVED[SOME], ids=by_name)
def test_a_solved_lesson_has_full_points_and_status_0(path, capsys):
    assert main(["check", str(path)]) == 0
    table = capsys.readouterr().out
    most = sum(e.points for e in exercises() if e.lesson == path.parent.name)
    assert f"{most} of {most}" in table


@pytest.mark.parametrize("path", UNTOUCHED[SOME], ids=by_name)
def test_an_untouched_lesson_has_no_points_and_status_1(path, capsys):
    assert main(["check", str(path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["points"] == 0
    assert all(row["message"].startswith("Not done yet.") for row in report["exercises"])


def test_every_lesson_is_there_solved_and_untouched():
    lessons = {exercise.lesson for exercise in exercises()}
    assert {path.parent.name for path in SOLVED} == lessons
    assert {path.parent.name for path in UNTOUCHED} == lessons


def test_a_partly_done_lesson_has_its_points_and_the_first_line_of_each_message(checked):
    status, report = checked(
        AVERAGE,
        'check("average", average)',
        'check("mix", lambda weights, x: weights.mT @ x)',
        'check("uniform_weights", uniform)',
    )
    assert status == 1
    assert (report["points"], report["max_points"]) == (1, 7)
    assert report["version"] == __version__
    assert message(report, "average") == "Right."
    assert message(report, "mix").startswith("What you computed: weightsᵀ x")
    assert message(report, "uniform_weights") == "NameError: name 'uniform' is not defined"
    assert (
        message(report, "running_average") == 'The cell check("running_average", ...) is missing.'
    )


def test_an_endless_loop_costs_only_its_own_exercise(checked, monkeypatch):
    monkeypatch.setattr(runtime, "SECONDS_PER_CELL", 6)
    status, report = checked(
        AVERAGE,
        "def forever(weights, x):\n    while True:\n        pass",
        'check("mix", forever)',
        'check("average", average)',
    )
    assert status == 1
    assert "interrupted" in message(report, "mix")
    assert message(report, "average") == "Right."


def test_a_dead_kernel_keeps_what_was_earned_before(checked):
    status, report = checked(
        AVERAGE,
        'check("average", average)',
        'check("mix", lambda weights, x: os._exit(1))',
        'check("running_average", average)',
    )
    assert status == 1
    assert message(report, "average") == "Right."
    assert message(report, "mix") == "No result: the kernel died."


def test_a_skipped_check_earns_nothing(tmp_path, capsys):
    cell = new_code_cell('check("average", 3)', metadata={"tags": ["skip-execution"]})
    path = tmp_path / "skipped.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(SETUP), cell]), path)
    assert main(["check", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["points"] == 0


def test_points_stored_in_the_file_are_not_believed(tmp_path, capsys):
    result = nbformat.v4.new_output("execute_result", {"text/plain": "1.0"}, execution_count=1)
    cell = new_code_cell('check("average", 3)', outputs=[result], execution_count=1)
    path = tmp_path / "stored.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(SETUP), cell]), path)
    assert main(["check", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["points"] == 0


def test_a_byte_order_mark_does_no_harm(tmp_path, capsys):
    cells = [
        new_code_cell(SETUP),
        new_code_cell(AVERAGE),
        new_code_cell('check("average", average)'),
    ]
    path = tmp_path / "bom.ipynb"
    path.write_text("\ufeff" + nbformat.writes(new_notebook(cells=cells)), encoding="utf-8")
    main(["check", str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["points"] == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"import torch\n", "not JSON"),
        (b"<<<<<<< HEAD\n{}\n", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "not a notebook"),
        (b"[1, 2]", "not a notebook"),
        (b'{"nbformat": "4", "cells": []}', "not a notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}', "not a notebook"),
        (nbformat.writes(new_notebook(cells=[new_markdown_cell("hi")])).encode(), "no exercise"),
    ],
)
def test_a_file_that_is_no_lesson_is_refused_in_one_line(tmp_path, capsys, content, words):
    path = tmp_path / "file.ipynb"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.ipynb", "."])
def test_a_path_without_a_file_is_refused_in_one_line(tmp_path, capsys, name):
    assert main(["check", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["chek", "x"], ["check"], ["check", "a", "b"]])
def test_a_wrong_command_shows_how_to_use_it(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: grader" in capsys.readouterr().err


@pytest.fixture
def record(tmp_path, monkeypatch):
    """The learner's file after `average` was done and `mix` was not."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    right = {exercise.name: exercise.right for exercise in exercises()}
    check("average", right["average"])
    check("mix", lambda weights, x: weights.mT @ x)
    return path


def test_progress_lists_what_is_done_partly_done_and_open_and_says_what_is_next(record, capsys):
    capsys.readouterr()
    assert main(["progress"]) == 0
    shown = capsys.readouterr().out
    for words in ("done: average", "partly: mix", "1 of 7", "Next: `mix` in 01-averaging"):
        assert words in shown
    assert str(record) in shown.replace("\n", "")


def test_progress_as_json_holds_every_exercise_and_what_is_next(record, capsys):
    capsys.readouterr()
    assert main(["progress", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    states = {e["exercise"]: e["state"] for one in found["lessons"] for e in one["exercises"]}
    assert list(states) == [exercise.name for exercise in exercises()]
    assert (states["average"], states["mix"], states["softmax"]) == ("done", "partly", "open")
    assert found["next"]["exercise"] == "mix"
    assert found["file"] == str(record)


def test_progress_is_forgotten_after_a_yes_and_only_then(record, capsys, monkeypatch):
    for answer, status, left in ("", 1, True), ("n", 1, True), ("y", 0, False):
        monkeypatch.setattr("builtins.input", lambda question, answer=answer: answer)
        assert main(["progress", "--forget"]) == status
        assert record.exists() == left


def test_progress_is_forgotten_without_a_question_after_yes_with_what_was_put_aside(record):
    record.write_text("broken")
    check("average", 3)
    assert main(["progress", "--forget", "--yes"]) == 0
    assert not [path for path in record.parent.glob("progress*") if path.suffix == ".json"]


def test_progress_is_not_forgotten_where_nobody_can_be_asked(record, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))
    assert main(["progress", "--forget"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert record.exists()


def test_where_nothing_is_kept_progress_says_so(capsys):
    assert main(["progress"]) == 0
    assert "Nothing is kept" in capsys.readouterr().out
    assert main(["progress", "--forget", "--yes"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
