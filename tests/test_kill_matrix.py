"""Every declared answer, right or wrong, is judged as declared, and the kill matrix tells of it."""

import re
import sys
from functools import cache
from pathlib import Path

import pytest

from grader import exercises
from grader.exercises import find

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import docs

ROOT = Path(__file__).parents[1]
STORED = (ROOT / "docs" / "kill-matrix.md").read_text(encoding="utf-8")
each_exercise = pytest.mark.parametrize("name", [exercise.name for exercise in exercises()])


@cache
def judged(name):
    """Every answer of an exercise is judged once, for all tests."""
    return docs.judged(find(name))


def verdicts(matrix):
    """Each answer and what is made of it; which properties fail besides may depend on rounding."""
    return re.findall(r"^\| ([^|]+) \| (\w+) \|", matrix, re.MULTILINE)


@each_exercise
def test_a_known_mistake_loses_points_and_gets_its_own_name(name):
    verdicts_on = dict(judged(name))
    for mistake in find(name).known_wrong:
        for verdict in verdicts_on[mistake.id]:
            assert not verdict.passed
            assert 0 <= verdict.points < find(name).points
            assert verdict.misconception == mistake.id, verdict.message
            label, told = verdict.message.split(": ", 1)
            assert label in ("What you computed", "What your code may do")
            assert told.startswith(f"{mistake.formula}\n{mistake.what}")
            assert verdict.message.endswith(f"Think about: {mistake.question}")


@each_exercise
def test_the_kill_matrix_tells_the_truth(name):
    (stored,) = re.findall(rf"^## {name}\n.*?(?=^## |\Z)", STORED, re.MULTILINE | re.DOTALL)
    assert verdicts(stored) == verdicts(docs.table(find(name), judged(name)))


def test_the_kill_matrix_has_a_row_for_every_answer_and_every_verdict_is_as_it_should_be():
    rows = [(answer, verdict) for answer, verdict in verdicts(STORED) if answer != "answer"]
    right = [verdict for answer, verdict in rows if answer.endswith(" (right)")]
    wrong = {answer: verdict for answer, verdict in rows if not answer.endswith(" (right)")}
    assert len(right) == sum(2 + len(exercise.variants) for exercise in exercises())
    assert set(right) == {"right"}
    assert wrong.keys() == {m.id for exercise in exercises() for m in exercise.known_wrong}
    assert set(wrong.values()) == {"named"}
    assert "and\n0 passed" in STORED
