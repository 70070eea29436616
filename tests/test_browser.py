"""A learner's first hour: every untouched lesson, opened in JupyterLab, runs from top to bottom."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import nbformat
import pytest

playwright = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parent.parent
PATHS = sorted(ROOT.glob("notebooks/*/*.ipynb"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# The commands behind Run > Run All Cells and File > Save; each ends when its work is done.
RUN_ALL_AND_SAVE = """async () => {
    await jupyterapp.shell.currentWidget.sessionContext.ready;
    await jupyterapp.commands.execute("notebook:run-all-cells");
    await jupyterapp.commands.execute("docmanager:save");
}"""
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it")


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """A copy of the lessons and the address of a JupyterLab that shows it."""
    folder = tmp_path_factory.mktemp("lessons")
    shutil.copytree(ROOT / "notebooks", folder, dirs_exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["-m", "jupyterlab", "--no-browser", f"--port={port}", "--IdentityProvider.token=t"]
    command.append("--LabApp.expose_app_in_browser=True")
    if hasattr(os, "getuid") and os.getuid() == 0:
        command.append("--allow-root")
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, *command, f"--ServerApp.root_dir={folder}"], stdout=log, stderr=log
        )
    try:
        wait_for(server, f"http://127.0.0.1:{port}/api")
        yield folder, f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def wait_for(server, url):
    """Until the server answers; urllib itself waits for the port, refusals are tried again."""
    while server.poll() is None:
        try:
            return urllib.request.urlopen(url, timeout=60)
        except OSError:
            try:
                server.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
    raise RuntimeError("JupyterLab did not start")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


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
