"""A class graded with `grader autograde`: real commands, real Dask, killed and started again."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import nbformat
import psutil
import pytest
from distributed import Client, Security
from nbgrader.api import Gradebook

from benchmarks.classes import BIN, Class
from grader.classroom.cluster import Crew
from grader.classroom.outcome import load_all

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")

LESSON, COUNT = "01-averaging", 4


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A class that has handed in."""
    return Class(tmp_path_factory.mktemp("untouched"), LESSON, COUNT)


@pytest.fixture(scope="module")
def calm(untouched, tmp_path_factory):
    """The same class, graded without disturbance."""
    course = untouched.copy(tmp_path_factory.mktemp("calm"))
    course.said = grader(course)
    return course


@pytest.fixture
def course(untouched, tmp_path):
    """The same class, not graded yet."""
    return untouched.copy(tmp_path)


def grader(course, *arguments):
    """`grader autograde`, whatever its status: what it said on both outputs, and the status."""
    done = course.run("grader", "autograde", LESSON, *arguments, check=False)
    return done.stdout, done.stderr, done.returncode


def tree(folder: Path) -> dict[str, str]:
    """Every file with a hash of its bytes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def graded_now(said: str) -> list[str]:
    return re.findall(r"^\d+ of \d+  (\S+):", said, re.MULTILINE)


def record(course, learner):
    (found,) = load_all(course.folder / "records", LESSON, learner)
    return found


# -- a run without disturbance ---------------------------------------------------------------------


def test_every_submission_is_graded_and_the_status_is_0(calm):
    said, trouble, status = calm.said
    assert (status, trouble) == (0, "")
    assert sorted(graded_now(said)) == [f"learner-{number:04}" for number in range(COUNT)]
    assert f"{COUNT} of {COUNT} graded" in " ".join(said.split())


def test_the_gradebook_has_the_scores_that_nbgraders_own_command_writes(calm, course):
    course.run("nbgrader", "autograde", LESSON)
    assert calm.scores() == course.scores()
    assert any(any(scores.values()) for scores in calm.scores().values())


def test_what_nbgrader_needs_next_is_there(calm):
    calm.run("nbgrader", "generate_feedback", LESSON)
    calm.run("nbgrader", "export", "--to", "grades.csv")
    pages = list((calm.folder / "feedback").glob(f"*/{LESSON}/*.html"))
    assert len(pages) == COUNT
    assert (calm.folder / "grades.csv").read_text().count("graded") == COUNT


def test_each_has_a_record_with_its_key_that_the_gradebook_has_too(calm):
    records = [record(calm, learner) for learner in calm.scores()]
    solved, slip, half, solved_too = (one.key for one in records)
    assert len({solved, slip, half}) == 3
    assert solved == solved_too  # the same content
    assert all(one.written for one in records)
    for one in records:
        assert sum(calm.scores()[one.student].values()) == one.points


def test_a_second_run_grades_nothing(calm):
    before = tree(calm.folder / "records")
    said, _, status = grader(calm)
    assert (graded_now(said), status) == ([], 0)
    assert f"{COUNT} of {COUNT} are graded already" in said
    assert tree(calm.folder / "records") == before


def test_two_runs_give_the_same_verdicts(calm):
    before = [record(calm, learner) for learner in calm.scores()]
    grader(calm, "--force", "--jobs", "1")
    assert [record(calm, learner) for learner in calm.scores()] == before


# -- what has changed ------------------------------------------------------------------------------


def change(course, learner):
    path = course.folder / "submitted" / learner / LESSON / course.released.name
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "mix":
            cell.source = "def mix(weights, values):\n    return values"
    nbformat.write(notebook, path)


def test_only_a_changed_submission_is_graded_again_and_a_dry_run_changes_nothing(course):
    grader(course)
    scores = course.scores()
    change(course, "learner-0000")
    before = tree(course.folder)
    said, _, status = grader(course, "--dry-run")
    assert tree(course.folder) == before
    assert (graded_now(said), status) == (["learner-0000"], 0)
    assert "mix: 2 -> 0" in " ".join(said.split())
    assert course.scores() == scores
    said, _, _ = grader(course)
    assert graded_now(said) == ["learner-0000"]
    assert course.scores()["learner-0000"] == scores["learner-0000"] | {"check-mix": 0.0}


def test_only_those_asked_for_are_graded(course):
    said, _, _ = grader(course, "--student", "learner-000[13]")
    assert sorted(graded_now(said)) == ["learner-0001", "learner-0003"]
    assert len(course.scores()) == 2


def test_a_submission_without_any_notebook_is_not_gradable_and_says_why(course):
    shutil.rmtree(course.folder / "submitted")
    folder = course.folder / "submitted" / "ada" / LESSON
    folder.mkdir(parents=True)
    (folder / "essay.txt").write_text("Attention is all you need.")
    said, _, status = grader(course)
    assert status == 1
    assert "There is no notebook in it, only essay.txt" in record(course, "ada").reason
    assert course.scores()["ada"] == dict.fromkeys(course.scores()["ada"])


# -- killed ----------------------------------------------------------------------------------------


def started(course, *arguments):
    command = [BIN / "grader", "autograde", LESSON, *arguments]
    return subprocess.Popen(
        command,
        cwd=course.folder,
        env=course.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("after", [1, 3])
def test_killed_and_run_again_it_ends_in_the_gradebook_of_a_calm_run(calm, course, after):
    process, lines = started(course), []
    for line in process.stdout:
        lines += graded_now(line)
        if len(lines) == after:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    said, _, status = grader(course)
    assert status == 0
    assert course.scores() == calm.scores()
    assert not set(graded_now(said)) & set(lines)
    assert set(graded_now(said)) | set(lines) <= set(calm.scores())


def test_killed_between_the_record_and_the_gradebook_nothing_is_graded_again(calm, course):
    grader(course)
    learner = "learner-0003"
    done = record(course, learner)
    path = course.folder / "records" / LESSON / learner / f"{done.notebook}.json"
    path.write_text(path.read_text().replace('"written": true', '"written": false'))
    with Gradebook(course.database, "attention") as gradebook:
        for grade in gradebook.find_submission_notebook(done.notebook, LESSON, learner).grades:
            grade.auto_score = None
        gradebook.db.commit()
    assert course.scores() != calm.scores()
    said, _, status = grader(course)
    assert (graded_now(said), status) == ([], 0)
    assert course.scores() == calm.scores()
    assert record(course, learner).written


def test_while_one_grades_another_is_refused(course):
    (course.folder / "records").mkdir()
    with open(course.folder / "records" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _, trouble, status = grader(course)
    assert status == 2
    assert trouble == "Another command grades this course right now; wait for it.\n"


def test_other_users_of_the_machine_are_not_let_in_to_the_workers():
    other = {"security": Security.temporary(), "timeout": 60, "set_as_default": False}
    with Crew(1, None) as crew, pytest.raises(OSError, match="TLS"):
        Client(crew._cluster.scheduler_address, **other)


def test_no_port_of_a_run_tells_other_users_what_it_does():
    with Crew(1, None):
        running = [psutil.Process(), *psutil.Process().children(recursive=True)]
        ports = [
            each.laddr.port
            for process in running
            for each in process.net_connections("tcp")
            if each.status == psutil.CONN_LISTEN
        ]
        assert ports
        assert not [port for port in ports if reads(f"http://127.0.0.1:{port}/health")]


def reads(address):
    try:
        return urllib.request.urlopen(address, timeout=60).read()
    except OSError:
        return None


# -- a real scheduler ------------------------------------------------------------------------------

KILLER = """
import os
from grader.classroom import worker

