"""The hint ladder: one rung further each time the same mistake comes back, no further."""

import pytest

from grader import grade, hints
from grader.progress.file import change

TRANSPOSED = grade("mix", lambda weights, x: weights.mT @ x)
DIVIDED = grade("mix", lambda weights, x: weights @ x / x.shape[-2])
RIGHT = grade("mix", lambda weights, x: weights @ x)
OTHER = grade("average", lambda x: x)


@pytest.fixture(autouse=True)
def _own_file(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.json"))


def rungs(verdict):
    """As a check does it; the record is read from its file each time, as in a new kernel."""
    return change(lambda record: hints.rungs(record, verdict))


def test_the_same_mistake_opens_one_more_hint_each_time_until_all_are_open():
    most = len(TRANSPOSED.hints)
    assert [rungs(TRANSPOSED) for _ in range(most + 2)] == [*range(1, most + 1), most, most]


def test_another_mistake_starts_at_the_first_hint_and_the_old_one_goes_on():
    assert [rungs(TRANSPOSED), rungs(TRANSPOSED), rungs(DIVIDED), rungs(TRANSPOSED)] == [1, 2, 1, 3]


def test_the_ladders_of_two_exercises_are_apart():
    assert [rungs(TRANSPOSED), rungs(OTHER), rungs(TRANSPOSED)] == [1, 1, 2]


def test_a_right_answer_shows_no_hints_and_folds_the_ladder_up():
    assert [rungs(TRANSPOSED), rungs(TRANSPOSED), rungs(RIGHT), rungs(TRANSPOSED)] == [1, 2, 0, 1]


def test_an_empty_stub_has_no_hints():
    def mix(weights, x):
        raise NotImplementedError

    assert rungs(grade("mix", mix)) == 0
