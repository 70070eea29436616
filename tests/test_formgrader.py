"""formgrader's Autograde button, pressed on a real Jupyter server, goes through cage and judge."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import nbformat
import pytest
from lab import ROOT, serving
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.api import Gradebook

LESSON = "01-averaging"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("bwrap"), reason="there is no bubblewrap here"
)


def environment(folder):
    """Everything of the course in its folder; the configuration is found as a user's would be."""
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JUPYTER_CONFIG_DIR": str(folder),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "COURSE_GRADEBOOK": f"sqlite:///{folder / 'gradebook.db'}",
    }


class Formgrader:
    def __init__(self, folder, address):
        self.folder, self.address = folder, address

    def ask(self, path, method="GET"):
        return json.loads(self.read(f"formgrader/api/{path}", method))

    def read(self, path, method="GET"):
        request = urllib.request.Request(
            f"{self.address}/{path}", method=method, headers={"Authorization": "token t"}
        )
        return urllib.request.urlopen(request, timeout=300).read().decode()


@pytest.fixture(scope="module")
def formgrader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formgrader")
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    shutil.copytree(ROOT / "solutions" / LESSON, folder / "solutions" / LESSON)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", LESSON]
    subprocess.run(command, cwd=folder, env=environment(folder), check=True, capture_output=True)
    for student, source in (("ada", "solutions"), ("bob", "notebooks")):
        shutil.copytree(folder / source / LESSON, folder / "submitted" / student / LESSON)
    hostile = folder / "submitted" / "eve" / LESSON
    shutil.copytree(folder / "solutions" / LESSON, hostile)
    notebook = nbformat.read(hostile / "averaging.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source += f"\n# {SCRIPT}"
    notebook.cells.append(
        new_markdown_cell(f"{SCRIPT}\n~~~\n[x](javascript:alert(1)) ![](http://x/b.png)")
    )
    notebook.cells.append(new_code_cell(f"from IPython.display import HTML\nHTML({SCRIPT!r})"))
    nbformat.write(notebook, hostile / "averaging.ipynb")
    broken = folder / "submitted" / "cyd" / LESSON
    broken.mkdir(parents=True)
    (broken / "averaging.ipynb").write_text("{}")
    extension = "{'nbgrader.server_extensions.formgrader': True}"
    command = [
        sys.executable, "-m", "jupyter", "server", "--allow-root",
        f"--ServerApp.jpserver_extensions={extension}",
    ]  # fmt: skip
    with serving(folder, lambda flags: [*command, *flags], **environment(folder)) as address:
        yield Formgrader(folder, address)


SCORES = {"ada": 7.0, "eve": 7.0, "bob": 0.0, "cyd": None}


@pytest.mark.parametrize("student", SCORES)
def test_the_button_grades_what_the_command_grades(formgrader, student):
    answer = formgrader.ask(f"submission/{LESSON}/{student}/autograde", "POST")
    assert answer["success"], answer
    with Gradebook(f"sqlite:///{formgrader.folder / 'gradebook.db'}", "attention") as gradebook:
        found = gradebook.find_submission(LESSON, student)
        scores = [grade.auto_score for notebook in found.notebooks for grade in notebook.grades]
    assert scores == [None] * 4 if SCORES[student] is None else sum(scores) == SCORES[student]
    record = formgrader.folder / "records" / LESSON / student / "averaging.json"
    assert json.loads(record.read_text())["cage"].startswith(
        "run in a cage that held (files, network"
    )


def test_the_server_still_lists_what_was_handed_in_where_it_lies(formgrader):
    (listed,) = formgrader.ask("assignments")
    assert listed["num_submissions"] == len(SCORES)


def test_what_a_learner_wrote_does_not_run_in_the_browser_of_whoever_grades(formgrader):
    with Gradebook(f"sqlite:///{formgrader.folder / 'gradebook.db'}", "attention") as gradebook:
        key = gradebook.find_submission_notebook("averaging", LESSON, "eve").id
    page = formgrader.read(f"formgrader/submissions/{key}/")
    assert "mix: right" in page  # the report of the check
    assert "alert(1)" in page  # what was written is there to read
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert not re.search(r"<img[^>]*onerror", page)
    assert not re.search(r"""(href|src)=["']?(javascript:|http://x)""", page)


def test_feedback_is_made_by_the_button_too(formgrader):
    answer = formgrader.ask(f"assignment/{LESSON}/ada/generate_feedback", "POST")
    assert answer["success"], answer
    page = formgrader.folder / "feedback" / "ada" / LESSON / "averaging.html"
    assert "Content-Security-Policy" in page.read_text()
