"""nbgrader's whole round trip, driven by its own commands on an exchange folder of our own.

An instructor releases two lessons; three students fetch them, solve all, every second one or none
of the exercises, and submit; everything is graded and handed back. The trip is made once, and each
test states one law of it. Which lessons and which checks there are is read from solutions/.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="nbgrader's exchange does not work on Windows"
)

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
LESSONS = sorted({path.parent.name for path in SOLUTIONS.glob("*/*.ipynb")})[:2]
NOTEBOOKS = [
    (lesson, path.stem)
    for lesson in LESSONS
    for path in sorted((SOLUTIONS / lesson).glob("*.ipynb"))
]
# Which exercises of a notebook, counted from 0, each student solves.
STUDENTS = {
    "all-right": lambda number: True,
    "half-right": lambda number: number % 2 == 0,
    "untouched": lambda number: False,
}

each_student = pytest.mark.parametrize("student", STUDENTS)
each_lesson = pytest.mark.parametrize("lesson", LESSONS)
each_notebook = pytest.mark.parametrize(("lesson", "notebook"), NOTEBOOKS)


def mark(cell):
    return cell.metadata.get("nbgrader", {})


def read(folder, lesson, notebook):
    return nbformat.read(folder / lesson / f"{notebook}.ipynb", as_version=4)


def checks(notebook):
    return [cell for cell in notebook.cells if mark(cell).get("grade")]


def points(lesson, notebook):
    """The points of every check of a notebook, in the order of the text."""
    found = checks(read(SOLUTIONS, lesson, notebook))
    return {mark(cell)["grade_id"]: mark(cell)["points"] for cell in found}


def expected(student, lesson, notebook):
    """What every check of a notebook should score."""
    solves = STUDENTS[student]
    return {
        check: float(full if solves(number) else 0)
        for number, (check, full) in enumerate(points(lesson, notebook).items())
    }


def expected_total(student, lesson):
    return sum(
        sum(expected(student, lesson, notebook).values())
        for owner, notebook in NOTEBOOKS
        if owner == lesson
    )


def solve(folder, student, lesson, notebook):
    """Puts the answers of solutions/ where this student has solved the exercise.

    Half-right also tries a trick on the other half: nbgrader gives a check without output full
    points, so those are tagged never to run.
    """
    fetched = read(folder, lesson, notebook)
    answers = {
        mark(cell)["grade_id"]: cell.source
        for cell in read(SOLUTIONS, lesson, notebook).cells
        if mark(cell).get("solution")
    }
    scores = expected(student, lesson, notebook)
    solved = [check.removeprefix("check-") for check, score in scores.items() if score]
    for cell in fetched.cells:
        name = mark(cell).get("grade_id")
        if name in solved:
            cell.source = answers[name]
        elif student == "half-right" and scores.get(name) == 0:
            cell.metadata.tags = ["skip-execution"]
    nbformat.write(fetched, folder / lesson / f"{notebook}.ipynb")


class Course:
    """A course of our own in a scratch folder: an instructor, students and the exchange."""

    def __init__(self, folder):
        self.folder = folder
        self.exchange = folder / "exchange"
        self.gradebook_url = f"sqlite:///{folder / 'grades.sqlite'}?timeout=30"
        self.commands = set()
        self.exchange.mkdir()
        for person in ["instructor", *STUDENTS]:
            self.home(person).mkdir()
            # where nbgrader looks first, whoever runs it
            shutil.copy(ROOT / "nbgrader_config.py", self.home(person))
        for lesson in LESSONS:
            shutil.copytree(SOLUTIONS / lesson, self.home("instructor") / "solutions" / lesson)

    def home(self, person):
        return self.folder / person

    def nbgrader(self, person, command, *arguments):
        """Runs one command in that person's folder."""
        self.commands.add(command)
        home = str(self.home(person))
        # All share one login here, and nbgrader takes a student's name from the login.
        who = ["--student", person] if person in STUDENTS else []
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", command, *arguments, *who],
            cwd=home,
            env={
                **os.environ,
                # nbgrader calls `alembic` by name
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
                "JUPYTER_CONFIG_DIR": home,
                "JUPYTER_DATA_DIR": home,
                "COURSE_EXCHANGE": str(self.exchange),
                "COURSE_CAGE": "standard" if shutil.which("bwrap") else "none",
                "COURSE_GRADEBOOK": self.gradebook_url,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{person}: nbgrader {command} failed\n{done.stdout}"
        return done.stdout

    def study(self, student):
        """A student's side up to the submission; returns what `nbgrader list` showed first."""
        listed = self.nbgrader(student, "list")
        self.nbgrader(student, "fetch_assignment", *LESSONS)
        for lesson, notebook in NOTEBOOKS:
            solve(self.home(student), student, lesson, notebook)
        for lesson in LESSONS:
            self.nbgrader(student, "submit", lesson)
        return listed

    def fetch_feedback(self, student):
        self.nbgrader(student, "fetch_feedback", *LESSONS)

    def everybody(self, action):
        """All students at once, as in a class."""
        with ThreadPoolExecutor() as pool:
            return dict(zip(STUDENTS, pool.map(action, STUDENTS), strict=True))

    def feedback(self, student, lesson, notebook):
        (page,) = (self.home(student) / lesson / "feedback").glob(f"*/{notebook}.html")
        return page.read_text()

    def gradebook(self):
        return Gradebook(self.gradebook_url, "attention")

    def grades_csv(self):
        with open(self.home("instructor") / "grades.csv", newline="") as file:
            return {(row["student_id"], row["assignment"]): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = Course(tmp_path_factory.mktemp("course"))
    for command in ["generate_assignment", "release_assignment"]:
        for lesson in LESSONS:
            course.nbgrader("instructor", command, lesson)
    course.listed = course.everybody(course.study)
    for command in ["collect", "autograde", "generate_feedback", "release_feedback"]:
        for lesson in LESSONS:
            course.nbgrader("instructor", command, lesson)
    course.nbgrader("instructor", "export", "--to", "grades.csv")
    course.everybody(course.fetch_feedback)
    return course


@each_student
def test_students_are_shown_every_released_lesson(course, student):
    assert re.findall(r"attention (\S+)", course.listed[student]) == LESSONS


@each_student
@each_notebook
def test_every_check_scores_its_points_where_solved_and_nothing_elsewhere(
    course, student, lesson, notebook
):
    with course.gradebook() as gradebook:
        grades = gradebook.find_submission_notebook(notebook, lesson, student).grades
        scores = {grade.name: grade.score for grade in grades}
    assert scores == expected(student, lesson, notebook)


@each_student
@each_notebook
def test_a_notebook_scores_the_sum_of_its_checks(course, student, lesson, notebook):
    with course.gradebook() as gradebook:
        found = gradebook.find_submission_notebook(notebook, lesson, student)
        scores = found.score, found.max_score
    full = sum(points(lesson, notebook).values())
    assert scores == (sum(expected(student, lesson, notebook).values()), full)


@each_student
@each_lesson
def test_a_lesson_scores_the_sum_of_its_notebooks(course, student, lesson):
    with course.gradebook() as gradebook:
        found = gradebook.find_submission(lesson, student)
        scores = found.score, found.max_score
    assert scores == (expected_total(student, lesson), expected_total("all-right", lesson))


@each_student
@each_lesson
def test_the_exported_table_says_what_the_gradebook_says(course, student, lesson):
    row = course.grades_csv()[student, lesson]
    assert float(row["score"]) == float(row["raw_score"]) == expected_total(student, lesson)
    assert float(row["max_score"]) == expected_total("all-right", lesson)


def test_gradebook_and_table_know_these_students_and_lessons_and_no_others(course):
    pairs = {(student, lesson) for student in STUDENTS for lesson in LESSONS}
    with course.gradebook() as gradebook:
        graded = {
            (submission.student.id, lesson)
            for lesson in LESSONS
            for submission in gradebook.assignment_submissions(lesson)
        }
    assert graded == pairs == set(course.grades_csv())


@each_lesson
def test_half_right_scores_between_nothing_and_everything(course, lesson):
    with course.gradebook() as gradebook:
        found = gradebook.find_submission(lesson, "half-right")
        assert 0 < found.score < found.max_score


@each_student
@each_lesson
def test_no_score_waits_for_a_human(course, student, lesson):
    with course.gradebook() as gradebook:
        assert not gradebook.find_submission(lesson, student).needs_manual_grade


@each_notebook
def test_a_check_tagged_never_to_run_is_run_all_the_same(course, lesson, notebook):
    handed_in = read(course.home("instructor") / "submitted" / "half-right", lesson, notebook)
    tagged = {mark(c)["grade_id"] for c in checks(handed_in) if c.metadata.get("tags")}
    graded = read(course.home("instructor") / "autograded" / "half-right", lesson, notebook)
    assert tagged
    for cell in checks(graded):
        assert "tags" not in cell.metadata
        assert cell.outputs


@each_student
@each_notebook
def test_a_graded_check_shows_no_traceback_and_no_stderr(course, student, lesson, notebook):
    graded = read(course.home("instructor") / "autograded" / student, lesson, notebook)
    outputs = [output for cell in checks(graded) for output in cell.outputs]
    assert outputs
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]


@each_notebook
def test_every_untouched_check_says_not_done_yet(course, lesson, notebook):
    graded = read(course.home("instructor") / "autograded" / "untouched", lesson, notebook)
    assert len(checks(graded)) == len(points(lesson, notebook))
    for cell in checks(graded):
        assert "not done yet" in str(cell.outputs), cell.source


@each_student
@each_notebook
def test_every_student_gets_feedback_with_their_own_score(course, student, lesson, notebook):
    score = sum(expected(student, lesson, notebook).values())
    full = float(sum(points(lesson, notebook).values()))
    shown = re.search(r"\(Score: ([\d.]+) / ([\d.]+)\)", course.feedback(student, lesson, notebook))
    assert (float(shown[1]), float(shown[2])) == (score, full)


def test_gradebook_and_exchange_are_where_the_environment_says(course):
    assert (course.folder / "grades.sqlite").exists()
    assert not list(course.folder.glob("*/gradebook.db"))
    assert sorted(path.name for path in (course.exchange / "attention" / "outbound").iterdir()) == (
        LESSONS
    )


def test_the_readme_names_the_commands_of_this_trip_and_no_others(course):
    named = re.findall(r"^ *nbgrader (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert set(named) == course.commands
