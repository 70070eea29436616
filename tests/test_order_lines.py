"""Lines in order are judged like an answer, but do not count."""

from itertools import permutations

import pytest

from grader.exercises import exercises, find
from grader.lesson import order_lines
from grader.play.ordering import head, tried
from grader.play.sorting import sorter
from grader.progress import file as progress
from grader.progress.file import read

NAME = "dot_product_attention"
LINES = [
    "weights = torch.softmax(scores, dim=-2)",
    "return context, weights",
    "scores = x @ x.transpose(-2, -1)",
    "context = weights @ x",
    "scores = x.transpose(-2, -1) @ x",
    "weights = torch.softmax(scores, dim=-1)",
]
RIGHT = [3, 6, 4, 2]


@pytest.fixture(autouse=True)
def _own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(progress, "_memory", {})


@pytest.fixture
def says(capsys):
    def call(*arguments, **named):
        order_lines(*arguments, **named)
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return call


def test_the_plain_form_numbers_the_lines_as_they_are_given_and_says_how_to_order_them(says):
    first, *lines, last = says(NAME, LINES).splitlines()
    assert first == "Put the lines of dot_product_attention(x) in order. Some may not belong."
    assert lines == [f"  {number}. {line}" for number, line in enumerate(LINES, start=1)]
    assert "order=[6, 5, 4]" in last


def test_the_right_order_is_right_and_gives_the_code_to_carry_over(says):
    shown = says(NAME, LINES, order=RIGHT)
    assert "right, 4 of 4 points" in shown
    body = "".join(f"    {LINES[number - 1]}\n" for number in RIGHT)
    assert f"def dot_product_attention(x):\n{body}" in shown


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([3, 1, 4, 2], "Your softmax runs over the queries"),
        ([5, 6, 4, 2], "Your scores compare features with features"),
        ([6, 3, 4, 2], "How we know: It happened in line 2: weights = torch.softmax(scores"),
        ([3, 6, 4], "Is the return line missing"),
    ],
)
def test_a_line_that_does_not_belong_and_a_wrong_order_are_called_by_their_names(
    says, order, words
):
    shown = says(NAME, LINES, order=order)
    assert words in shown
    assert "def " not in shown


def test_a_try_says_that_it_does_not_count_and_does_not(says):
    for order in RIGHT, [3, 1, 4, 2]:
        assert says(NAME, LINES, order=order).startswith("This is a try: it does not count")
    assert read()["exercises"] == {}


def test_of_all_orders_of_the_right_lines_one_is_right():
    lines = [LINES[number - 1] for number in RIGHT]
    right = [o for o in permutations(lines) if "right, 4 of" in tried(find(NAME), o)[0]]
    assert right == [tuple(lines)]


def test_the_head_of_every_function_comes_from_its_signature():
    for exercise in exercises():
        assert exercise.signature.startswith(exercise.name)
        assert head(exercise).startswith(f"{exercise.name}(")
        compile(f"def {head(exercise)}: pass", exercise.name, "exec")


@pytest.mark.parametrize(
    ("arguments", "order"),
    [
        ((NAME, LINES), []),
        ((NAME, LINES), [0]),
        ((NAME, LINES), [7]),
        ((NAME, LINES), [3, 3]),
        ((NAME, LINES), 3),
        ((NAME, LINES), "abc"),
        ((NAME, LINES), [None]),
        ((NAME, ["if x:", "return x"]), [1]),
        ((NAME, "abc"), None),
        ((NAME, ["return x"]), None),
        ((NAME, None), None),
        (("dot_product", LINES), None),
        ((3, LINES), [1]),
    ],
)
def test_a_silly_call_is_answered_in_one_line(says, arguments, order):
    assert says(*arguments, order=order).count("\n") == 1


class Buttons:
    """The widget as a pair of hands has it."""

    def __init__(self, lines):
        self.tries = []

        def judge(chosen):
            self.tries.append(chosen)
            return "<b>judged</b>"

        _, self.lines, buttons, self.status, self.report = sorter("Task", lines, judge).children
        self.buttons = {button.description: button for button in buttons.children}

    def press(self, words):
        self.buttons[words].click()
        return self.status.value

    @property
    def shown(self):
        return [words for words, _ in self.lines.options]


def test_buttons_move_the_chosen_line_and_say_where_it_is():
    hands = Buttons(["a", "b", "c"])
    hands.lines.index = 2
    assert "2. c" in hands.press("Up")
    assert hands.shown == ["1. a", "2. c", "3. b"]
    assert "3. c" in hands.press("Down")
    assert "It is the last already." in hands.press("Down")
    assert "role='alert'" in hands.status.value  # it is read out


def test_a_line_that_is_left_out_is_not_tried_and_can_be_taken_in_again():
    hands = Buttons(["a", "b", "c"])
    hands.press("Leave out or take in")
    assert hands.shown == ["left out. a", "1. b", "2. c"]
    hands.press("Try")
    hands.press("Leave out or take in")
    hands.press("Try")
    assert hands.tries == [["b", "c"], ["a", "b", "c"]]
    assert "judged" in hands.report.value


def test_two_lines_that_are_the_same_are_two_lines():
    hands = Buttons(["a", "a"])
    hands.press("Leave out or take in")
    assert hands.shown == ["left out. a", "1. a"]
