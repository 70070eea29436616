"""`grader report`: numbers that are those of the gradebook, and names that are nowhere."""

import csv
import json
import random
import re
import sys
from dataclasses import replace

import nbformat
import numpy as np
import pytest
from nbgrader.api import Gradebook
from reported import LESSON, learner, results
from traitlets.config import Config

from benchmarks.classes import Class
from grader import grade
from grader.classroom.outcome import load
from grader.classroom.report.advice import advice, stuck
from grader.classroom.report.answers import ANOTHER_REASON, found, plain_reason
from grader.classroom.report.gather import numbered
from grader.classroom.report.lms import for_canvas, for_moodle
from grader.classroom.report.numbers import correlation, items, spread
from grader.classroom.report.page import page
from grader.classroom.report.roster import NoRoster, read_roster
from grader.classroom.report.table import columns, rows
from grader.classroom.settings import secrets
from grader.classroom.spreadsheet import as_text
from grader.cli import main
from grader.exercises import find

WORDS = "Zyxwortel"  # nobody but a learner writes this
MIX = {mistake.id: grade("mix", mistake) for mistake in find("mix").known_wrong[:3]}
RIGHT = {name: grade(name, find(name).right) for name in ("mix", "average")}
WRONG = next(iter(MIX.values()))


def stub(weights, x):
    raise NotImplementedError


def crash(weights, x):
    raise type(f"{WORDS}Error", (KeyError,), {})(WORDS)


UNTRIED, CRASHED = grade("mix", stub), grade("mix", crash)
UNNAMED = grade("mix", lambda weights, x: 1.7 * (weights @ x) + 3)


# -- a class that was really graded ----------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Six who handed in: one late, one an empty file, one with words of their own; one did not."""
    if sys.platform != "linux":
        pytest.skip("the cage is made of bubblewrap")
    course = Class(tmp_path_factory.mktemp("course"), LESSON, 6)
    with open(course.folder / "nbgrader_config.py", "a") as config:
        config.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    handed_in = [course.folder / f"submitted/learner-{n:04}" / LESSON for n in range(6)]
    (handed_in[3] / "timestamp.txt").write_text("2030-01-02 10:00:00 UTC\n")
    (handed_in[5] / course.released.name).rename(handed_in[5] / f"{WORDS}.ipynb")
    (handed_in[5] / f"{WORDS}.ipynb").write_text("")
    own = nbformat.read(handed_in[4] / course.released.name, as_version=4)
    for cell in own.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "mix":
            cell.source = (
                f"class {WORDS}Error(Exception): pass\n"
                f"def mix(weights, x): raise {WORDS}Error('{WORDS}')"
            )
    nbformat.write(own, handed_in[4] / course.released.name)
    with Gradebook(course.database, "attention") as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2030-01-01 10:00:00 UTC")
        for number in range(7):
            gradebook.update_or_create_student(
                f"learner-{number:04}", first_name=f"{WORDS}{number}", last_name="=1+1",
                email=f"{WORDS}{number}@example.org",
            )  # fmt: skip
    course.said = course.run("grader", "autograde", LESSON, check=False).stdout
    course.run("nbgrader", "export", "--to", "grades.csv")
    return course


@pytest.fixture
def report(course, monkeypatch, capsys):
    """Runs the command in a course's folder: its status and what it said on both outputs."""

    def run(*arguments, of=course):
        for name, value in of.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(of.folder)
        status = main(["report", *map(str, arguments)])
        return status, *capsys.readouterr()

    return run


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else None


def test_grading_ends_by_naming_the_report(course):
    assert course.said.splitlines()[-1].endswith(f"grader report {LESSON}")


