"""A whole small course with its gradebook in PostgreSQL, and the same one in SQLite beside it.

The server is Debian's, started here. The one who grades is stopped midway and loses the server.
"""

import csv
import shutil
import signal
import subprocess
import sys
from datetime import datetime
from types import SimpleNamespace
from urllib.parse import quote

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from postgresql import PASSWORD, PROGRAMS, Server
from traitlets.config import Config

from benchmarks.classes import BIN, Class
from grader.classroom.course import Course
from grader.classroom.gradebook import Writer
from grader.classroom.settings import NoCourse, secrets

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not PROGRAMS.exists() or not shutil.which("bwrap"),
    reason="Debian's postgresql or bubblewrap is not installed",
)

LESSON = "01-averaging"
GRADE = ("grader", "autograde", LESSON, "--jobs", "1")
ZOE, LATE, HALF, BROKEN = "zoë-ωλ", "learner-0001", "learner-0002", "broken"
#: what a submission sees of the settings of whoever grades it
CURIOUS = """
import glob, os
print("curious", dict(os.environ))
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        print(open(path).read())
    except OSError:
        pass
"""


class Anywhere(Class):
    """A class whose gradebook is at an address, or in its folder."""

    address = ""
    said = ""

    @property
    def database(self):
        return self.address or super().database

    def run(self, *command, **how):
        done = super().run(*command, **how)
        self.said += done.stdout + done.stderr  # to look for the password in all of it
        return done

    def export(self):
        self.run("nbgrader", "export", "--to", "grades.csv")
        rows = list(csv.DictReader((self.folder / "grades.csv").open(encoding="utf-8")))
        return {row["student_id"]: row for row in rows}


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def in_sqlite(tmp_path_factory):
    """Four have handed in: one with a name beyond ASCII, one late, one no notebook at all."""
    course = Anywhere(tmp_path_factory.mktemp("sqlite"), LESSON, 3)
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    submitted = course.folder / "submitted"
    (submitted / "learner-0000").rename(submitted / ZOE)
    mine = submitted / ZOE / LESSON / course.released.name
    notebook = nbformat.read(mine, as_version=4)
    notebook.cells.append(new_code_cell(CURIOUS))
    nbformat.write(notebook, mine)
    (submitted / LATE / LESSON / "timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    (submitted / BROKEN / LESSON).mkdir(parents=True)
    (submitted / BROKEN / LESSON / course.released.name).write_text("{}")
    return course


def due(course):
    with Gradebook(course.database, "attention") as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate=datetime(2026, 1, 1))


@pytest.fixture(scope="module")
def course(in_sqlite, server, tmp_path_factory):
    """The same class, with an empty gradebook in PostgreSQL."""
    course = in_sqlite.copy(tmp_path_factory.mktemp("postgresql"))
    (course.folder / "gradebook.db").unlink()
    course.address = server.create("grades")
    course.run("nbgrader", "generate_assignment", LESSON, "--force")
    course.run("nbgrader", "db", "student", "add", ZOE, "--first-name=Zoë")
    due(course)
    return course


