"""Explorers in a real JupyterLab: keys move them; saved, they are pictures without a kernel."""

from importlib.resources import files

import nbformat
import pytest
from bs4 import BeautifulSoup
from lab import CHROMIUM, RUN_ALL_AND_SAVE, lab
from nbconvert import HTMLExporter

pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it")

CELLS = [
    """import torch
from grader.widgets import heads, order_and_masks, scale_slider, which_token

tokens = ["Your", "journey", "starts", "with", "one", "step"]
x = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
                  [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])
torch.manual_seed(7)
wide = torch.randn(6, 8)""",
    "which_token(x, tokens)",
    "scale_slider()",
    "order_and_masks(x, tokens)",
    "heads(wide, tokens)",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorers")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    book.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, folder / "explorers.ipynb")
    with lab(folder) as address:
        yield folder, address


def opened(browser, address):
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/doc/tree/explorers.ipynb?token=t")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    return page


@pytest.fixture(scope="module")
def page(server, browser):
    page = opened(browser, server[1])
    page.evaluate(RUN_ALL_AND_SAVE)
    page.wait_for_function("document.querySelectorAll('.explorer img').length == 4")
    yield page
    page.close()


def changed(page, explorer, act):
    """What the picture's source and words were before and after."""
    picture = page.locator(".explorer").nth(explorer).locator("img")
    before = picture.get_attribute("src"), picture.get_attribute("alt")
    act()
    page.wait_for_function(
        """([i, src, alt]) => {
            const picture = document.querySelectorAll('.explorer img')[i];
            return picture.src != src || picture.alt != alt;
        }""",
        arg=[explorer, *before],
    )
    return before, (picture.get_attribute("src"), picture.get_attribute("alt"))


@pytest.mark.parametrize("explorer", range(4))
def test_every_control_has_a_name_and_can_be_focused(page, explorer):
    controls = page.locator(".explorer").nth(explorer).locator("input, select, button:enabled")
    assert controls.count()
    for number in range(controls.count()):
        control = controls.nth(number)
        control.focus()
        assert control.evaluate("e => e === document.activeElement")
        name = control.evaluate("e => e.ariaLabel || e.labels[0].textContent")
        assert len(name.strip()) > 3


@pytest.mark.parametrize("explorer", [0, 1, 3])
def test_an_arrow_key_on_a_slider_changes_the_picture_and_its_words(page, explorer):
    sliders = page.locator(".explorer").nth(explorer).locator("input[type=range]")
    for number in range(sliders.count()):
        slider = sliders.nth(number)
        slider.focus()
        said = slider.get_attribute("aria-valuetext")
        before, after = changed(page, explorer, lambda: page.keyboard.press("ArrowRight"))
        assert before[0] != after[0]
        assert before[1] != after[1]
        assert slider.get_attribute("aria-valuetext") != said


def test_what_changes_is_read_out_by_an_element_that_stays(page):
    status = page.locator(".explorer").first.locator("[aria-live=polite]")
    kept, words = status.element_handle(), status.text_content()
    slider = page.locator(".explorer").first.locator("input[type=range]").first
    slider.focus()
    changed(page, 0, lambda: page.keyboard.press("End"))
    assert kept.text_content() != words


def test_another_sentence_gives_other_words_to_choose_from(page):
    explorer = page.locator(".explorer").first
    sentence = explorer.locator("input[type=text]")
    sentence.focus()
    sentence.fill("one river journey")
    changed(page, 0, lambda: page.keyboard.press("Enter"))
    assert explorer.locator("option").all_text_contents() == ["one", "river", "journey"]
    assert "made up from their letters: river" in explorer.locator("[role=status]").text_content()


def test_tokens_are_put_in_order_by_keys_and_by_dragging(page):
    explorer = page.locator(".explorer").nth(2)
    words = explorer.locator(".order li")
    explorer.get_by_label("move journey left").focus()
    changed(page, 2, lambda: page.keyboard.press("Enter"))
    assert "journey" in words.first.text_content()
    changed(page, 2, lambda: words.nth(5).drag_to(words.nth(0)))
    assert "step" in words.first.text_content()
    assert explorer.locator("tbody").first.locator("th").first.text_content() == "step"


def test_who_changes_is_said_in_words(page):
    explorer = page.locator(".explorer").nth(2)
    explorer.locator("select").first.focus()
    changed(page, 2, lambda: page.keyboard.press("ArrowUp"))  # from "step", now first, to "one"
    explorer.locator("select").nth(1).focus()
    changed(page, 2, lambda: page.keyboard.press("ArrowDown"))  # the causal mask
    cells = explorer.locator("tbody").first.locator("tr td:nth-child(2)").all_text_contents()
    assert cells == ["no"] * 5 + ["yes"]


def test_the_live_form_breaks_no_rule_of_accessibility(page):
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    page.wait_for_function("document.querySelectorAll('.explorer img').length == 4")
    found = page.evaluate("async () => (await axe.run('.explorer')).violations")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []


def test_saved_and_opened_again_there_is_a_picture_and_no_error(server, browser, page):
    page.evaluate("jupyterapp.commands.execute('docmanager:save')")
    folder, address = server
    saved = nbformat.read(folder / "explorers.ipynb", as_version=4)
    assert not [o for c in saved.cells for o in c.outputs if any("widget" in m for m in o.data)]
    assert page.locator(".explorer").count() == 4  # the open page still moves
    again = opened(browser, address)
    again.wait_for_function("document.querySelectorAll('.jp-OutputArea img').length == 4")
    assert "Error displaying widget" not in again.locator(".jp-Notebook").text_content()
    again.close()


def test_without_a_kernel_and_scripts_there_are_pictures_with_words_and_tables(server, page):
    folder, _ = server
    saved = nbformat.read(folder / "explorers.ipynb", as_version=4)
    html = BeautifulSoup(HTMLExporter().from_notebook_node(saved)[0], "html.parser")
    assert len(html.select("img[alt]")) == 4
    tables = html.select("table")
    assert len(tables) >= 4
    for table in tables:
        assert table.caption.text
        assert {th["scope"] for th in table.select("th")} == {"col", "row"}