def test_the_numbers_are_those_of_the_gradebook(report, course, tmp_path):
    status, said, trouble = report(LESSON, "--names", "--to", tmp_path)
    assert (status, trouble) == (0, "")
    made = [tmp_path / "report.html", tmp_path / "learners.csv"]
    assert said.split() == [str(path) for path in made]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o600, 0o600]
    exported = {row["student_id"]: row for row in table(course.folder / "grades.csv")}
    told = {
        re.search(r"learner-\d+", row["learner"])[0]: row
        for row in table(tmp_path / "learners.csv")
    }
    assert told.keys() == exported.keys()
    for id, row in told.items():
        theirs = exported[id]
        assert row["state"] == theirs["state"]
        if row["state"] != "not submitted":
            for column in ("score", "raw_score", "late_submission_penalty"):
                assert number(row[column]) == number(theirs[column]), (id, column)
    late = told["learner-0003"]
    assert (late["score"], late["hours_late"]) == ("0.0", "24.0")
    assert float(late["late_submission_penalty"]) == float(late["raw_score"]) > 0


def test_points_of_exercises_add_up_to_the_score_and_each_took_some_time(report, tmp_path):
    report(LESSON, "--to", tmp_path)
    graded = [row for row in table(tmp_path / "learners.csv") if row["state"] == "graded"]
    assert len(graded) == 5
    for row in graded:
        points = [float(row[name]) for name in row if name.endswith(": points")]
        assert sum(points) == float(row["raw_score"])
        assert float(row["seconds"]) > 0


def test_without_names_nothing_tells_who_it_is_and_with_names_it_does(report, tmp_path):
    report(LESSON, "--to", tmp_path / "numbers")
    report(LESSON, "--names", "--to", tmp_path / "names")
    for name in ("report.html", "learners.csv"):
        anonymous, named = ((tmp_path / each / name).read_text() for each in ("numbers", "names"))
        for secret in (WORDS, WORDS.lower(), "learner-0", "example.org", "=1+1"):
            assert secret not in anonymous
        assert "learner-0005" in named
        assert WORDS in named
    assert "The notebook was empty." in (tmp_path / "numbers/report.html").read_text()
    assert f"{WORDS}.ipynb is empty" in (tmp_path / "names/report.html").read_text()


def test_a_second_report_is_the_same_and_changes_nothing_else(report, course):
    before = {path: path.read_bytes() for path in (course.folder / "records").rglob("*.json")}
    told = []
    for _ in range(2):
        assert report(LESSON)[0] == 0
        told.append([path.read_bytes() for path in sorted(course.folder.glob("reports/*/*"))])
    assert told[0] == told[1]
    assert {path: path.read_bytes() for path in before} == before


@pytest.fixture
def other(course, tmp_path):
    """The same course in another folder, to spoil."""
    return course.copy(tmp_path / "course")


def test_who_did_not_hand_in_and_who_waits_is_told(report, other):
    (other.folder / "submitted" / "learner-0009" / LESSON).mkdir(parents=True)
    assert report(LESSON, of=other)[0] == 0
    shown = (other.folder / "reports" / LESSON / "report.html").read_text()
    told = "7 handed in, 5 graded, 1 not gradable, 1 not graded yet, 1 not submitted."
    assert told in shown
    assert "Grade the rest" in shown


@pytest.mark.parametrize("spoiled", ["not JSON", "{}", '{"verdicts": 5}', "[]"])
def test_a_damaged_record_is_told_and_the_rest_is_done(spoiled, report, other, course):
    path = other.folder / "records" / LESSON / "learner-0001" / f"{other.released.stem}.json"
    path.write_text(spoiled)
    status, said, trouble = report(LESSON, of=other)
    assert status == 1
    assert trouble.count("\n") == 1
    assert f"records/{LESSON}/learner-0001/{path.name} is damaged" in trouble
    assert len(table(other.folder / "reports" / LESSON / "learners.csv")) == 7


