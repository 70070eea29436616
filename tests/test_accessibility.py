"""No page of the course shuts anybody out, as far as axe-core can tell (WCAG 2.1, A and AA).

Formulas are looked at as they are written: MathJax, which sets them, comes from elsewhere.
"""

from importlib.resources import files
from pathlib import Path

import pytest
from lab import CHROMIUM
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from reported import learner, results

from grader import exercises, grade
from grader.catalogue import real_bugs
from grader.classroom.alike.compare import places
from grader.classroom.alike.gather import Class as AnswersOfAClass
from grader.classroom.alike.gather import HandedIn
from grader.classroom.alike.page import page as alike_page
from grader.classroom.feedback import page as feedback_page
from grader.classroom.outcome import Outcome
from grader.classroom.report.page import page as class_report
from grader.report import as_html

pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parent.parent
LESSONS = sorted([*ROOT.glob("solutions/**/*.ipynb"), *ROOT.glob("notebooks/**/*.ipynb")])
#: places where Jupyter's own template, and not the course, breaks a rule
JUPYTERS = {
    ".jp-InputPrompt": "`In [1]:` is pale grey in JupyterLab's style sheet",
    ".jp-OutputPrompt": "and so is `Out[1]:`",
    ".jp-CodeMirrorEditor": "code is coloured by Pygments, some words of it a little too pale",
}
LAWS = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "rules": {"heading-order": {"enabled": True}},
    "resultTypes": ["violations"],
}
LOOK = """async ({leave, laws, places}) => {
    const found = await axe.run({exclude: leave.map(place => [place])}, laws);
    const nameless = [...document.querySelectorAll("img[alt^='No description has been']")];
    return [
        ...found.violations.flatMap(({id, nodes}) => nodes.map(node => ({
            rule: id, html: node.html.slice(0, 200), why: node.failureSummary,
            places: places.filter(place => document.querySelector(node.target[0]).closest(place)),
        }))),
        ...nameless.map(image => ({
            rule: "image-alt", html: image.outerHTML.slice(0, 200), why: image.alt, places: [],
        })),
    ];
}"""  # nbconvert fills in an alt text where one is missing, which axe takes for one
PLANTED = {
    "image-alt": "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
    "color-contrast": "<p><span style='color:#bbbbbb;background:#ffffff'>pale words</span></p>",
    "td-headers-attr": "<table id='t'><tr><td id='a'>1</td><td headers='none'>2</td></tr></table>",
    "link-name": "<p><a href='https://example.org'></a></p>",
    "link-in-text-block": "<p>Words and <a href='https://example.org'>a link</a> in them.</p>",
    "heading-order": "<h2>Two</h2><h5>five</h5>",
}
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it")


@pytest.fixture(scope="module")
def violations(browser):
    """What axe finds on a page of HTML, by itself or also where Jupyter's template is to blame."""
    script = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

    def look(html, leave=tuple(JUPYTERS), scheme="light"):
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.set_content(html, wait_until="domcontentloaded")
        page.evaluate(script)
        asked = {"leave": list(leave), "laws": LAWS, "places": list(JUPYTERS)}
        found = page.evaluate(LOOK, asked)
        page.close()
        return found

    context = browser.new_context()
    context.route("**/*", lambda route: route.abort())
    yield look
    context.close()


def exported(notebook, theme="light"):
    """The page that nbconvert's standard template makes."""
    return HTMLExporter(template_name="lab", theme=theme).from_notebook_node(notebook)[0]


def told(verdict):
    """A verdict as the notebook shows it, with all hints."""
    data = {"text/html": as_html(verdict, len(verdict.hints)), "text/plain": verdict.message}
    return new_code_cell(f"check({verdict.exercise!r}, ...)", outputs=[displayed(data)])


def displayed(data):
    return new_output("display_data", data=data)