worker.real = work = getattr(worker, "real", worker.work)  # this is read twice

def dies(task):
    if task.outcome.student in {names}:
        open({log!r}, "a").write(task.outcome.student + " ")
        os.kill(os.getpid(), 9)
    return work(task)

worker.work = dies
"""


@contextlib.contextmanager
def cluster(folder, *options):
    """`dask scheduler` and two `dask worker` under nannies; their address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    settings = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    commands = [[*dask, "--port", port], *[[*worker, "--no-dashboard", *options]] * 2]
    processes = [subprocess.Popen(command, env=settings, **quiet) for command in commands]
    try:
        yield address
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_workers_of_a_scheduler_give_the_same_grades(calm, course, tmp_path):
    with cluster(tmp_path) as address:
        said, _, status = grader(course, "--scheduler", address)
    assert status == 0
    assert sorted(graded_now(said)) == sorted(calm.scores())
    assert course.scores() == calm.scores()


def test_a_submission_that_ends_its_worker_is_set_aside_after_three_and_the_rest_is_graded(
    calm, course, tmp_path
):
    preload, log = tmp_path / "killer.py", tmp_path / "deaths"
    preload.write_text(KILLER.format(names={"learner-0001"}, log=str(log)))
    with cluster(tmp_path, "--preload", str(preload)) as address:
        _, _, status = grader(course, "--scheduler", address)
    assert status == 1
    assert log.read_text().split() == ["learner-0001"] * 3
    assert "3 times in a row, so it was set aside" in record(course, "learner-0001").reason
    others = {name: scores for name, scores in calm.scores().items() if name != "learner-0001"}
    found = course.scores()
    assert found.pop("learner-0001") == dict.fromkeys(calm.scores()["learner-0001"])
    assert found == others