def test_what_cannot_be_done_is_one_line_and_status_2(report, other, tmp_path):
    nobody = tmp_path / "file"
    nobody.write_text("x")
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\x00\n")
    asked = {
        "No lesson": ["00-nothing"],
        "cannot be written": [LESSON, "--to", nobody],
        "export the gradebook there": [LESSON, "--lms", "canvas"],
        "goes with --lms": [LESSON, "--roster", nobody],
        "cannot be read": [LESSON, "--lms", "moodle", "--roster", tmp_path / "none.csv"],
        "first line should": [LESSON, "--lms", "moodle", "--roster", nobody],
        "not a table that Canvas": [LESSON, "--lms", "canvas", "--roster", broken],
    }
    for words, arguments in asked.items():
        status, said, trouble = report(*arguments)
        assert (status, said, trouble.count("\n")) == (2, "", 1), words
        assert words in trouble
    (other.folder / "records" / LESSON).rename(other.folder / "elsewhere")
    status, _, trouble = report(LESSON, of=other)
    assert (status, trouble.count("\n")) == (2, 1)
    assert f"run `grader autograde {LESSON}` first" in trouble


def test_a_record_of_before_seconds_were_kept_is_read_and_equal(course):
    path = course.folder / "records" / LESSON / "learner-0000" / f"{course.released.stem}.json"
    kept = json.loads(path.read_text())
    assert kept.pop("seconds") > 0
    old = course.folder / "old.json"
    old.write_text(json.dumps(kept))
    assert load(old) == load(path)
    assert load(old).seconds is None


def test_no_submission_can_read_the_reports(course):
    assert str(course.folder / "reports") in secrets(course.folder, Config())


# -- numbers ---------------------------------------------------------------------------------------


def spread_out(count=40):
    """Learners with points by chance, as verdicts of two exercises."""
    chance = random.Random(3)

    def given(name):
        return replace(RIGHT[name], points=RIGHT[name].max_points * chance.choice([0, 0.5, 1]))

    return [learner(number, given("mix"), given("average")) for number in range(count)]


def test_discrimination_is_the_correlation_with_all_other_exercises():
    learners = spread_out()
    both = np.array([[one.points["mix"], one.points["average"]] for one in learners])
    first, second = items(results(*learners))
    assert first.discrimination == pytest.approx(np.corrcoef(both.T)[0, 1])
    assert second.discrimination == pytest.approx(first.discrimination)  # of two, the other
    assert first.difficulty == pytest.approx(both[:, 0].mean() / first.most)


def test_correlation_of_a_case_worked_by_hand():
    # deviations (-1, 0, 1) and (-2, 1, 1): 3 / sqrt(2 * 6)
    assert correlation([1, 2, 3], [0, 3, 3]) == pytest.approx(3 / 12**0.5)
    assert correlation([0, 1], [3, 5]) == 1
    assert correlation([0, 1], [5, 3]) == -1


@pytest.mark.parametrize("one", [[], [1.0], [2.0, 2.0], [0.1] * 7])
def test_there_is_no_correlation_where_nothing_varies(one):
    assert correlation(one, list(range(len(one)))) is None


def test_a_class_of_one_and_one_in_which_all_are_equal_have_a_page_without_it():
    for count in (1, 9):
        made = results(*(learner(n, RIGHT["mix"], RIGHT["average"]) for n in range(count)))
        assert [item.discrimination for item in items(made)] == [None, None]
        shown = page(made, "2030-01-31")
        assert "nobody fails: <code>mix</code>, <code>average</code>" in shown
        assert "Nothing stands out" in shown


def test_every_score_is_in_one_bin_and_full_points_have_their_own():
    scores = [0, 0.75, 1, 2.5, 3, 3, 3.5]
    found = spread(scores, 3)
    assert found.bins == (("0", 2), ("1", 1), ("2", 1), ("3", 3))
    assert found.quartiles[1] == 2.5
    for most in (1, 7, 15, 16.5, 17, 100):
        found = spread([most * part / 8 for part in range(9)], most)
        assert sum(count for _, count in found.bins) == 9
        assert found.bins[-1] == (f"{most:g}", 1)
        assert len(found.bins) <= 18
    assert spread([], 3) is None


