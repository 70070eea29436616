"""`after` keeps a demo from stopping Run All, and says what to do."""

from grader.lesson import after


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
        "This cell needs a working `average` and `mix`. It raised ValueError: no\n"
    )


def test_a_demo_that_works_just_runs(capsys):
    with after("average"):
        print("shown")
    assert capsys.readouterr().out == "shown\n"
