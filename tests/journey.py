"""What a learner's journey needs: a course with its people, and hands on JupyterLab's page."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab import ROOT
from playwright.sync_api import expect

LESSON = "01-averaging"
BIN = Path(sys.executable).parent
PATIENCE = 240_000  # ms; a machine that does other things takes its time to validate
expect.set_options(timeout=PATIENCE)
KERNEL_READY = "async () => { await jupyterapp.shell.currentWidget.sessionContext.ready; }"
PLACE = "id => jupyterapp.shell.currentWidget.content.widgets.findIndex(c => c.model.id == id)"


class Course:
    """An exchange, an instructor who has released the lesson, and two learners' folders."""

    def __init__(self, folder):
        self.folder = folder
        self.exchange = folder / "exchange"
        self.exchange.mkdir()
        self.instructor = self.home("instructor")
        shutil.copytree(ROOT / "solutions" / LESSON, self.instructor / "solutions" / LESSON)
        self.command("nbgrader", "generate_assignment", LESSON)
        self.command("nbgrader", "release_assignment", LESSON)

    def home(self, name):
        home = self.folder / name
        home.mkdir()
        shutil.copy2(ROOT / "nbgrader_config.py", home)
        return home

    def checkout(self):
        """What `make lab` needs, with the environment that runs these tests as the one set up."""
        home = self.home("checkout")
        for name in ("Makefile", "pyproject.toml", "environment.yml", "constraints.txt"):
            shutil.copy2(ROOT / name, home)
        for name in ("notebooks", "solutions", "tools"):
            shutil.copytree(ROOT / name, home / name)
        environment = home / ".venv"
        environment.mkdir()
        for path in Path(sys.prefix).iterdir():
            (environment / path.name).symlink_to(path)
        (environment / "ready").unlink(missing_ok=True)
        (environment / "ready").touch()
        (home / ".conda").symlink_to(environment)
        return home

    def settings(self, home):
        """What keeps a learner's and an instructor's own files apart, all having one login here."""
        return {
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "COURSE_EXCHANGE": str(self.exchange),
            "COURSE_CAGE": "standard" if shutil.which("bwrap") else "none",
            "COURSE_PROGRESS": str(home / "progress.json"),
            "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
            "JUPYTER_DATA_DIR": str(home / ".jupyter/data"),
        }

    def command(self, program, *arguments):
        """One command of the instructor's, which must succeed."""
        done = subprocess.run(
            [BIN / program, *arguments],
            cwd=self.instructor,
            env={**os.environ, **self.settings(self.instructor)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def new_page(browser, trouble):
    """A page that adds to `trouble` what its console shows in red, and answers that are errors."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda said: said.type == "error" and trouble.append(said.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "response", lambda answer: answer.ok or answer.status < 400 or trouble.append(answer.url)
    )
    return page


def front(page):
    """The notebook that is in front."""
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")


def cell(page, name):
    """A cell of the notebook in front, by its id."""
    return front(page).locator(".jp-Notebook .jp-Cell").nth(page.evaluate(PLACE, name))


def choose(page, menu, entry):
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def type_over(page, name, code):
    """Type code over what an exercise's cell holds."""
    cell(page, name).locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(code)


def run_with_check(page):
    """The cell with the focus, then the check that follows it."""
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")


def validate(page):
    """Press Validate and give what its dialog says."""
    front(page).get_by_role("button", name="Validate").click()
    dialog = page.get_by_role("dialog").filter(has_text="Validation Results")
    dialog.get_by_role("button", name="Ok").wait_for()
    return dialog


def open_lesson(page, link, title):
    page.get_by_role("tab", name="start.ipynb").click()
    front(page).get_by_role("link", name=link).first.click()
    expect(front(page).get_by_role("heading", name=title)).to_be_visible()
    page.evaluate(KERNEL_READY)
