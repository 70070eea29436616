"""The static site is whole without a network and without a server, and its links go somewhere."""

import subprocess
import sys
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from lab import ROOT, keep_picture

LESSONS = [path.relative_to(ROOT / "notebooks") for path in (ROOT / "notebooks").glob("*/*.ipynb")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; a warning while it is built is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "tools/site/build.py", folder]
    built = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Every page, read, by its path."""
    return {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.rglob("*.html")
        if path.parent.name != "_static"  # a piece of the theme, not a page
    }


def test_every_lesson_is_there_to_read_to_solve_and_solved(site):
    for lesson in LESSONS:
        for folder in ("notebooks", "solutions"):
            assert (site / folder / lesson).with_suffix(".html").exists()
            kept = (site / "_sources" / folder / lesson).read_bytes()
            assert kept == (ROOT / folder / lesson).read_bytes()


def test_a_solved_lesson_shows_its_code_without_marks_for_nbgrader(site, pages):
    for lesson in LESSONS:
        shown = pages[(site / "solutions" / lesson).with_suffix(".html")].get_text()
        assert "def " in shown
        assert "### " not in shown


def test_no_link_is_dead(site, pages):
    anchors = {path: {tag["id"] for tag in page.select("[id]")} for path, page in pages.items()}
    dead = []
    for path, page in pages.items():
        for tag in page.select("[href], [src]"):
            link = tag.get("href") or tag.get("src")
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:  # elsewhere: `make links`
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            lost = parts.fragment and unquote(parts.fragment) not in anchors.get(target, ())
            if not target.exists() or lost:
                dead.append(f"{path.relative_to(site)}: {link}")
    assert not dead


def test_no_page_loads_anything_from_elsewhere(pages):
    for path, page in pages.items():
        loaded = [tag.get("src", "") for tag in page.select("[src]")]
        loaded += [tag["href"] for tag in page.select("link[href]:not([rel=canonical])")]
        assert not [link for link in loaded if urlsplit(link).netloc], path


def test_every_picture_of_a_lesson_says_in_words_what_it_shows(site, pages):
    for lesson in LESSONS:
        pictures = pages[(site / "solutions" / lesson).with_suffix(".html")].select(".cell img")
        assert pictures
        assert all(len(picture["alt"]) > 20 for picture in pictures)


def test_every_formula_is_set_without_a_script(pages):
    for path, page in pages.items():
        for formula in page.select("math"):
            assert not formula.select("merror"), path
        assert "\\frac" not in "".join(part.get_text() for part in page.select("p, li")), path


def test_pages_open_from_a_folder_and_can_be_searched(site, browser):
    axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")
    lesson = (site / "solutions/04-square-root-scaling/square_root_scaling.html").as_uri()
    context = browser.new_context(color_scheme="dark", offline=True)
    page = context.new_page()
    complaints, requests = [], []
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(urlsplit(request.url).scheme))

    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="1 · Averaging").first.click()
    page.get_by_role("link", name="Solved", exact=True).click()
    page.get_by_text("average: right, 1 of 1 point").wait_for()

    page.goto(lesson)
    formula = page.locator("h1 math").bounding_box()
    assert formula["height"] > 10
    keep_picture(page, "site")
    found = axe_playwright.Axe().run(page, options={"preload": False})  # it may fetch no file
    serious = [v for v in found.response["violations"] if v["impact"] in ("serious", "critical")]
    assert not serious, found.generate_report()

    page.goto((site / "search.html").as_uri() + "?q=softmax")
    page.locator("#search-results li a").first.wait_for()
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(lesson)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()
    assert not complaints
    assert set(requests) <= {"file", "data", "blob"}
