"""Reports: every fact in words, nothing unescaped, the first line stands on its own."""

import re

import pytest

from grader import grade
from grader.report import as_html, as_text, title
from grader.verdict import Verdict

WRONG = grade("scaled_dot_product_attention", lambda q, k, v: (v, q @ k.mT))
NAMED = grade("mix", lambda weights, x: weights.mT @ x)
RIGHT = grade("mix", lambda weights, x: weights @ x)
UNTOUCHED = Verdict("mix", 0.0, 2.0, message="Not done yet.")


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (RIGHT, "mix: right, 2 of 2 points"),
        (NAMED, "mix: not yet, 0 of 2 points"),
        (UNTOUCHED, "mix: not done yet, 0 of 2 points"),
        (Verdict("average", 0.5, 1.0, message="x"), "average: not yet, 0.5 of 1 point"),
    ],
)
def test_the_title_says_how_it_stands(verdict, line):
    assert title(verdict) == line
    assert as_text(verdict).splitlines()[0] == line
    assert line in as_html(verdict)


@pytest.mark.parametrize("verdict", [WRONG, NAMED])
def test_text_and_html_tell_the_same(verdict):
    text, html = as_text(verdict), as_html(verdict)
    plain = re.sub(r"<[^>]+>", " ", html)
    for label, held in verdict.properties:
        assert label in text
        assert label in html
        assert f"{'yes' if held else 'no'}  – {label}" in plain or f"– {label}" in plain
    for line in verdict.message.splitlines():
        assert line in text


def test_the_step_has_its_label():
    assert "Step: mix" in as_text(NAMED)
    assert "Step: <strong>mix</strong>" in as_html(NAMED)


def test_hints_are_folded_one_by_one_and_only_for_wrong_answers():
    assert as_html(NAMED).count("<summary>Hint") == len(NAMED.hints) >= 3
    assert "Hint" not in as_html(RIGHT)
    assert "Hint" not in as_html(UNTOUCHED)


def test_what_a_student_wrote_cannot_become_markup():
    def answer(weights, x):
        raise ValueError("<script>alert(1)</script> & more")

    html = as_html(grade("mix", answer))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_message_is_free_of_code_that_gives_the_answer_away():
    assert "weights @ x" not in NAMED.message
