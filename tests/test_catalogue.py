"""The known mistakes can be read: at the command line, in docs/ and in the lessons."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalogue import UnknownMistake, about_mistake, linked, mistake_of, page, real_bugs
from grader.cli import main
from grader.exercises import exercises, find

ROOT = Path(__file__).parent.parent
LESSONS = sorted({exercise.lesson for exercise in exercises()})


def test_the_page_of_mistakes_is_what_the_kernels_say():
    command = [sys.executable, "tools/docs.py", "mistakes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8") == done.stdout


def test_the_page_lists_every_exercise_with_every_mistake():
    sections = dict(re.findall(r"### (\w+)\n(.*?)(?=\n##|\Z)", page(), re.DOTALL))
    for exercise in exercises():
        listed = re.findall(r"^\| `(\w+)`", sections[exercise.name], re.MULTILINE)
        assert listed == [mistake.id for mistake in exercise.known_wrong]


def test_an_issue_becomes_a_link_and_other_words_stay():
    assert linked("karpathy/minGPT#71, a forum") == (
        "[karpathy/minGPT#71](https://github.com/karpathy/minGPT/issues/71), a forum"
    )


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_that_attends_has_real_bugs_to_show(lesson):
    shown = real_bugs(lesson)
    assert shown.count("https://github.com/") >= (1 if lesson == LESSONS[0] else 2)


def test_all_there_is_to_know_about_a_mistake_is_told():
    exercise = find("scaled_dot_product_attention")
    mistake = mistake_of(exercise, "not_scaled")
    told = about_mistake(exercise, mistake)
    for part in (mistake.what, mistake.question, mistake.formula, *exercise.hints):
        assert part in told
    assert "https://github.com/" in told


def test_an_unknown_mistake_is_answered_with_the_nearest_one():
    with pytest.raises(UnknownMistake, match="Did you mean 'not_scaled'"):
        mistake_of(find("scale_scores"), "not_scald")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["softmax"], 0, "over_axis_0"),
        (["softmax", "over_axis_0"], 0, "the last axis"),
        (["sofmax"], 2, "Did you mean 'softmax'?"),
        (["softmax", "over_axis_7"], 2, "softmax has no known mistake called 'over_axis_7'"),
    ],
)
def test_grader_explain_tells_or_says_what_is_wrong(arguments, status, words, capsys):
    assert main(["explain", *arguments]) == status
    said = capsys.readouterr()
    assert words in " ".join((said.err if status else said.out).split())
    assert "Traceback" not in said.err