@pytest.fixture(scope="module")
def midway(course, server):
    """What a grader says that loses the server midway, and what a second one says before that."""
    first = subprocess.Popen(
        [BIN / GRADE[0], *GRADE[1:]],
        cwd=course.folder,
        env={**course.environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    begun = first.stdout.readline()
    first.send_signal(signal.SIGSTOP)
    second = course.run(*GRADE, check=False)
    server.stop()
    first.send_signal(signal.SIGCONT)
    rest, trouble = first.communicate(timeout=300)
    server.start()
    course.said += begun + rest + trouble
    return SimpleNamespace(begun=begun, rest=rest, trouble=trouble, first=first, second=second)


@pytest.fixture(scope="module")
def graded(course, midway):
    """The same command once more, with the server back."""
    course.again = course.run(*GRADE, check=False)
    return course


def test_while_one_grades_a_second_one_is_refused(midway):
    assert midway.begun.startswith("1 of 4")
    assert midway.second.returncode == 2
    assert midway.second.stderr == "Another command grades this course right now; wait for it.\n"


def test_a_server_that_goes_away_is_told_in_one_line(midway):
    assert midway.first.returncode == 2
    (line,) = midway.trouble.splitlines()
    assert line.startswith("The gradebook failed: (psycopg.")
    assert line.endswith("What is done is kept; the same command goes on from there.")


def test_with_the_server_back_the_same_command_goes_on(graded, midway):
    learner = midway.begun.split()[3].rstrip(":")
    assert graded.again.returncode == 1  # one is not gradable
    assert f"  {learner}:" not in graded.again.stdout  # it was graded already
    assert len([line for line in graded.again.stdout.splitlines() if " of 4  " in line]) < 4


def test_the_grades_are_those_of_sqlite(graded, in_sqlite):
    due(in_sqlite)
    in_sqlite.run(*GRADE, check=False)
    assert graded.scores() == in_sqlite.scores()
    here, there = graded.export(), in_sqlite.export()
    assert here[ZOE].pop("first_name") == "Zoë"
    assert there[ZOE].pop("first_name") == ""  # nobody has told
    assert here == there
    assert here[ZOE]["score"] == "7.0"
    assert here[LATE]["late_submission_penalty"] == here[LATE]["raw_score"] != "0.0"
    assert here[BROKEN]["state"] == "not gradable"
    assert here[BROKEN]["score"] == ""
    assert 0 < float(here[HALF]["score"]) < 7


def test_nbgraders_own_commands_work_on_it(graded):
    before = graded.scores()
    graded.run("nbgrader", "autograde", LESSON, f"--student={ZOE}", "--force")
    assert graded.scores() == before
    graded.run("nbgrader", "generate_feedback", LESSON)
    page = graded.folder / "feedback" / ZOE / LESSON / "averaging.html"
    assert "Score: 7.0 / 7.0" in page.read_text()
    assert f"{ZOE} (None, Zoë)" in graded.run("nbgrader", "db", "student", "list").stdout


def test_formgrader_lists_it(graded, monkeypatch):
    monkeypatch.chdir(graded.folder)
    monkeypatch.setenv("COURSE_GRADEBOOK", graded.address)
    api = NbGraderAPI(Course.here().directory)
    (lesson,) = api.get_assignments()
    assert (lesson["num_submissions"], lesson["max_score"]) == (4, 7.0)
    listed = {one["student"]: one for one in api.get_submissions(LESSON)}
    assert listed[ZOE]["score"] == 7.0
    assert listed[ZOE]["autograded"]
    assert {one["id"] for one in api.get_students()} == set(listed)


def test_a_regrade_is_shown_first_and_then_done(graded):
    path = graded.folder / "submitted" / HALF / LESSON / graded.released.name
    solved = graded.folder / "submitted" / ZOE / LESSON / graded.released.name
    shutil.copyfile(solved, path)
    before = graded.scores()
    options = ("--student", HALF, "--force")
    tried = graded.run(*GRADE, *options, "--dry-run")
    assert "mix: 0 -> 2" in " ".join(tried.stdout.split())
    assert graded.scores() == before
    graded.run(*GRADE, *options)
    assert graded.scores()[HALF] == before[ZOE]


def test_without_a_password_in_the_url_it_is_taken_from_libpqs_own_file(
    graded, server, tmp_path, monkeypatch
):
    """It is the way to keep it out of the environment, and what nbgrader's `db upgrade` needs:
    alembic takes every % of a URL for its own."""
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:course:{PASSWORD.replace(':', chr(92) + ':')}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    monkeypatch.setattr(graded, "address", server.url("grades", password=""))
    before = graded.scores()
    graded.run("nbgrader", "db", "upgrade")
    assert graded.scores() == before


def test_the_password_is_nowhere(graded):
    curious = graded.folder / "autograded" / ZOE / LESSON / graded.released.name
    assert "curious {" in curious.read_text()
    hidden = {PASSWORD, quote(PASSWORD, safe=""), "of the gradebook"}
    assert not [secret for secret in hidden if secret in graded.said]
    for path in (path for path in graded.folder.rglob("*") if path.is_file()):
        content = path.read_bytes().decode("utf-8", "replace")
        assert not [secret for secret in hidden if secret in content], path


def test_what_is_hidden_from_the_cage_are_paths_and_no_url(server, tmp_path):
    config = Config({"CourseDirectory": {"db_url": server.url("grades")}})
    assert not [path for path in secrets(tmp_path, config) if "course" in path or "%" in path]
    config.CourseDirectory.db_url = f"sqlite:///{tmp_path / 'my.db'}?timeout=30"
    assert str(tmp_path / "my.db") in secrets(tmp_path, config)


SILLY = {
    "a wrong password": ("{wrong}", "password authentication failed"),
    "no such database": ("{other}", 'database "other" does not exist'),
    "no such server": ("postgresql+psycopg://ada:s3cret@/x?host=/nowhere", "No such file"),
    "another kind": ("oracle7://ada:s3cret@host/x", "Can't load plugin"),
    "no URL": ("ada:s3cret", "COURSE_GRADEBOOK is no SQLAlchemy URL"),
    "an @ too many": ("postgresql+psycopg://ada:s3@cret@host/x", "more than one @"),
}


@pytest.mark.parametrize(("url", "says"), SILLY.values(), ids=SILLY)
def test_a_wrong_address_is_told_in_one_line_without_the_password(server, url, says):
    wrong, other = server.url("grades", "s3cret"), server.url("other")
    told = refused(url.format(wrong=wrong, other=other))
    assert says in told
    assert "\n" not in told
    assert not [part for part in ("s3", "cret", "gradebook@", "%40ss") if part in told]


def test_without_the_driver_it_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert 'pip install "psycopg[binary]"' in refused(server.url("grades"))


def refused(url):
    directory = SimpleNamespace(db_url=url, course_id="attention")
    with pytest.raises(NoCourse) as error:
        Writer(SimpleNamespace(directory=directory, config=Config()))
    return str(error.value)
