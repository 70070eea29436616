"""A prediction is asked, kept and revealed; what was sure and wrong is asked again."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

from grader.lesson import predict, remember, reveal
from grader.live import VIEW
from grader.play import predictions
from grader.progress import file as progress
from grader.progress.file import read

QUESTION = "What is the variance of the sum?", ["1", "4", "16", "256"]
BECAUSE = {"256": "They partly cancel.", "4": "That is its root."}
NOTHING = "Nothing to remember: no prediction of an earlier lesson was both sure and wrong.\n"


@pytest.fixture(autouse=True)
def lesson(tmp_path, monkeypatch):
    """Goes to the folder of a lesson, as a new kernel; the first is lesson 4."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(progress, "_memory", {})

    def enter(name):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setattr(predictions, "_asked", {})
        monkeypatch.setattr(predictions, "_recalled", set())

    enter("04-square-root-scaling")
    return enter


@pytest.fixture
def says(capsys):
    """What a call shows outside a notebook: the words of its plain form."""

    def call(function, *arguments, **named):
        capsys.readouterr()
        function(*arguments, **named)
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return call


def answered(answer, sure):
    predict("sum", *QUESTION, answer=answer, sure=sure)


def revealed():
    reveal("sum", right="16", because=BECAUSE)


def test_the_plain_form_lists_the_choices_by_letter_and_says_how_to_answer(says):
    assert says(predict, "sum", *QUESTION).splitlines() == [
        "Predict. What is the variance of the sum?",
        "  a) 1",
        "  b) 4",
        "  c) 16",
        "  d) 256",
        'Without buttons: add `answer="a", sure=2` to this call and run the cell again.'
        " sure is 1 a guess, 2 fairly sure, 3 sure.",
    ]


def test_what_is_said_and_what_is_right_stand_side_by_side_and_mine_is_refuted_first(says):
    assert "Kept: b) 4, a guess." in says(answered, "b", 1)
    assert says(revealed).splitlines() == [
        "You said b) 4, a guess.",
        "It is c) 16.",
        "Why not b) 4? That is its root.",
        "Why not d) 256? They partly cancel.",
    ]


@pytest.mark.parametrize("answer", ["d", "D", " d ", "256", 256])
def test_a_letter_and_the_text_of_a_choice_are_the_same_answer(says, answer):
    assert "Kept: d) 256, sure." in says(answered, answer, 3)


def test_without_an_answer_the_result_is_told_and_nothing_is_stored(says):
    predict("sum", *QUESTION)
    assert says(revealed).splitlines()[-4:-2] == ["You made no prediction.", "It is c) 16."]
    assert read()["predictions"] == read()["again"] == {}


def test_an_answer_may_be_changed_until_it_is_revealed(says):
    answered("d", 3)
    assert "Kept: a) 1, a guess." in says(answered, "a", 1)
    revealed()
    assert "Revealed already. You said a) 1, a guess." in says(answered, "c", 3)
    assert says(revealed).startswith("You said a) 1, a guess.")


def test_an_answer_outlives_the_kernel(says, lesson):
    answered("d", 2)
    lesson("04-square-root-scaling")
    assert "Kept: d) 256, fairly sure." in says(predict, "sum", *QUESTION)


def test_nothing_of_the_right_answer_is_shown_or_stored_before_it_is_revealed(says, tmp_path):
    shown = says(answered, "d", 3)
    assert "cancel" not in shown
    stored = json.loads((tmp_path / "progress.json").read_text(encoding="utf-8"))
    assert "16" not in json.dumps([stored["predictions"], stored["again"]])


@pytest.mark.parametrize(
    ("answer", "sure", "comes_back"),
    [("d", 3, True), ("d", 2, False), ("d", 1, False), ("c", 3, False)],
)
def test_only_what_was_wrong_and_sure_comes_back(lesson, says, answer, sure, comes_back):
    answered(answer, sure)
    revealed()
    lesson("05-order-and-cost")
    assert (says(remember) != NOTHING) == comes_back


