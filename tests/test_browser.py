"""A learner's first hour: every untouched lesson, opened in JupyterLab, runs from top to bottom."""

import shutil

import nbformat
import pytest
from lab import CHROMIUM, ROOT, RUN_ALL_AND_SAVE, lab

pytest.importorskip("playwright.sync_api")

PATHS = sorted(ROOT.glob("notebooks/*/*.ipynb"))
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it")


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """A copy of the lessons and the address of a JupyterLab that shows it."""
    folder = tmp_path_factory.mktemp("lessons")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True)
    with lab(folder) as address:
        yield folder, address


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def lesson(request, lessons, browser):
    """One lesson after Run All and Save: the open page and the notebook on disk."""
    folder, address = lessons
    path = request.param.relative_to(ROOT / "notebooks")
    page = browser.new_page()
    page.goto(f"{address}/doc/tree/{path.as_posix()}?token=t")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
    page.set_default_timeout(180_000)
    page.evaluate(RUN_ALL_AND_SAVE)
    yield page, nbformat.read(folder / path, as_version=4)
    page.close()


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_every_cell_ran(lesson):
    _, notebook = lesson
    assert all(cell.execution_count for cell in code(notebook))


def test_nothing_is_red(lesson):
    _, notebook = lesson
    for cell in code(notebook):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.source
        assert not [o for o in cell.outputs if o.get("name") == "stderr"], cell.source


def test_every_check_says_not_done_yet_and_earns_nothing(lesson):
    _, notebook = lesson
    checks = [c for c in code(notebook) if c.metadata.get("nbgrader", {}).get("grade")]
    assert checks
    for cell in checks:
        report, result = cell.outputs
        assert "not done yet" in report.data["text/plain"]
        assert result.data["text/plain"] == "0.0"


def test_pictures_on_the_page_are_described(lesson):
    page, _ = lesson
    pictures = page.locator(".jp-OutputArea img")
    assert all(
        len(pictures.nth(i).get_attribute("alt") or "") > 30 for i in range(pictures.count())
    )
