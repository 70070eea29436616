"""Collecting follows no link, with nbgrader's own command on a real exchange folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LESSON = "01-averaging"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange there")


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The folder submitted/ after an honest, a linking, a linked and a piping submission."""
    course = tmp_path_factory.mktemp("course")
    inbound = course / "exchange" / "attention" / "inbound"
    inbound.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copytree(ROOT / "solutions" / LESSON, course / "solutions" / LESSON)
    solved = course / "solutions" / LESSON / "averaging.ipynb"

    def hand_in(student):
        folder = inbound / f"{student}+{LESSON}+2026-11-30 08:00:00 UTC+x"
        folder.mkdir()
        (folder / "timestamp.txt").write_text("2026-11-30 08:00:00 UTC")
        return folder

    honest = hand_in("ada")
    shutil.copy(ROOT / "notebooks" / LESSON / "averaging.ipynb", honest)
    (honest / "data").mkdir()
    (honest / "data" / "x.csv").write_text("1")
    linking = hand_in("bob")
    (linking / "averaging.ipynb").symlink_to(solved)
    (linking / "folder").symlink_to(course / "solutions")
    (linking / "nowhere").symlink_to("/nowhere")
    (inbound / f"cyd+{LESSON}+2026-11-30 08:00:00 UTC+x").symlink_to(honest)
    piping = hand_in("dan")
    os.mkfifo(piping / "averaging.ipynb")
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JUPYTER_CONFIG_DIR": str(course),
        "COURSE_EXCHANGE": str(course / "exchange"),
        "COURSE_GRADEBOOK": f"sqlite:///{course / 'gradebook.db'}",
    }
    command = [sys.executable, "-m", "nbgrader", "collect", LESSON]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return course / "submitted"


def test_everybody_is_collected(collected):
    assert sorted(path.name for path in collected.iterdir()) == ["ada", "bob", "cyd", "dan"]


def test_honest_files_are_copied(collected):
    here = collected / "ada" / LESSON
    assert {"averaging.ipynb", "timestamp.txt", "data"} <= {path.name for path in here.iterdir()}
    assert (here / "data" / "x.csv").read_text() == "1"


def test_a_link_stays_a_link_so_that_intake_can_refuse_it(collected):
    for name in ("averaging.ipynb", "folder", "nowhere"):
        assert (collected / "bob" / LESSON / name).is_symlink()


def test_a_folder_that_is_a_link_brings_nothing(collected):
    assert list((collected / "cyd" / LESSON).iterdir()) == []


def test_a_pipe_stays_behind(collected):
    assert [path.name for path in (collected / "dan" / LESSON).iterdir()] == ["timestamp.txt"]
