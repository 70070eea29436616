"""Reports: every fact in words, nothing unescaped, the first line stands on its own."""

import re

import pytest
import torch

from grader import grade
from grader.exercises import find
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


@pytest.mark.parametrize("hints", [1, 3])
def test_only_the_hints_that_are_open_are_there_and_folded(hints):
    html, text = as_html(NAMED, hints), as_text(NAMED, hints)
    assert html.count("<summary>Hint") == text.count("Hint ") == hints
    assert NAMED.hints[hints - 1] in text
    assert NAMED.hints[hints] not in text + html


@pytest.mark.parametrize("verdict", [RIGHT, UNTOUCHED])
def test_a_right_or_empty_answer_gets_no_hints(verdict):
    assert "Hint" not in as_html(verdict) + as_text(verdict)


def test_numbers_are_shown_as_a_picture_with_words_and_as_tables():
    html, shown = as_html(NAMED), NAMED.comparison
    (alt,) = re.findall(r'<img alt="([^"]+)"', html)
    for side in ("yours", "right", "difference"):
        assert f"{side}: {len(shown.yours)} rows" in alt
        assert f"<caption>{side}</caption>" in html
    assert html.count("<td>") == 3 * len(shown.yours) * len(shown.yours[0])
    assert f"<td>{shown.yours[0][0]:.3g}</td>" in html
    assert f"Result on {shown.probe}" in as_text(NAMED)


def test_the_numbers_are_from_the_smallest_plain_input_that_shows_the_mistake():
    assert NAMED.comparison.probe == "4×4 and 4×4"


def test_of_context_and_weights_the_weights_are_shown():
    exercise = find("scaled_dot_product_attention")
    unscaled = next(mistake for mistake in exercise.known_wrong if mistake.id == "not_scaled")
    assert grade(exercise.name, unscaled).comparison.part == "weights"


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_can_be_shown(value):
    verdict = grade("mix", lambda weights, x: (weights @ x).fill_(value))
    assert "<img alt=" in as_html(verdict)
    assert Verdict.from_json(verdict.to_json()).comparison.probe == verdict.comparison.probe


def test_a_wrong_shape_has_no_picture():
    assert grade("mix", lambda weights, x: x.flatten()).comparison is None


def test_the_points_are_explained_under_the_panel():
    verdict = grade("mix", lambda weights, x: (weights @ x).double())
    because = "The plain values are right, less a quarter for each that fails: the expected dtype."
    assert f"Points: {because}" in as_text(verdict)
    assert f"Points: {because}" in as_html(verdict)


def test_what_a_student_wrote_cannot_become_markup():
    def answer(weights, x):
        raise ValueError("<script>alert(1)</script> & more")

    html = as_html(grade("mix", answer))
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_message_is_free_of_code_that_gives_the_answer_away():
    assert "weights @ x" not in NAMED.message
