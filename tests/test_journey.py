"""A learner's journey in a real browser: `make lab`, a first wrong answer, feedback in the end.

One learner has a checkout and one only the environment and nbgrader_config.py. An instructor has
released lesson 1 into the exchange. The journey is made once, in the order of the tests.
"""

import re
import shutil
import sys

import nbformat
import pytest
from journey import (
    LESSON,
    Course,
    cell,
    choose,
    front,
    new_page,
    open_lesson,
    run_with_check,
    type_over,
    validate,
)
from lab import CHROMIUM, ROOT, keep_picture, lab, serving
from playwright.sync_api import expect

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange is not for Windows"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it"),
    pytest.mark.skipif(not shutil.which("make"), reason="make is not installed"),
]

SUM = "def average(x):\nreturn x.sum(-2, keepdim=True).expand(x.shape)"  # the editor indents
EXPOSED = "--LabApp.expose_app_in_browser=True"
RED = "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type$='.stderr']"
ALL_RAN = """() => jupyterapp.shell.currentWidget.content.widgets.every(
    cell => cell.model.type != "code" || cell.model.executionCount)"""
SAVED = "() => !jupyterapp.shell.currentWidget.context.model.dirty"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def trouble():
    """What a browser's console would show in red, and answers that are errors."""
    return []


@pytest.fixture(scope="module")
def page(course, browser, trouble):
    """The page that `make lab` would have opened in the learner's browser."""
    home = course.checkout()

    def make(flags):  # a container or a service has no SHELL
        return ["env", "-u", "SHELL", "make", "lab", f"LAB_FLAGS={' '.join([*flags, EXPOSED])}"]

    with serving(home, make, **course.settings(home)) as address:
        page = new_page(browser, trouble)
        page.goto(f"{address}/?token=t")
        yield page
        keep_picture(page, "last")  # also of a journey that ended early
        page.close()


def test_make_lab_opens_the_start_notebook(page):
    expect(front(page).get_by_role("heading", name="Start here")).to_be_visible()
    keep_picture(page, "01-start")
    assert page.url.endswith("/lab/tree/start.ipynb")


def test_run_all_reaches_the_end_of_the_untouched_lesson(page):
    open_lesson(page, "1 · Averaging", "1 · Averaging")
    keep_picture(page, "02-lesson")
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(ALL_RAN)
    for name in ("average", "uniform_weights", "mix", "running_average"):
        expect(cell(page, f"check-{name}")).to_contain_text(f"{name}: not done yet, 0 of")
    assert front(page).locator(RED).count() == 0
    keep_picture(page, "03-run-all")


def test_a_wrong_answer_is_told_what_it_computes(page):
    type_over(page, "average", SUM)
    keep_picture(page, "04-typed")
    run_with_check(page)
    report = cell(page, "check-average")
    expect(report).to_contain_text("You added the tokens up but did not divide.")
    expect(report).to_contain_text("average: not yet, 0.25 of 1 point")
    report.scroll_into_view_if_needed()
    keep_picture(page, "05-wrong")


def test_validate_sees_what_is_not_saved_yet_and_says_what_the_checks_say(page):
    dialog = validate(page)
    keep_picture(page, "06-validate-wrong")
    expect(dialog).to_contain_text("average: not yet, 0.25 of 1 point")
    expect(dialog).to_contain_text("You added the tokens up but did not divide.")
    expect(dialog).to_contain_text("mix: not done yet, 0 of 2 points")
    expect(dialog).not_to_contain_text("Partial credit")
    dialog.get_by_role("button", name="Ok").click()


def test_validate_was_no_try_so_the_next_one_opens_the_second_hint(page):
    report = cell(page, "check-average")
    report.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(report).to_contain_text("Hint 2 of")
    expect(report).not_to_contain_text("Hint 3 of")


def test_the_right_answer_earns_full_points(page):
    type_over(page, "average", SUM.replace("sum", "mean"))
    run_with_check(page)
    report = cell(page, "check-average")
    expect(report).to_contain_text("average: right, 1 of 1 point")
    expect(report).to_contain_text("1.0")
    report.scroll_into_view_if_needed()
    keep_picture(page, "07-right")


def test_validate_agrees_when_everything_is_right(page):
    solved = nbformat.read(ROOT / "solutions" / LESSON / "averaging.ipynb", as_version=4)
    for name in ("uniform_weights", "mix", "running_average"):
        (source,) = [each.source for each in solved.cells if each.id == name]
        cell(page, name).locator(".cm-content").fill(source)
        run_with_check(page)
        expect(cell(page, f"check-{name}")).to_contain_text(f"{name}: right")
    page.keyboard.press("Control+S")
    page.wait_for_function(SAVED)
    expect(validate(page)).to_contain_text("Success! Your notebook passes all the tests.")
    keep_picture(page, "08-validate-right")
    page.get_by_role("button", name="Ok", exact=True).click()