def test_a_worker_with_another_version_of_the_course_is_refused(course, tmp_path):
    preload = tmp_path / "other.py"
    preload.write_text("from grader.classroom import worker\nworker.code_version = lambda: '1'\n")
    with cluster(tmp_path, "--preload", str(preload)) as address:
        _, trouble, status = grader(course, "--scheduler", address)
    assert status == 2
    assert "has another version of the course" in trouble
    assert len(trouble.splitlines()) == 1


# -- silly input -----------------------------------------------------------------------------------

SILLY = {
    "a lesson that is not there": (["01-avraging"], "Did you mean '01-averaging'?"),
    "a learner who is not there": ([LESSON, "--student", "nobody"], "Nothing was handed in"),
    "no workers": ([LESSON, "--jobs", "0"], "'0' is no number of workers"),
    "half a worker": ([LESSON, "--jobs", "1.5"], "'1.5' is no number of workers"),
    "a cage that is not there": ([LESSON, "--cage", "soft"], "There is no cage called 'soft'"),
    "no scheduler there": (
        [LESSON, "--force", "--scheduler", "tcp://127.0.0.1:9"],
        "no Dask scheduler at tcp://127.0.0.1:9",
    ),
    "what is no address": (
        [LESSON, "--force", "--scheduler", "nowhere:x"],
        "There can be no Dask scheduler at nowhere:x",
    ),
}


@pytest.mark.parametrize(("arguments", "says"), SILLY.values(), ids=SILLY)
def test_silly_input_gets_one_line_and_status_2(calm, arguments, says):
    before = tree(calm.folder / "records")
    done = calm.run("grader", "autograde", *arguments, check=False)
    assert done.returncode == 2
    assert says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert tree(calm.folder / "records") == before


def test_a_gradebook_that_does_not_know_the_lesson_gets_one_line(course):
    (course.folder / "gradebook.db").unlink()
    _, trouble, status = grader(course)
    assert status == 2
    assert trouble.startswith("The gradebook does not know 01-averaging")
    assert len(trouble.splitlines()) == 1


def test_outside_of_a_course_it_says_where_to_go(tmp_path):
    done = subprocess.run(
        [BIN / "grader", "autograde", LESSON], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "There is no nbgrader_config.py in this folder" in done.stderr