def test_what_comes_back_is_asked_in_later_lessons_only_until_it_is_right(lesson, says):
    answered("d", 3)
    revealed()
    assert says(remember) == NOTHING
    lesson("03-query-key-value")
    assert says(remember) == NOTHING
    lesson("05-order-and-cost")
    assert says(remember).splitlines() == [
        "From lesson 4. What is the variance of the sum?",
        *("  a) 1", "  b) 4", "  c) 16", "  d) 256"),
        'Without buttons: remember(sum="a")',
    ]
    assert "It is c) 16. That is its root. It comes back" in says(remember, sum="b")
    assert "once" in says(remember, sum="c")  # it has been told by now
    lesson("06-causal-mask")
    assert "right now. It will not be asked again." in says(remember, sum="c")
    lesson("07-multi-head")
    assert says(remember) == NOTHING
    lesson("04-square-root-scaling")
    predict("sum", *QUESTION)
    revealed()  # the same cells run again
    lesson("07-multi-head")
    assert says(remember) == NOTHING


def test_outside_the_folder_of_a_lesson_everything_is_asked_that_may_come_back(lesson, says):
    answered("d", 3)
    revealed()
    lesson("elsewhere")
    assert "What is the variance" in says(remember)


def test_where_nothing_is_kept_the_output_is_the_same_in_every_kernel(lesson, says, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "none")

    def run():
        lesson("04-square-root-scaling")
        return says(remember) + says(predict, "sum", *QUESTION) + says(revealed)

    assert run() == run()
    assert "You made no prediction." in run()


@pytest.mark.parametrize(
    "silly",
    [
        lambda: predict("sum", *QUESTION, answer="e", sure=1),
        lambda: predict("sum", *QUESTION, answer="17", sure=1),
        lambda: predict("sum", *QUESTION, answer=None, sure=1),
        lambda: predict("sum", *QUESTION, answer="a"),
        lambda: predict("sum", *QUESTION, answer="a", sure=0),
        lambda: predict("sum", *QUESTION, answer="a", sure=4),
        lambda: predict("sum", *QUESTION, answer="a", sure="very"),
        lambda: predict("sum", *QUESTION, answer="a", sure=True),
        lambda: predict("sum", *QUESTION, answer="a", sure=[1]),
        lambda: predict("a sum", *QUESTION),
        lambda: predict(3, *QUESTION),
        lambda: predict("sum", "?", "abc"),
        lambda: predict("sum", "?", ["1"]),
        lambda: predict("sum", "?", ["1", "1"]),
        lambda: predict("sum", "?", None),
        lambda: reveal("sun", right="16"),
        lambda: reveal("sum", right="17"),
        lambda: reveal("sum", right="16", because={"17": "No."}),
        lambda: reveal("sum", right="16", because={"16": "No."}),
        lambda: reveal("sum", right="16", because="No."),
    ],
)
def test_a_silly_call_is_answered_in_one_line_and_changes_nothing(silly, says):
    answered("d", 3)
    before = read()
    assert says(silly).count("\n") == 1
    assert read() == before


def test_a_silly_answer_to_an_old_question_is_answered_in_one_line(lesson, says):
    answered("d", 3)
    revealed()
    lesson("05-order-and-cost")
    assert says(remember, sum="e").startswith("sum: 'e' is not among the choices")
    first, *asked = says(remember, sun="a").splitlines()
    assert first == "There is nothing to remember called 'sun'. Did you mean 'sum'?"
    assert asked == says(remember).splitlines()


def test_a_name_that_is_nearly_right_is_suggested(says):
    predict("sum", *QUESTION)
    assert "Did you mean 'sum'?" in says(reveal, "sun", right="16")


def test_in_a_notebook_one_output_holds_the_buttons_and_the_plain_form():
    sources = [
        "from grader.lesson import predict",
        f'predict("sum", {QUESTION[0]!r}, {QUESTION[1]!r})',
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = NotebookClient(nbformat.v4.new_notebook(cells=cells)).execute()
    (output,) = notebook.cells[-1].outputs
    assert set(output.data) == {"text/plain", "text/html", VIEW}
    assert "d) 256" in output.data["text/plain"]
    assert '<code>answer="a", sure=2</code>' in output.data["text/html"].replace("&quot;", '"')