def test_the_lesson_at_hand_is_what_is_submitted_as_often_as_one_likes(page, course):
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    entries = page.locator(".lm-Menu-item:visible .lm-Menu-itemLabel").all_text_contents()
    keep_picture(page, "09-menu")
    assert [entry for entry in entries if entry] == ["Assignment List"]
    page.get_by_role("menuitem", name="Assignment List").click()
    submit = page.locator("#fetched_assignments_list").get_by_role("button", name="Submit")
    submitted = page.locator("#submitted_assignments_list .nested_list_item")
    for times in (1, 2):
        submit.click()
        expect(submitted).to_have_count(times)
    keep_picture(page, "10-submitted")
    course.command("nbgrader", "collect", LESSON)
    (work,) = course.instructor.glob(f"submitted/*/{LESSON}/averaging.ipynb")
    assert "x.mean(-2, keepdim=True)" in work.read_text(encoding="utf-8")


def test_feedback_comes_back_and_says_the_points(page, course):
    course.command("grader", "autograde", LESSON)
    course.command("nbgrader", "generate_feedback", LESSON)
    course.command("nbgrader", "release_feedback", LESSON)
    page.get_by_role("button", name="Fetch Feedback").click()
    page.get_by_text("(view feedback)").click()
    keep_picture(page, "11-fetched")
    page.get_by_role("listitem", name="averaging.html").dblclick()
    feedback = page.frame_locator(".jp-HTMLViewer iframe")
    expect(feedback.get_by_role("heading", name="averaging")).to_contain_text("Score: 7.0 / 7.0")
    expect(feedback.locator("body")).to_contain_text("running_average: right, 3 of 3 points")
    keep_picture(page, "12-feedback")


def test_in_lesson_4_keys_and_mouse_move_the_slider_and_the_picture_with_its_words(page):
    open_lesson(page, "4 · Why divide by √d_k", "Why divide")
    cell(page, "explore").locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    explorer = cell(page, "explore").locator(".explorer")
    picture, slider = explorer.locator("img"), explorer.get_by_label("d_k").first
    expect(picture).to_have_attribute("alt", re.compile("d_k = 64, .*variance of the scores"))
    slider.focus()
    before = picture.get_attribute("src")
    page.keyboard.press("ArrowRight")
    expect(picture).to_have_attribute("alt", re.compile("d_k = 128, "))
    assert picture.get_attribute("src") != before
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 3, box["y"] + box["height"] / 2)
    expect(picture).to_have_attribute("alt", re.compile("d_k = 1, "))
    expect(explorer).to_contain_text("d_k = 1, divided by 1, no scale")
    assert picture.evaluate("image => image.naturalWidth") > 400
    picture.scroll_into_view_if_needed()
    keep_picture(page, "13-slider")


def test_a_terminal_opens_among_the_lessons_and_finds_the_course(page, course):
    page.locator(".jp-BreadCrumbs-home").click()  # a terminal opens in the folder that is shown
    page.get_by_role("button", name="New Launcher").first.click()
    page.locator(".jp-LauncherCard", has_text="Terminal").click()
    told = course.folder / "checkout" / "notebooks" / "told"
    for _ in range(30):  # the shell takes its time, and what is typed before it is there is lost
        page.locator(".jp-Terminal .xterm-helper-textarea").focus()
        page.keyboard.type("command -v grader > part; mv part told\n")
        page.wait_for_timeout(2000)
        if told.exists():
            break
    keep_picture(page, "14-terminal")
    assert told.read_text().strip().endswith("bin/grader")
    assert "checkout" in told.read_text()


@pytest.fixture(scope="module")
def bare(course, browser, trouble):
    """The page of a learner who has the environment, nbgrader_config.py and nothing else."""
    home = course.home("bare")
    with lab(home, **course.settings(home)) as address:
        page = new_page(browser, trouble)
        page.goto(f"{address}/lab?token=t")
        choose(page, "Nbgrader", "Assignment List")
        yield page
        page.close()


def test_whoever_has_no_checkout_fetches_the_lesson_and_opens_it(bare):
    bare.get_by_role("button", name="Fetch", exact=True).click()
    fetched = bare.locator("#fetched_assignments_list")
    fetched.get_by_role("button", name=LESSON).click()
    keep_picture(bare, "15-fetched-lesson")
    fetched.get_by_role("link", name="averaging", exact=True).click()
    expect(front(bare).get_by_role("heading", name="1 · Averaging")).to_be_visible()
    keep_picture(bare, "16-opened-lesson")


def test_an_exchange_that_is_gone_is_said_in_plain_words(bare, course):
    course.exchange.rename(course.folder / "gone")
    said = re.compile(f"is missing or closed to you:\\s*{course.exchange}\\s*Ask where it is")
    bare.get_by_role("tab", name="Assignments").click()
    bare.get_by_role("button", name="Submit").click()
    dialog = bare.get_by_role("dialog")
    expect(dialog).to_contain_text(said)
    expect(dialog).not_to_contain_text("Traceback")
    keep_picture(bare, "17-no-exchange-submit")
    dialog.get_by_role("button", name="Ok").click()
    bare.locator("#refresh_assignments_list").click()
    expect(bare.locator("#released_assignments_list_error")).to_contain_text(said)
    keep_picture(bare, "18-no-exchange")


def test_nothing_went_wrong_behind_the_pages(page, bare, trouble):
    assert trouble == []
