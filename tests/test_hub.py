"""A class on a real JupyterHub: everybody a user of the machine, every step a click on a page.

Ines teaches, Ada and Bob learn, Eve is no member of the course. The journey is made once, and each
test states one law of it. Ada tries what she must not.
"""

import json
import os
import random
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from hub import GROUP, Person, hub, people, run
from lab import CHROMIUM, ROOT, keep_picture
from nbgrader.api import Gradebook

from benchmarks.classes import handed_in, solved

LESSON, NOTEBOOK = "01-averaging", "averaging.ipynb"
PROXY = Path(sys.executable).with_name("configurable-http-proxy")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of Linux"),
    pytest.mark.skipif(
        not hasattr(os, "getuid") or os.getuid() != 0,
        reason="only root can make users and start servers as them",
    ),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: `make test` names it"),
    pytest.mark.skipif(not PROXY.exists(), reason="needs the hub's proxy: `make test` installs it"),
]

# Ada hands in for Bob, in a future that makes hers the last, and for Ines, who hands in nothing.
PLANT = f"""
import os, shutil
from pathlib import Path

for name in ("bob", "ines"):
    time = "2099-01-01 00:00:00.000000 UTC"
    planted = Path(os.environ["COURSE_EXCHANGE"], "attention/inbound",
                   f"{GROUP}-{{name}}+{LESSON}+{{time}}+planted")
    shutil.copytree("{LESSON}", planted)
    (planted / "timestamp.txt").write_text(time)
    (planted / "submission_secret.txt").write_text("0" * 128)
    print("planted", end=" ")
"""

# What Ada wants to read; that root can proves that it is there.
READ = {
    "what others have handed in": "os.listdir(exchange / 'inbound')",
    "the feedback of others": "os.listdir(exchange / 'feedback')",
    "another's home": "os.listdir(bob)",
    "another's notebook, whose place she knows": "(bob / lesson / notebook).read_bytes()",
    "the solutions": "(course / 'solutions' / lesson / notebook).read_bytes()",
    "the gradebook": "(course / 'gradebook.db').read_bytes()",
    "the secret of the inputs": "(course / 'records/seed').read_bytes()",
    "the records": "os.listdir(course / 'records' / lesson)",
    "what was collected": "os.listdir(course / 'submitted')",
    "the hub's cookies": "(hub / 'jupyterhub_cookie_secret').read_bytes()",
    "the hub's database": "(hub / 'jupyterhub.sqlite').read_bytes()",
    "the token of another's server": "Path(f'/proc/{bob_server}/environ').read_bytes()",
}
# What Ada wants to do.
DO = {
    "release a lesson": "(exchange / 'outbound/00-free-points').mkdir()",
    "change a released lesson": "(exchange / 'outbound' / lesson / notebook).open('a')",
    "put another course in the place of this one": "exchange.rename(exchange.parent / 'old')",
    "take another's work away, whose place she knows": "bobs_work.rename(Path.home() / 'mine')",
    "open another's server": "ask(address, f'/user/{bob.name}/api/contents')",
    "open it at its own port": "ask(bob_address, f'/user/{bob.name}/api/contents')",
    "run code in it": "ask(address, f'/user/{bob.name}/api/kernels', 'POST')",
    "stop it": "ask(address, f'/hub/api/users/{bob.name}/server', 'DELETE')",
    "get a token for another": "ask(address, f'/hub/api/users/{bob.name}/tokens', 'POST')",
    "list who is there": "ask(address, '/hub/api/users')",
    "lead another's pages elsewhere": "ask(proxy, '/api/routes')",
}
OWN = "ask(address, f'/user/{ada.name}/api/contents')"
# The hub says 404 also of what one may not know of; of her own it says 403 or yes.
AT_HOME = {code: code.replace("bob", "ada") for code in DO.values() if "{bob.name}" in code}
TRY = """
import json, os, urllib.error, urllib.request
from pathlib import Path

def ask(address, path, method="GET"):
    mine = {"Authorization": "token " + os.environ.get("JUPYTERHUB_API_TOKEN", "")}
    request = urllib.request.Request(address + path, method=method, headers=mine)
    try:
        return urllib.request.urlopen(request, timeout=60).read()
    except urllib.error.HTTPError as error:
        raise PermissionError(error.code) if error.code in (403, 404) else error

def attempt(code):
    try:
        return f"done: {eval(code)!r:.50}"
    except Exception as error:
        return f"{type(error).__name__} {error}"

"""


