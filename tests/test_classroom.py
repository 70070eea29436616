"""The records, pages and tables of a class: every submission ends in one of two states, for all."""

import csv
import json
import os

import nbformat
import pytest
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.apps import ExportApp
from nbgrader.coursedir import CourseDirectory

from grader import grade
from grader.classroom import gradebook as grades
from grader.classroom import grading, submission
from grader.classroom.course import Submission
from grader.classroom.display import MOST_OUTPUTS, MOST_TEXT, harmless
from grader.classroom.export import GradesWithStates
from grader.classroom.feedback import page
from grader.classroom.files import MOST_BYTES, beside, read_regular
from grader.classroom.grading import report
from grader.classroom.intake import Taken
from grader.classroom.outcome import Outcome, load, load_all
from grader.exercises import find
from grader.runtime.cage import cage
from grader.runtime.kernel import NoKernel

LESSON = "01-averaging"
SCRIPT = "<script>alert(1)</script>"
RIGHT = grade("mix", find("mix").right)
WRONG = grade("average", lambda x: x.mean(-1, keepdim=True).expand_as(x))


# -- outcomes --------------------------------------------------------------------------------------


def test_an_outcome_is_read_back_as_it_was_written(tmp_path):
    outcome = Outcome(LESSON, "ada", "averaging", (RIGHT, WRONG), remarks=("one", "two"), cage="c")
    outcome.save(tmp_path)
    assert load_all(tmp_path, LESSON, "ada") == [outcome]
    assert outcome.state == "graded"
    assert (outcome.points, outcome.max_points) == (2.0 + WRONG.points, 3.0)


def test_an_outcome_with_a_reason_is_not_gradable():
    assert Outcome(LESSON, "ada", reason="The file is empty.").state == "not gradable"


def test_a_record_is_replaced_as_a_whole_and_leaves_no_other_file(tmp_path):
    for reason in ("first", "second"):
        Outcome(LESSON, "ada", "averaging", reason=reason).save(tmp_path)
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert load(path).reason == "second"


BLANK = Outcome(LESSON, "ada", "averaging")


# -- a submission on its way -----------------------------------------------------------------------


def staged(reason="", ours=False):
    notebook = nbformat.read(f"notebooks/{LESSON}/averaging.ipynb", as_version=4)
    notebook.metadata["intake"] = {
        "handed_in": "/nowhere", "folder": "/nowhere", "remarks": ["put right"],
        "refused": reason, "ours": ours,
    }  # fmt: skip
    return notebook


def test_what_intake_refused_is_not_gradable_and_runs_nothing(monkeypatch):
    monkeypatch.setattr(grading, "grade_notebook", None)  # calling it would raise
    notebook, outcome = submission.grade(staged("Empty."), BLANK, cage("none"), {})
    assert (outcome.state, outcome.reason, outcome.verdicts) == ("not gradable", "Empty.", ())
    assert "Not graded: Empty." in str([cell.get("outputs") for cell in notebook.cells])
    assert "intake" not in notebook.metadata


