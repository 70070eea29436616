"""The learner's own file: what goes in, that nothing gets lost, and that no check fails over it."""

import json
import os
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from grader import check, exercises
from grader.lesson import progress as show_progress
from grader.progress import file as progress
from grader.progress import standing
from grader.progress.file import change, read
from grader.progress.overview import as_html
from grader.progress.standing import following

ROOT = Path(__file__).parent.parent
LESSON = "01-averaging"
RIGHT = {e.name: e.right for e in exercises()}
MORNING = datetime(2026, 3, 2, 9, tzinfo=datetime.now().astimezone().tzinfo)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Where the record lies in this test; nothing is there yet."""
    path = tmp_path / "data" / "progress.json"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    monkeypatch.setattr(progress, "_memory", {})
    monkeypatch.setattr(progress, "_said", set())
    return path


@pytest.fixture
def at(monkeypatch):
    """Sets the clock to so many minutes past nine."""
    return lambda minutes: monkeypatch.setattr(
        standing, "_now", lambda: MORNING + timedelta(minutes=minutes)
    )


def wrong(weights, x):
    return weights.mT @ x


def empty(weights, x):
    raise NotImplementedError


def kept(file):
    return json.loads(file.read_text(encoding="utf-8"))


# What goes in


def test_a_check_is_counted_in_with_its_points_the_best_the_tries_and_when(file, at):
    at(0)
    for answer in RIGHT["mix"], wrong:
        check("mix", answer)
    entry = kept(file)["exercises"]["mix"]
    assert (entry["points"], entry["best"], entry["tries"]) == (0, 2, 2)
    assert entry["when"].startswith("2026-03-02T09:00:00")


def test_an_empty_stub_is_no_try(file):
    check("mix", empty)
    assert kept(file)["exercises"] == {}
    assert LESSON in kept(file)["lessons"]


def test_time_is_the_sum_of_the_gaps_that_are_shorter_than_ten_minutes(file, at):
    for minutes in 0, 4, 13, 24, 33:
        at(minutes)
        change(lambda record: standing.event(record, LESSON))
    assert kept(file)["lessons"][LESSON]["seconds"] == (4 + 9 + 9) * 60


def test_a_clock_that_is_set_back_takes_no_time_away(file, at):
    for minutes in 5, 9, 2:
        at(minutes)
        change(lambda record: standing.event(record, LESSON))
    assert kept(file)["lessons"][LESSON]["seconds"] == 4 * 60


def test_nothing_is_written_where_nothing_shall_be_kept(file, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "none")
    check("mix", wrong)
    assert not file.parent.exists()
    assert read()["exercises"]["mix"]["tries"] == 1  # as long as the kernel lives


def test_without_a_setting_the_file_lies_among_the_users_data(file, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS")
    assert progress.place().name == "progress.json"
    assert progress.place().parent.name == "attention-course"
    assert not progress.place().is_relative_to(ROOT)


# Nothing is lost


def test_several_kernels_that_write_at_once_lose_nothing(file):
    code = """
from grader.progress.file import change
from grader.progress.standing import entry_of
def edit(record):
    entry_of(record, "mix")["tries"] += 1
for _ in range(25):
    change(edit)
