"""`after` keeps a demo from stopping Run All, and says what to do."""

import runpy

from grader import play
from grader.lesson import after
from grader.runtime.view import HERE


def missing():
    raise NotImplementedError


def test_a_demo_whose_exercise_is_open_names_it(capsys):
    with after("average"):
        missing()
    assert capsys.readouterr().out == (
        "Do the exercise `average` first, then run this cell again.\n"
    )


def test_a_demo_with_a_wrong_answer_says_so_and_goes_on(capsys):
    with after("average", "mix"):
        raise ValueError("no")
    assert capsys.readouterr().out == (
        "This cell needs the exercises `average` and `mix` to work. It raised ValueError: no\n"
    )


def test_only_the_open_exercise_is_named(capsys):
    def mix():
        raise NotImplementedError

    with after("average", "mix"):
        mix()
    assert "Do the exercise `mix` first" in capsys.readouterr().out


def test_a_name_from_a_cell_that_was_not_run_is_not_blamed_on_the_exercise(capsys):
    with after("average"):
        print(not_there)  # noqa: F821
    assert capsys.readouterr().out == "`not_there` is not there yet: run the cells above first.\n"


def test_a_demo_that_works_just_runs(capsys):
    with after("average"):
        print("shown")
    assert capsys.readouterr().out == "shown\n"


def test_what_a_lesson_asks_is_there_in_the_cage_too_and_does_nothing():
    inside = runpy.run_path(str(HERE / "inside/play.py"))
    for name in play.__all__:
        assert inside[name]("sum", "?", ["1", "2"], order=[1]) is None