class Formgrader:
    """nbgrader's pages for instructors, in a tab of their own."""

    def __init__(self, person):
        self.page = person.page.context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.goto("/hub/user-redirect/formgrader")

    def click(self, column, row="tr"):
        """An icon of a table; the title of the window that opens when its work is done."""
        self.page.click(f"{row} td.{column} a")
        said = self.page.inner_text(".modal.in .modal-title")
        self.page.click(".modal.in .modal-footer button")
        self.page.wait_for_selector(".modal", state="detached")
        return said


def press(person, button, then):
    """A button of the Assignment List, and what is to be seen when its work is done."""
    person.page.click(f".list_item button:text-is('{button}')")
    person.page.wait_for_selector(f".list_item :text('{then}')")


@dataclass
class Journey:
    """What is left when a lesson has gone from its release to the feedback."""

    ines: Person
    ada: Person
    bob: Person
    folder: Path
    address: str
    proxy: str
    said: list
    wrong: dict
    menu: list

    @property
    def course(self):
        return self.ines.home / "attention"

    @property
    def exchange(self):
        return self.folder / "exchange/attention"


@pytest.fixture(scope="module")
def journey(browser):
    with (
        tempfile.TemporaryDirectory(prefix="hub-") as folder,  # others cannot enter pytest's own
        people("ines", "ada", "bob", "eve") as (ines, ada, bob, eve),
    ):
        folder = Path(folder)
        folder.chmod(0o711)
        run("gpasswd", "--delete", eve.name, GROUP)
        ines.gets(ROOT / "solutions" / LESSON, f"attention/solutions/{LESSON}")
        ines.gets(ROOT / "nbgrader_config.py", "attention/nbgrader_config.py")
        with hub(ines, folder) as (address, proxy):
            eve.logs_in(address, browser)
            said = [eve.page.inner_text(".login_error")]
            yield walk(Journey(ines, ada, bob, folder, address, proxy, said, {}, []), browser)


def walk(journey, browser):
    ines, ada, bob, said = journey.ines, journey.ada, journey.bob, journey.said
    for person in (ines, ada, bob):
        person.logs_in(journey.address, browser)
    for person in (ines, ada, bob):
        person.arrives()
    formgrader = Formgrader(ines)
    said += [formgrader.click("assign"), formgrader.click("release")]
    keep_picture(formgrader.page, "hub-released")

    released = nbformat.read(ROOT / "notebooks" / LESSON / NOTEBOOK, as_version=4)
    right = solved(released, nbformat.read(ROOT / "solutions" / LESSON / NOTEBOOK, as_version=4))
    journey.wrong = handed_in("slip", right, released, random.Random(0))
    for student, notebook in ((ada, right), (bob, journey.wrong)):
        student.page.click("text=Nbgrader")
        items = student.page.locator(".lm-Menu-itemLabel:visible")
        journey.menu = items.all_inner_texts()
        items.filter(has_text="Assignment List").click()
        press(student, "Fetch", then="Submit")
        student.saves(f"{LESSON}/{NOTEBOOK}", notebook)
        press(student, "Submit", then="Fetch Feedback")
    said.append(ada.runs(PLANT).strip())

    said.append(formgrader.click("collect"))
    formgrader.page.click("td.num-submissions a")
    for student in (ada, bob):
        said.append(formgrader.click("autograde", f"tr:has(td:text-is('{student.name}'))"))
    keep_picture(formgrader.page, "hub-graded")
    formgrader.page.click(".breadcrumb >> text=Assignments")
    said += [formgrader.click("generate-feedback"), formgrader.click("release-feedback")]
    for student in (ada, bob):
        press(student, "Fetch Feedback", then="view feedback")
        keep_picture(student.page, f"hub-{student.name}")
    return journey


def test_every_step_of_the_instructor_succeeds(journey):
    assert journey.said[1:] == [*["Success"] * 2, "planted planted", *["Success"] * 5]


def test_the_menu_offers_no_page_that_the_hub_would_leave_empty(journey):
    assert journey.menu == ["Assignment List", "Create assignment"]


def test_who_has_a_password_but_is_not_in_the_group_is_not_let_in(journey):
    assert "Invalid username or password" in journey.said[0]


def test_everybody_gets_the_grade_of_what_they_handed_in(journey):
    with Gradebook(f"sqlite:///{journey.course / 'gradebook.db'}", "attention") as gradebook:
        found = gradebook.assignment_submissions(LESSON)
        scores = {submission.student.id: submission.score for submission in found}
    assert scores.pop(journey.ada.name) == 7
    assert 0 < scores.pop(journey.bob.name) < 7
    assert not scores  # nor has Ines, for whom Ada has handed in