def test_the_order_of_learners_changes_no_number():
    learners = spread_out()
    shuffled = random.Random(1).sample(learners, len(learners))
    one, other = results(*learners), results(*shuffled)
    assert items(one) == items(other)
    assert spread(one.scores, 3) == spread(other.scores, 3)
    assert advice(one, items(one), {}) == advice(other, items(other), {})


def test_numbers_of_learners_follow_from_the_secret_alone():
    ids = [f"learner-{n:02}" for n in range(20)]
    told = numbered(ids, b"one secret")
    assert told == numbered(reversed(ids), b"one secret")
    assert sorted(told.values()) == sorted(f"learner {n}" for n in range(1, 21))
    ranks = [int(told[id].split()[1]) for id in ids]
    assert ranks != sorted(ranks)
    assert told != numbered(ids, b"another one")


# -- what the answers were -------------------------------------------------------------------------


def test_what_an_answer_was_is_told_without_a_word_of_the_learners():
    kinds = {
        "right": RIGHT["mix"], "known mistake": WRONG, "not tried": UNTRIED,
        "stopped": CRASHED, "wrong otherwise": UNNAMED,
    }  # fmt: skip
    assert {kind: found(verdict).kind for kind, verdict in kinds.items()} == {k: k for k in kinds}
    assert WORDS in CRASHED.message
    assert WORDS not in str(found(CRASHED))
    no_cell = replace(
        RIGHT["mix"], points=0.0, properties=(), message="There is no result. ZeroDivisionError: x"
    )
    assert str(found(no_cell)) == "stopped with ZeroDivisionError"


def test_the_page_counts_each_mistake_with_its_message_and_the_hints():
    wrong = [learner(n, WRONG) for n in range(4)] + [learner(9, UNNAMED), learner(10, UNTRIED)]
    shown = page(results(*wrong), "2030-01-31")
    mistake = find("mix").known_wrong[0]
    counts = re.findall(r"<div class='count'>(\d+)</div>", shown)
    assert counts == ["4", "1", "1"]
    text = re.sub("<[^>]+>", "", shown).replace("&#x27;", "'").replace("&quot;", '"')
    for words in (mistake.formula, mistake.what, mistake.question, *find("mix").hints):
        assert words in text
    assert "equal to no known mistake" in text
    assert f"4 of 6 computed {mistake.formula}. Ask: {mistake.question}" in text


def test_pairs_several_names_and_names_that_are_no_more_are_told():
    first, second = list(MIX)[:2]
    made = [
        replace(WRONG, misconception=None, possible=possible)
        for possible in ((f"{first} + {second}",), (first, second), ("of_old",))
    ]
    shown = page(results(*(learner(n, each) for n, each in enumerate(made))), "2030-01-31")
    for words in ("Two mistakes at once", "Equals several known mistakes", "<code>of_old</code>"):
        assert words in shown


def test_where_the_class_is_stuck_the_hardest_comes_first():
    made = results(*(learner(n, WRONG, RIGHT["average"]) for n in range(6)))
    assert [item.name for item in stuck(items(made))] == ["mix"]
    assert advice(made, items(made), {})[0].exercise == "mix"


def test_what_was_only_left_untried_is_not_advised_to_be_gone_through():
    average = replace(UNTRIED, exercise="average")
    made = results(*(learner(n, each, average) for n, each in enumerate([RIGHT["mix"], UNNAMED])))
    assert [item.name for item in stuck(items(made))] == ["average", "mix"]
    first, second = advice(made, items(made), {})
    assert (first.exercise, second.about) == ("mix", "Ask about time")
    assert first.text.startswith("1 of 2 answers are not right")


def test_where_nobody_has_a_score_no_answer_is_called_right():
    shown = page(results(learner(1, state="not gradable", reason="x is empty")), "2030-01-31")
    assert shown.count("Nobody has a score yet.") == 2
    assert "full points" not in shown
    assert "None: no answer was judged wrong." in shown