"""
    kernels = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(4)]
    assert [kernel.wait(120) for kernel in kernels] == [0] * 4
    assert kept(file)["exercises"]["mix"]["tries"] == 100


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    "\x00\xff",
    "[" * 100_000,
    '{"form": 2, "exercises": {}}',
    '{"form": 1}',
    '{"form": 1, "exercises": [], "lessons": {}, "predictions": {}, "again": {}}',
    '{"form": 1, "exercises": {"mix": 3}, "lessons": {}, "predictions": {}, "again": {}}',
    '{"form": 1, "exercises": {}, "predictions": {}, "again": {},'
    ' "lessons": {"01-averaging": {"seconds": 1, "when": "yesterday"}}}',
    '{"form": 1, "lessons": {}, "predictions": {}, "again": {}, "exercises": {"mix":'
    ' {"points": 0, "best": 0, "tries": 1, "hints": {"weights_transposed": "two"}}}}',
]


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: ascii(text[:25]))
def test_a_broken_file_is_put_aside_with_one_line_and_a_new_one_begins(file, capsys, text):
    file.parent.mkdir()
    file.write_bytes(text.encode("latin-1"))
    assert check("mix", RIGHT["mix"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[0].endswith(
        "It is kept as progress.broken-1.json, and a new one begins."
    )
    assert (out.count("could not be understood"), err) == (1, "")
    assert (file.parent / "progress.broken-1.json").read_bytes() == text.encode("latin-1")
    assert kept(file)["exercises"]["mix"]["best"] == 2


def test_two_broken_files_are_both_kept(file, capsys):
    file.parent.mkdir()
    for text in "first", "second":
        file.write_text(text)
        read()
    aside = sorted(file.parent.glob("progress.broken-*.json"))
    assert [path.read_text() for path in aside] == ["first", "second"]


def test_a_byte_order_mark_does_no_harm(file):
    check("mix", wrong)
    file.write_text("\ufeff" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert read()["exercises"]["mix"]["tries"] == 1


# A check never fails over it


def no_room(file):
    """A full disk, as far as this file is concerned."""
    os.symlink("/dev/full", f"{file}.new")


def a_folder_in_its_place(file):
    file.mkdir()


def a_file_in_place_of_the_folder(file):
    file.parent.rmdir()
    file.parent.write_text("")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("trouble", [no_room, a_folder_in_its_place, a_file_in_place_of_the_folder])
def test_where_the_file_cannot_be_written_there_is_one_line_and_the_points(file, capsys, trouble):
    file.parent.mkdir()
    trouble(file)
    assert [check("mix", RIGHT["mix"]), check("mix", wrong), check("mix", wrong)] == [2, 0, 0]
    out, err = capsys.readouterr()
    assert (out.count("Your progress is not kept"), err) == (1, "")
    assert "Hint 2 of" in out  # the ladder works all the same


@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_a_folder_that_is_read_only_is_read_all_the_same(file, capsys):
    check("mix", wrong)
    folder = str(file.parent)
    code = "from grader import check; check('mix', lambda weights, x: weights.mT @ x)"
    shut = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", folder, folder]
    command = [*shut, sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Your progress is not kept") == 1
    assert "Hint 2 of" in done.stdout
    assert kept(file)["exercises"]["mix"]["tries"] == 1


def test_an_answer_that_breaks_json_breaks_no_check(file, monkeypatch, capsys):
    monkeypatch.setattr(json, "dumps", None)
    assert check("mix", RIGHT["mix"]) == 2
    out, err = capsys.readouterr()
    assert (out.count("Your progress is not kept"), err) == (1, "")


# What comes out


def test_what_is_next_is_what_was_begun_last_else_the_first_that_is_open(file, at):
    assert following(read()).exercise == "average"
    check("average", RIGHT["average"])
    assert following(read()).exercise == "uniform_weights"
    at(0)
    check("mix", wrong)
    at(1)
    check("query_scores", lambda x, i: x)
    assert following(read()).exercise == "query_scores"
    check("query_scores", RIGHT["query_scores"])
    assert following(read()).exercise == "uniform_weights"


def test_when_only_begun_ones_are_left_the_first_of_them_is_next_and_then_nothing(file):
    def all_but(names):
        def edit(record):
            for exercise in exercises():
                entry = standing.entry_of(record, exercise.name)
                entry |= {"best": float(exercise.points * (exercise.name not in names)), "tries": 1}

        return edit

    change(all_but({"mix", "softmax"}))
    assert following(read()).exercise == "mix"
    change(all_but(()))
    assert following(read()) is None


def shown(capsys):
    show_progress()
    return capsys.readouterr().out


def test_progress_says_what_is_done_partly_done_and_open(file, capsys):
    check("mix", wrong)
    check("average", RIGHT["average"])
    capsys.readouterr()
    first, *_, last = shown(capsys).splitlines()
    assert first == (
        "01-averaging: done average; partly mix; open uniform_weights, running_average;"
        " points 1 of 7; time 0 min"
    )
    assert last == "Next: `mix` in 01-averaging"


def test_the_table_has_a_caption_names_its_rows_and_columns_and_links_the_lessons(file):
    page = BeautifulSoup(as_html(read()), "html.parser")
    assert page.caption.text
    lessons = sorted({exercise.lesson for exercise in exercises()})
    assert [row.text for row in page.select("tbody th[scope=row]")] == lessons
    assert len(page.select("thead th[scope=col]")) == len(
        page.select("tbody tr")[0].find_all(["th", "td"])
    )
    links = {link["href"] for link in page.select("a")}
    there = {
        path.relative_to(ROOT / "solutions").as_posix() for path in ROOT.glob("solutions/*/*.ipynb")
    }
    assert there <= links