FAILURES = {
    "a full disk": OSError(28, "No space left on device"),
    "a kernel that does not start": NoKernel("the kernel did not start"),
    "no memory for the grader": MemoryError(),
    "a fault of ours": ZeroDivisionError("in the grader"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failure_of_the_machine_is_tried_again_and_never_a_zero(monkeypatch, failure):
    tried = []

    def fails(*args):
        tried.append(1)
        raise failure

    monkeypatch.setattr(grading, "grade_notebook", fails)
    _, outcome = submission.grade(staged(), BLANK, cage("none"), {"beside.txt": b"x"})
    assert len(tried) == submission.TRIES
    assert outcome.state == "not gradable"
    assert outcome.ours
    assert "not your doing and costs nothing" in outcome.reason


def test_a_failure_that_passes_leaves_no_trace(monkeypatch, tmp_path):
    failures = [OSError(5, "Input/output error")]

    def fails_once(path, released):
        if failures:
            raise failures.pop()
        return Taken(nbformat.read(released, as_version=4), remarks=("taken",))

    monkeypatch.setattr(submission, "take_in", fails_once)
    prepared = submission.prepare(tmp_path, submission.Path(f"notebooks/{LESSON}/averaging.ipynb"))
    intake = prepared.metadata.intake
    assert (intake.refused, intake.ours, intake.remarks) == ("", False, ["taken"])


@pytest.mark.parametrize(
    ("stamp", "kept"), [("2026-11-30 08:00:00 UTC", True), ("soon", False), ("9" * 2000, False)]
)
def test_only_a_time_is_taken_for_the_time_of_handing_in(tmp_path, stamp, kept):
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "timestamp.txt").write_text(stamp)
    assert ("timestamp.txt" in Submission("ada", LESSON, folder).from_nbgrader()) == kept


# -- files handed in beside the notebook -----------------------------------------------------------


def test_files_beside_the_notebook_are_read_and_links_pipes_and_hidden_ones_are_not(tmp_path):
    source = tmp_path / "source"
    (source / "data").mkdir(parents=True)
    (source / ".git").mkdir()
    for name in ("helper.py", "data/x.csv", "notebook.ipynb", ".hidden", ".git/config", "secret"):
        (source / name).write_text(name)
    (source / "link").symlink_to("/etc/hostname")
    (source / "folder").symlink_to("/etc")
    os.mkfifo(source / "pipe")
    found = beside(source, but=("secret",))
    assert found == {"helper.py": b"helper.py", "data/x.csv": b"data/x.csv"}


def test_what_is_too_large_is_passed_over_and_the_rest_is_read(tmp_path):
    with open(tmp_path / "a-large-one", "wb") as file:
        file.truncate(MOST_BYTES + 1)
    (tmp_path / "small").write_text("x")
    assert beside(tmp_path) == {"small": b"x"}


@pytest.mark.parametrize("path", ["/dev/zero", "/", "/nowhere"])
def test_what_is_no_regular_file_is_not_read(path):
    assert read_regular(submission.Path(path), 100) is None


# -- what is shown ---------------------------------------------------------------------------------


def test_html_script_and_all_else_but_text_and_pictures_is_left_out():
    data = {"text/plain": "x", "text/html": SCRIPT, "image/svg+xml": SCRIPT, "text/latex": "$"}
    (shown,) = harmless([new_output("display_data", data, metadata={"verdict": "{}"})])
    assert (dict(shown.data), dict(shown.metadata)) == ({"text/plain": "x"}, {})


def test_a_picture_that_is_no_picture_is_left_out():
    (shown,) = harmless([new_output("display_data", {"image/png": "bm90IGEgcGljdHVyZQ=="})])
    assert "image/png" not in shown.data


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07red", "r\x08ed\x9b", "red\r", "red\ud800"]
)
def test_nothing_that_steers_a_terminal_is_left(text):
    (shown,) = harmless([new_output("stream", text=text)])
    assert "red" in shown.text.encode().decode()
    assert not [c for c in shown.text if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160]


def test_long_text_and_many_outputs_are_cut_and_it_is_said():
    shown = harmless([new_output("stream", text="x" * 10**6)] * (2 * MOST_OUTPUTS))
    assert len(shown) == MOST_OUTPUTS + 1
    assert "more outputs were left out" in shown[-1].text
    assert len(shown[0].text) < MOST_TEXT + 100


@pytest.mark.parametrize(
    "output",
    [
        {}, {"output_type": "stream"}, {"output_type": "error", "traceback": 5},
        {"output_type": "display_data", "data": []}, {"output_type": "execute_result"},
        {"output_type": 7}, {"output_type": "stream", "text": {"a": 1}},
    ],
)  # fmt: skip
def test_an_output_of_any_shape_is_made_harmless(output):
    harmless([nbformat.NotebookNode(output)])


@pytest.mark.parametrize("verdict", [RIGHT, WRONG], ids=["right", "wrong"])
def test_the_outputs_of_a_check_are_made_from_the_verdict(verdict):
    shown, result = report(verdict)
    assert json.loads(shown.metadata.verdict)["points"] == verdict.points
    assert result.data["text/plain"] == repr(verdict.points)


# -- the page for the learner ----------------------------------------------------------------------