def test_points_that_were_taken_by_hand_have_a_place_that_links_lead_to():
    short = learner(1, RIGHT["mix"], RIGHT["average"])
    short = replace(short, points={**short.points, "mix": 0.5})
    shown = page(results(short, learner(2, RIGHT["mix"], RIGHT["average"])), "2030-01-31")
    links, places = (set(re.findall(f"{to}(.+?)'", shown)) for to in ("href='#", "id='"))
    assert links == places == {"mix"}
    assert "no record says what is wrong" in shown


@pytest.mark.parametrize(
    "reason",
    [
        f"{WORDS}.ipynb is empty; open your notebook in Jupyter",
        f"There are two notebooks with different answers, {WORDS}.ipynb and b.ipynb.",
        f"There is no notebook in it, only {WORDS}.txt. Hand in averaging.ipynb.",
    ],
)
def test_a_reason_is_told_without_names_of_files(reason):
    assert WORDS not in plain_reason(reason)
    assert plain_reason(reason) != ANOTHER_REASON


def test_a_reason_of_any_other_kind_is_not_passed_on():
    assert plain_reason(f"{WORDS} did it") == ANOTHER_REASON


def test_the_page_needs_nothing_from_elsewhere_and_runs_nothing():
    late = learner(1, WRONG, RIGHT["average"], late=7200.0, penalty=0.5, seconds=1.25)
    refused = learner(2, state="not gradable", reason="<script>alert(1)</script>")
    for named in (False, True):
        shown = page(results(late, refused, named=named), "2030-01-31")
        assert "<script" not in shown
        assert not re.findall(r"(?:src|href)=.(?!data:image/png|#)", shown)
        assert "default-src 'none'" in shown
        pictures = re.findall("<img[^>]*>", shown)
        assert len(pictures) == 2
        assert all(re.search('alt="[^"]{20}', picture) for picture in pictures)


def test_no_cell_of_the_table_is_a_formula():
    made = results(replace(learner(1, WRONG), label="=1+1"), named=True)
    told = as_text(columns(made), rows(made))
    assert "'=1+1" in told
    assert "\n=1+1" not in told


# -- columns for learning management systems -------------------------------------------------------

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Averaging (77),Old one (78),Final Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,3,10,(read only)\r\n"
    '"Lovelace, Ada",101,,student-001,"Group, one",1,9,90\r\n'
    '"Bo, Li",102,S2,LI@example.org,"Group, one",,8,80\r\n'
    '"Di, Cy",103,,student-003,"Group, one",2,8,80\r\n'
    '"Em, Di",104,,student-004,"Group, one",2.5,8,80\r\n'
    '"Student, Test",105,,,"Group, one",,,\r\n'
)


def of_all_kinds():
    return results(
        learner(1, RIGHT["mix"], RIGHT["average"], penalty=0.5),
        learner(2, WRONG, RIGHT["average"], addresses=("li@example.org",)),
        learner(3, state="not gradable", reason="=cmd is empty"),
        learner(4, state="not submitted"),
        learner(5, RIGHT["mix"]),
    )


@pytest.fixture
def roster(tmp_path):
    def written(text, system="canvas"):
        path = tmp_path / "roster.csv"
        path.write_text(text, encoding="utf-8-sig")
        return read_roster(path, system)

    return written


def parsed(text, comma=","):
    return list(csv.reader(text.splitlines(), delimiter=comma))


def test_canvas_gets_its_own_columns_back_and_the_points_of_this_lesson(roster):
    made = for_canvas(of_all_kinds(), roster(CANVAS), "Averaging")
    told, theirs = parsed(made.text), parsed(CANVAS)
    assert [row[:5] for row in told] == [row[:5] for row in theirs]
    wrong = WRONG.points + RIGHT["average"].points
    assert [row[5] for row in told] == [
        "Averaging (77)", "Manual Posting", "3", "2.5", f"{wrong:g}", "", "2.5", "",
    ]  # fmt: skip
    assert {len(row) for row in told} == {6}
    assert [line for line in made.remarks if "student-005" in line]
    assert [line for line in made.remarks if "Student, Test" in line]
    assert len(made.remarks) == 2