def test_what_is_planted_under_another_name_does_not_take_the_place_of_their_own_work(journey):
    assert sum(path.name.endswith("planted") for path in (journey.exchange / "inbound").iterdir())
    collected = nbformat.read(
        journey.course / "submitted" / journey.bob.name / LESSON / NOTEBOOK, as_version=4
    )
    sources = [[cell.source for cell in one.cells] for one in (collected, journey.wrong)]
    assert sources[0] == sources[1]


def test_an_instructor_who_is_not_root_grades_in_the_cage(journey):
    for student in (journey.ada, journey.bob):
        record = journey.course / "records" / LESSON / student.name / "averaging.json"
        assert record.stat().st_uid == journey.ines.home.stat().st_uid
        assert json.loads(record.read_text())["cage"].startswith(
            "run in a cage that held (files, network, other processes"
        )


def test_everybody_gets_their_own_feedback_and_no_other(journey):
    shown = {}
    for student in (journey.ada, journey.bob):
        (page,) = (student.home / LESSON).rglob("*.html")
        shown[student] = re.search(r"Score: ([\d.]+) / 7", page.read_text())[1]
    assert float(shown[journey.ada]) == 7 > float(shown[journey.bob])


def test_what_a_kernel_says_goes_through_files_in_the_home_of_its_owner(journey):
    code = "import ipykernel; print(ipykernel.get_connection_info())"
    channels = json.loads(journey.bob.runs(code))
    assert channels["transport"] == "ipc"
    assert channels["ip"].startswith(f"{journey.bob.home}/")


def test_a_terminal_finds_the_commands_of_the_course(journey):
    for person in (journey.ines, journey.ada):
        assert str(PROXY.with_name("grader")) in person.types("command -v grader")


def test_links_within_the_report_stay_in_it_where_jupyterlab_shows_it(journey):
    ines, report = journey.ines, f"reports/{LESSON}/report.html"
    assert report in ines.types(f"cd attention && grader report {LESSON}")
    ines.page.evaluate(
        "path => jupyterapp.commands.execute('docmanager:open', {path})", f"attention/{report}"
    )
    shown = ines.page.wait_for_selector(".jp-HTMLViewer iframe").content_frame()
    shown.click("a:has-text('average')")
    shown.wait_for_url(re.compile("^blob:.*#"))
    assert "class report" in shown.inner_text("h1")
    keep_picture(ines.page, "hub-report")


def own_address(person):
    """Where a server listens, behind the proxy's back."""
    listening = [c for c in person.server().net_connections("tcp") if c.status == "LISTEN"]
    (port,) = {c.laddr.port for c in listening}
    return f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def attempts(journey):
    """What comes of each attempt in a kernel of Ada's own server."""
    (bobs_work,) = (
        path
        for path in (journey.exchange / "inbound").glob(f"{journey.bob.name}+*")
        if path.owner() == journey.bob.name
    )
    names = {
        "address": journey.address, "proxy": journey.proxy, "bob_server": journey.bob.server().pid,
        "bob_address": own_address(journey.bob), "ada_address": own_address(journey.ada),
        "lesson": LESSON, "notebook": NOTEBOOK,
    }  # fmt: skip
    places = {
        "exchange": journey.exchange, "course": journey.course, "hub": journey.folder / "state",
        "ada": journey.ada.home, "bob": journey.bob.home, "bobs_work": bobs_work,
    }  # fmt: skip
    given = [f"{name} = {value!r}" for name, value in names.items()]
    given += [f"{name} = Path({str(path)!r})" for name, path in places.items()]
    setting = TRY + "\n".join(given) + "\n"
    codes = [*READ.values(), *DO.values(), *AT_HOME.values(), OWN]
    said = journey.ada.runs(f"{setting}print(json.dumps({{c: attempt(c) for c in {codes!r}}}))")
    as_root = {}
    exec(f"{setting}found = {{c: attempt(c) for c in {[*READ.values()]!r}}}", as_root)
    return json.loads(said), as_root["found"]


@pytest.mark.parametrize("what", READ)
def test_a_student_cannot_read(attempts, what):
    by_ada, by_root = attempts
    assert by_root[READ[what]].startswith("done")
    assert by_ada[READ[what]].startswith("PermissionError")


@pytest.mark.parametrize("what", DO)
def test_a_student_cannot(attempts, what):
    by_ada, _ = attempts
    assert by_ada[DO[what]].startswith("PermissionError")
    if by_ada[DO[what]].endswith(" 404"):
        assert not by_ada[AT_HOME[DO[what]]].endswith(" 404")  # the address is not misspelt


def test_what_a_student_owns_opens_with_the_same_token(attempts):
    assert attempts[0][OWN].startswith("done")