def feedback(**changed):
    notebook = nbformat.read(f"solutions/{LESSON}/averaging.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\n# {SCRIPT}"
            cell.metadata.nbgrader.comment = f"well done {SCRIPT}"
    outcome = Outcome(LESSON, "ada", "averaging", **changed)
    return page(notebook, outcome, "(Score: 2.0 / 7.0)")


def test_the_page_shows_answers_verdicts_comments_remarks_and_the_cage():
    shown = feedback(verdicts=(RIGHT, WRONG), remarks=("it was renamed",), cage="caged (all)")
    for words in ("mix: right", "average: not yet", "it was renamed", "Caged (all)", "well done"):
        assert words in shown


@pytest.mark.parametrize("reason", ["", SCRIPT])
def test_nothing_on_the_page_runs(reason):
    shown = feedback(verdicts=(WRONG,), reason=reason, remarks=(SCRIPT,), cage=SCRIPT)
    assert "<script" not in shown
    assert "Content-Security-Policy\" content=\"default-src 'none'" in shown
    assert "alert(1)" in shown  # it is there, as text


def test_a_submission_that_could_not_be_graded_has_a_page_that_says_why():
    shown = feedback(reason="The file is empty.")
    assert "The file is empty." in shown
    assert "not a score of zero" in shown


def test_a_verdict_without_a_cage_is_marked_on_the_page():
    marked = WRONG.__class__(**{**vars(WRONG), "cage": str(cage("none"))})
    assert "WARNING: graded without a cage" in feedback(verdicts=(marked,))


# -- gradebook and table ---------------------------------------------------------------------------


@pytest.fixture
def gradebook(tmp_path):
    with Gradebook(f"sqlite:///{tmp_path / 'grades.sqlite'}") as gradebook:
        gradebook.add_assignment(LESSON)
        gradebook.add_notebook("averaging", LESSON)
        for name, points in (("mix", 2), ("average", 1)):
            gradebook.add_grade_cell(
                f"check-{name}", "averaging", LESSON, max_score=points, cell_type="code"
            )
            gradebook.add_solution_cell(name, "averaging", LESSON)
        gradebook.add_student("ada")
        gradebook.add_submission(LESSON, "ada")
        yield gradebook


def stored(gradebook):
    found = gradebook.find_submission_notebook("averaging", LESSON, "ada")
    return {
        g.name.removeprefix("check-"): (g.auto_score, g.needs_manual_grade) for g in found.grades
    }


def exported(gradebook, folder):
    """What the table says of ada."""
    app = ExportApp()
    app.coursedir = CourseDirectory(root=str(folder))
    plugin = GradesWithStates(parent=app)
    plugin.to = str(folder / "grades.csv")
    plugin.export(gradebook)
    with open(plugin.to, newline="") as file:
        return next(csv.DictReader(file))


GRADED = Outcome(LESSON, "ada", "averaging", (RIGHT, WRONG))
REFUSED = Outcome(LESSON, "ada", "averaging", reason='It is "empty", sorry.')


def test_a_graded_submission_has_the_points_of_its_verdicts(gradebook):
    grades.write(gradebook, GRADED)
    assert stored(gradebook) == {"mix": (2.0, False), "average": (WRONG.points, False)}


def test_what_is_not_gradable_has_no_score_and_waits_for_a_human(gradebook):
    grades.write(gradebook, GRADED)
    grades.write(gradebook, REFUSED)
    assert stored(gradebook) == {"mix": (None, True), "average": (None, True)}
    found = gradebook.find_submission_notebook("averaging", LESSON, "ada")
    assert {c.auto_comment for c in found.comments} == {'Not graded: It is "empty", sorry.'}


def test_no_grade_of_yesterday_is_there_while_a_new_submission_is_graded(gradebook):
    grades.write(gradebook, GRADED)
    grades.forget(gradebook, LESSON, "ada", "averaging")
    assert {score for score, _ in stored(gradebook).values()} == {None}


def test_a_grade_by_hand_stays_and_is_to_be_looked_at_again(gradebook):
    grade_ = gradebook.find_grade("check-mix", "averaging", LESSON, "ada")
    grade_.manual_score = 1.5
    gradebook.db.commit()
    grades.write(gradebook, GRADED)
    assert (grade_.manual_score, grade_.needs_manual_grade) == (1.5, True)


@pytest.mark.parametrize(
    ("outcome", "score", "state", "reason"),
    [
        (GRADED, str(2.0 + WRONG.points), "graded", ""),
        (REFUSED, "", "not gradable", 'It is "empty", sorry.'),
    ],
    ids=["graded", "not gradable"],
)
def test_the_table_says_how_it_ended(gradebook, tmp_path, outcome, score, state, reason):
    grades.write(gradebook, outcome)
    outcome.save(tmp_path / "records")
    row = exported(gradebook, tmp_path)
    assert (row["score"], row["state"], row["reason"]) == (score, state, reason)


def test_what_was_not_handed_in_is_told_apart_from_what_is_not_gradable(gradebook, tmp_path):
    gradebook.remove_submission(LESSON, "ada")
    row = exported(gradebook, tmp_path)
    assert (row["score"], row["state"]) == ("0.0", "not submitted")


def test_no_cell_of_the_table_is_a_formula(gradebook, tmp_path):
    gradebook.update_or_create_student("ada", first_name="=1+1", last_name="@SUM(A1)")
    row = exported(gradebook, tmp_path)
    assert (row["first_name"], row["last_name"]) == ("'=1+1", "'@SUM(A1)")
