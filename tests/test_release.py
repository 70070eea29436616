"""notebooks/ is what nbgrader makes of solutions/, and gives no answer away."""

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
RELEASE = ROOT / "notebooks"
NOTEBOOKS = sorted(path.relative_to(SOLUTIONS).as_posix() for path in SOLUTIONS.glob("*/*.ipynb"))
LESSONS = sorted({Path(notebook).parent.name for notebook in NOTEBOOKS})
START = "start.ipynb"  # no assignment: it is copied as it is
STUB = "raise NotImplementedError"

each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS)


def contents(folder):
    """Every file below a folder with its bytes, JupyterLab's own backups aside."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if ".ipynb_checkpoints" not in path.parts
    }


def cells(folder, notebook):
    return nbformat.read(folder / notebook, as_version=4).cells


def solution_cells(folder, notebook):
    found = cells(folder, notebook)
    return {c.id: c.source for c in found if c.metadata.get("nbgrader", {}).get("solution")}


def answers(source):
    """The parts of a solution cell that a learner has to write; all of it where none is marked."""
    marked = re.findall(r"BEGIN SOLUTION *\n(.*?)\n[ #]*END SOLUTION", source, re.DOTALL)
    return [part.strip() for part in marked or [source]]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """What two runs over the same scratch copy make, each as file names with their bytes.

    nbgrader runs in this process, with the course's configuration: sixteen commands take a minute.
    """
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(SOLUTIONS, course / "solutions")
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader calls `alembic` by name
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        patch.setenv("COURSE_GRADEBOOK", f"sqlite:///{course / 'grades.sqlite'}")
        config = PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config()
        config.CourseDirectory.root = str(course)
        nbgrader = NbGraderAPI(CourseDirectory(config=config), config=config)
        for _ in range(2):
            for lesson in LESSONS:
                done = nbgrader.generate_assignment(lesson, force=True)
                assert done["success"], done
            shutil.copy(SOLUTIONS / START, course / "notebooks")
            runs.append(contents(course / "notebooks"))
    return runs


def test_the_learners_notebooks_are_what_nbgrader_makes_byte_for_byte(generated):
    tracked = contents(RELEASE)
    assert sorted(tracked) == sorted(generated[0])
    stale = [name for name in tracked if tracked[name] != generated[0][name]]
    assert not stale, "not what `make notebooks` makes of solutions/"


def test_the_page_to_start_from_is_no_assignment():
    config = Config(CourseDirectory={"root": str(ROOT), "source_directory": "solutions"})
    found = NbGraderAPI(CourseDirectory(config=config), config=config).get_source_assignments()
    assert sorted(found) == LESSONS


def test_the_page_to_start_from_links_every_lesson_and_adds_up_its_minutes():
    text = "\n".join(cell.source for cell in cells(SOLUTIONS, START))
    rows = dict(re.findall(r"^\| \[.*?\]\((.*?)\) \|.*\| (\d+) minutes \|$", text, re.MULTILINE))
    for notebook in NOTEBOOKS:
        boxes = "\n".join(cell.source for cell in cells(SOLUTIONS, notebook))
        minutes = map(
            int, re.findall(r"^> Difficulty: .* about (\d+) minutes", boxes, re.MULTILINE)
        )
        assert rows[notebook] == str(sum(minutes))


def test_the_page_to_start_from_was_stored_without_anybodys_progress():
    outputs = [o for c in cells(SOLUTIONS, START) if c.cell_type == "code" for o in c.outputs]
    words = "\n".join(output.data["text/plain"] for output in outputs)
    assert "Next: `average` in 01-averaging" in words
    assert set(re.findall(r"done (.*?);", words)) == {"–"}


def test_generating_again_changes_no_byte(generated):
    assert generated[0] == generated[1]


def test_the_release_holds_every_notebook_and_nothing_else(generated):
    assert sorted(generated[0]) == [*NOTEBOOKS, START]


@each_notebook
def test_no_marker_of_a_solution_or_a_hidden_test_is_left(notebook):
    text = (RELEASE / notebook).read_text(encoding="utf-8")
    for marker in ["BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS"]:
        assert marker not in text


@each_notebook
def test_no_answer_is_left_in_any_cell(notebook):
    released = "\n".join(cell.source for cell in cells(RELEASE, notebook))
    for source in solution_cells(SOLUTIONS, notebook).values():
        assert not [part for part in answers(source) if part in released]


@each_notebook
def test_a_stub_stands_where_each_answer_was(notebook):
    released = solution_cells(RELEASE, notebook)
    for cell, source in solution_cells(SOLUTIONS, notebook).items():
        assert STUB in released[cell]
        assert STUB not in source


@each_notebook
def test_no_output_is_left(notebook):
    code = [cell for cell in cells(RELEASE, notebook) if cell.cell_type == "code"]
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]


@each_notebook
def test_every_cell_is_still_there_in_the_same_order(notebook):
    assert [c.id for c in cells(RELEASE, notebook)] == [c.id for c in cells(SOLUTIONS, notebook)]