def test_an_assignment_that_canvas_lacks_is_a_new_column_with_its_points(roster):
    made = for_canvas(of_all_kinds(), roster(CANVAS))
    told = parsed(made.text)
    assert [row[5] for row in told[:3]] == [LESSON, "", "3"]
    assert "it will offer to make it" in made.remarks[0]


def test_other_points_in_canvas_and_semicolons_are_told_and_kept(roster):
    text = CANVAS.replace(",3,10,", ",30,10,").replace(",", ";").replace("; ", ", ")
    made = for_canvas(of_all_kinds(), roster(text), "Averaging")
    assert made.remarks[0] == "Averaging (77) has 30 points in Canvas, 3 in the course."
    assert parsed(made.text, ";")[3][:2] == ["Lovelace, Ada", "101"]


def test_who_is_not_there_alone_is_told_and_gets_nothing(roster):
    twice = CANVAS + '"Twin, Ada",109,,STUDENT-001,"Group, two",,,\r\n'
    made = for_canvas(of_all_kinds(), roster(twice), "Averaging")
    assert [row[5] for row in parsed(made.text) if row[0] in ("Lovelace, Ada", "Twin, Ada")] == [
        "1",
        "",
    ]
    assert "Not in the roster, or not alone there: student-001." in made.remarks


def test_moodle_gets_points_and_a_dash_where_there_are_none():
    told = parsed(for_moodle(of_all_kinds(), None).text)
    assert told[0] == ["Username", LESSON, f"{LESSON} (feedback)"]
    by_name = {row[0]: row[1:] for row in told[1:]}
    assert by_name["student-001"] == ["2.5", ""]
    assert by_name["student-003"] == ["-", "Not graded: =cmd is empty"]
    assert "student-004" not in by_name
    assert len(by_name) == 4


def test_moodle_is_sent_nobody_whom_it_does_not_know(roster):
    text = (
        "First name,ID number,Email address\nAda,student-001,a@x.org\nLi,,li@example.org\nX,9,x\n"
    )
    made = for_moodle(of_all_kinds(), roster(text, "moodle"), "Quiz")
    assert [row[0] for row in parsed(made.text)] == ["Email address", "a@x.org", "li@example.org"]
    assert sum("Not in the roster" in line for line in made.remarks) == 2
    assert sum("In the roster only" in line for line in made.remarks) == 1


def test_a_sum_that_waits_for_a_grade_by_hand_is_not_uploaded(roster):
    waits = learner(1, WRONG)
    waits = replace(waits, grade=replace(waits.grade, state="waits for a grade by hand"))
    made = for_canvas(results(waits), roster(CANVAS), "Averaging")
    assert parsed(made.text)[3][5] == "1"
    assert "Left as it is until graded by hand: student-001." in made.remarks
    assert len(parsed(for_moodle(results(waits), None).text)) == 1


def test_who_waits_for_a_grade_by_hand_is_counted_once():
    waits = learner(1, WRONG)
    waits = replace(waits, grade=replace(waits.grade, state="waits for a grade by hand"))
    shown = page(results(waits, learner(2, WRONG)), "2030-01-31")
    assert "2 handed in, 1 graded, 1 waits for a grade by hand." in shown


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "Student,ID\nAda,1\n", '"'])
def test_what_is_no_roster_is_refused(text, roster):
    with pytest.raises(NoRoster, match="Canvas"):
        roster(text)


def test_two_columns_of_one_name_are_refused(roster):
    with pytest.raises(NoRoster, match="several columns"):
        for_canvas(
            of_all_kinds(), roster(CANVAS.replace("Old one (78)", "Averaging (78)")), "Averaging"
        )