@pytest.fixture(scope="module")
def verdicts():
    """One of every kind: known mistakes, right, empty, crashing, and of another shape."""

    def empty(weights, x):
        raise NotImplementedError

    def crashes(weights, x):
        return weights @ weights @ x

    known = [exercise for exercise in exercises() if exercise.lesson == "01-averaging"]
    others = [lambda weights, x: weights @ x, lambda weights, x: x.flatten(), crashes, empty]
    return [
        *(grade(exercise.name, exercise.known_wrong[0]) for exercise in known),
        *(grade("mix", other) for other in others),
    ]


@pytest.fixture(scope="module")
def reports(verdicts):
    """A notebook with a report of every kind, and the list of real bugs of a lesson."""
    lesson = "03-query-key-value"
    bugs = new_code_cell("museum(...)", outputs=[displayed({"text/markdown": real_bugs(lesson)})])
    return new_notebook(cells=[new_markdown_cell("# Reports"), *map(told, verdicts), bugs])


@pytest.mark.parametrize(
    "path", LESSONS, ids=lambda path: f"{path.relative_to(ROOT).parts[0]}-{path.stem}"
)
def test_a_lesson_breaks_no_rule(path, violations):
    assert violations(HTMLExporter(template_name="lab").from_filename(str(path))[0]) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_reports_break_no_rule_in_either_theme(theme, reports, violations):
    assert violations(exported(reports, theme)) == []


def test_the_page_that_a_learner_gets_back_breaks_no_rule(verdicts, violations):
    answers = [
        new_code_cell("def f(x):  # why\n    return 'text'", metadata={"nbgrader": mark})
        for verdict in verdicts
        for mark in (
            {"grade_id": verdict.exercise, "solution": True, "comment": "Well done."},
            {"grade_id": f"check-{verdict.exercise}", "grade": True},
        )
    ]
    outcome = Outcome("01-averaging", "ada", "averaging", tuple(verdicts), cage="caged")
    made = feedback_page(new_notebook(cells=answers), outcome, "(Score: 2.0 / 7.0)")
    assert verdicts[0].message.splitlines()[0].split(": ")[0] in made
    assert violations(made, leave=()) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_on_a_class_breaks_no_rule_in_either_theme(scheme, verdicts, violations):
    wrong = next(verdict for verdict in verdicts if verdict.exercise == "average")
    mixed = [verdict for verdict in verdicts if verdict.exercise == "mix"]
    made = results(
        *(learner(n, wrong, each, late=7200.0, seconds=1.5) for n, each in enumerate(mixed)),
        learner(8, state="not gradable", reason="The file is empty."),
    )
    shown = class_report(made, "2030-01-31")
    assert "Talk it over" in shown
    assert violations(shown, leave=(), scheme=scheme) == []


def test_the_page_of_answers_that_are_alike_breaks_no_rule(violations):
    long = "def f(x):\n" + "".join(f"    x = x * {n} + {n}  # step {n}\n" for n in range(20))
    others = [HandedIn(f"l{n}", {"f": f"def f(x):\n    return {n}"}) for n in range(8)]
    two, copied = (
        [HandedIn(who, {"f": long}) for who in ("ada", "bob")],
        long + "    # the very end of it",
    )
    found = AnswersOfAClass("01-averaging", [*others, *two, HandedIn("cyd", {"f": copied})])
    found.left_out.append("dan: nothing was handed in.")
    looked = places(found)
    assert [bool(place.same) for place in looked] == [True, False]
    assert violations(alike_page(found, looked), leave=()) == []


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_fault_of_ours_is_found(rule, violations):
    planted = new_code_cell("", outputs=[displayed({"text/html": PLANTED[rule]})])
    page = exported(new_notebook(cells=[new_markdown_cell("# One"), planted]))
    assert [found["rule"] for found in violations(page)] == [rule]


def test_what_is_left_to_jupyter_is_no_more_than_it_needs(violations):
    number = new_output("execute_result", data={"text/plain": "1.5"}, execution_count=1)
    cell = new_code_cell("1.5  # why", execution_count=1, outputs=[number])
    found = violations(exported(new_notebook(cells=[new_markdown_cell("# One"), cell])), leave=())
    assert {place for each in found for place in each["places"]} == set(JUPYTERS)
    assert {each["rule"] for each in found} == {"color-contrast"}
    assert all(each["places"] for each in found)
