"""Predictions and lines to order in JupyterLab, with nothing but a keyboard."""

import json
import re

import nbformat
import pytest
from lab import CHROMIUM, lab
from nbformat.v4 import new_code_cell, new_notebook

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it")
# Each ends with a cell that is not run: a new one would take the focus.
LESSONS = {
    "04-square-root-scaling": [
        "from grader.lesson import predict, reveal",
        'predict("sum", "What is the variance of the sum?", ["1", "4", "16", "256"])',
        'reveal("sum", right="16", because={"256": "They partly cancel."})',
    ],
    "05-order-and-cost": ["from grader.lesson import remember\nremember()", ""],
    "02-dot-product-weights": [
        "from grader.lesson import order_lines",
        'order_lines("dot_product_attention", ["weights = torch.softmax(scores, dim=-1)",'
        ' "scores = x @ x.mT", "weights = torch.softmax(scores, dim=-2)",'
        ' "return weights @ x, weights"])',
        "",
    ],
}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
READY = "async () => { await jupyterapp.shell.currentWidget.sessionContext.ready; }"
RAN = re.compile(r"\[\d+\]:")
FOCUSED = """() => {
    const at = document.activeElement;
    return at.labels?.length ? at.labels[0].innerText : at.innerText;
}"""


@pytest.fixture(scope="module")
def course(tmp_path_factory, browser):
    """A JupyterLab on three short lessons, the browser, and the learner's file."""
    folder = tmp_path_factory.mktemp("lessons")
    for name, sources in LESSONS.items():
        (folder / name).mkdir()
        notebook = new_notebook(cells=[*map(new_code_cell, sources)], metadata=KERNEL)
        nbformat.write(notebook, folder / name / "lesson.ipynb")
    kept = folder / "progress.json"
    with lab(folder, COURSE_PROGRESS=str(kept)) as address:
        yield address, browser, kept


@pytest.fixture
def opened(course):
    """Opens a lesson and gives its page, with the focus on the first cell."""
    address, chromium, _ = course
    context = chromium.new_context()

    def open_lesson(name):
        page = context.new_page()
        page.set_default_timeout(90_000)
        page.goto(f"{address}/doc/tree/{name}/lesson.ipynb?token=t&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.evaluate(READY)
        return page

    yield open_lesson
    context.close()


def run_cells(page, first, last):
    """Run these cells, and wait for each to end."""
    for number in range(first, last + 1):
        page.keyboard.press("Shift+Enter")
        prompts = page.locator(".jp-InputArea-prompt")
        playwright.expect(prompts.nth(number)).to_have_text(RAN, timeout=90_000)


def tab_to(page, words):
    """Press Tab until what is called so has the focus."""
    for _ in range(100):
        page.keyboard.press("Tab")
        if (page.evaluate(FOCUSED) or "").strip() == words:
            return
    raise AssertionError(f"Tab never comes to {words!r}")


def heard(page, words):
    """A screen reader is told so."""
    page.get_by_role("alert").get_by_text(words).first.wait_for()


def test_what_was_sure_and_wrong_is_asked_again_in_the_next_lesson(opened, course):
    page = opened("04-square-root-scaling")
    run_cells(page, 0, 1)
    tab_to(page, "d) 256")
    page.keyboard.press("Space")
    tab_to(page, "sure")
    page.keyboard.press("Space")
    tab_to(page, "Keep this answer")
    page.keyboard.press("Enter")
    heard(page, "Kept: d) 256, sure.")
    page.keyboard.press("Escape")
    run_cells(page, 1, 2)
    page.get_by_text("You said d) 256, sure.").last.wait_for()
    page.get_by_text("Why not d) 256? They partly cancel.").wait_for()
    assert "sum" in json.loads(course[2].read_text())["again"]

    page = opened("05-order-and-cost")
    run_cells(page, 0, 0)
    tab_to(page, "c) 16")
    page.keyboard.press("Space")
    tab_to(page, "Answer")
    page.keyboard.press("Enter")
    heard(page, "You say c) 16: right now.")
    assert json.loads(course[2].read_text())["again"] == {}


def test_lines_are_put_in_order(opened):
    page = opened("02-dot-product-weights")
    run_cells(page, 0, 1)
    tab_to(page, "2. scores = x @ x.mT")
    page.keyboard.press("Space")
    tab_to(page, "Up")
    page.keyboard.press("Enter")
    heard(page, "1. scores = x @ x.mT")
    tab_to(page, "Try")
    page.keyboard.press("Enter")
    heard(page, "dot_product_attention: not yet")
    tab_to(page, "2. weights = torch.softmax(scores, dim=-1)")
    page.keyboard.press("Space")
    tab_to(page, "Leave out or take in")
    page.keyboard.press("Enter")
    heard(page, "left out. weights = torch.softmax(scores, dim=-1)")
    tab_to(page, "Try")
    page.keyboard.press("Enter")
    heard(page, "Your softmax runs over the queries")
