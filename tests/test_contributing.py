"""CONTRIBUTING.md is followed to the letter, in a copy of the checkout, and keeps its promise."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))
ADD, REPORT = SECTIONS["Add an exercise"], SECTIONS["From a report to a test"]
FILE = re.search(r"^\*\*`(.+?)`\*\*$", ADD, re.MULTILINE)[1]
NOTEBOOK = re.search(r"Open `(solutions/.+?)`", ADD)[1]
NAME = Path(FILE).stem
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "_site", "*.db")
LEFT_BEHIND = re.compile(r"(^|/)(\.|__pycache__)|\.db$")

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("make"), reason="the guide needs a shell and make"
)


def blocks(section, language):
    """The fenced blocks of one language, in order."""
    fence = rf"^```{language}\n(.*?)^```$"
    return [text.rstrip("\n") for text in re.findall(fence, section, re.MULTILINE | re.DOTALL)]


class Copy:
    """A copy of the checkout, in which the guide's commands mean the copy."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        self.copied = self.contents()

    def run(self, command):
        environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONPATH": str(self.folder),
            "MAKEFLAGS": f"-- READY= PYTHON={sys.executable}",  # the environment that is there
        }
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def read(self, path):
        return (self.folder / path).read_text(encoding="utf-8")

    def contents(self):
        """Every file with its bytes; what programs leave behind for themselves aside."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        found = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}
        return {name: of for name, of in found.items() if not LEFT_BEHIND.search(name)}

    def changed(self):
        """The files that are not as they were copied."""
        return {name for name, of in self.contents().items() if self.copied.get(name) != of}


def add_cells(path):
    """The three cells of the guide, as JupyterLab and its panel Create Assignment make them."""
    box, answer, test = *blocks(ADD, "markdown"), *blocks(ADD, "python")[1:]
    ids, points = re.findall(r"the ID `(.+?)`", ADD), re.search(r"and (\d+) point", ADD)[1]
    nothing = {"grade": False, "solution": False, "locked": False, "task": False}
    ours = nothing | {"schema_version": 3, "solution": True, "grade_id": ids[0]}
    locked = {"grade": True, "locked": True, "points": int(points), "grade_id": ids[1]}
    notebook = nbformat.read(path, as_version=4)
    above = re.search(r"three cells below\s+`(.+?)`", ADD)[1]
    place = [cell.source for cell in notebook.cells].index(above) + 1
    notebook.cells[place:place] = [
        new_markdown_cell(box),
        new_code_cell(answer, metadata={"nbgrader": ours}),
        new_code_cell(test, metadata={"nbgrader": ours | locked | {"solution": False}}),
    ]
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("contributor") / "course")


@pytest.fixture(scope="module")
def followed(copy):
    """The copy after all of "Add an exercise": what was touched by hand, and what was printed."""
    (copy.folder / FILE).write_text(blocks(ADD, "python")[0] + "\n", encoding="utf-8")
    add_cells(copy.folder / NOTEBOOK)
    by_hand = copy.changed()
    commands = "\n".join(blocks(ADD, "sh")).replace("\\\n", "").splitlines()
    return by_hand, {command: copy.run(command) for command in commands}


def test_an_exercise_is_one_file_and_one_notebook(followed):
    by_hand, _ = followed
    assert by_hand == {FILE, NOTEBOOK}


def test_the_commands_make_the_rest_and_nothing_else(followed, copy):
    translations = ROOT.glob("grader/translations/*.po*")
    assert copy.changed() <= {
        FILE, NOTEBOOK, NOTEBOOK.replace("solutions", "notebooks"), "docs/mistakes.md",
        "solutions/start.ipynb", "notebooks/start.ipynb",
        *(path.relative_to(ROOT).as_posix() for path in translations),
    }  # fmt: skip
    assert f"### {NAME}" in copy.read("docs/mistakes.md")
    assert f"#. {FILE}" in copy.read("grader/translations/messages.pot")


def test_the_proof_was_run_and_the_exercise_is_solved_and_explained(followed):
    _, printed = followed
    tests = [said for command, said in printed.items() if "pytest" in command]
    assert all(re.search(r"^\d+ passed", said, re.MULTILINE) for said in tests)
    (checked,) = [said for command, said in printed.items() if command.startswith("grader check")]
    assert re.search(rf"{NAME}\W+1 of 1\W+Right", checked)
    (told,) = [said for command, said in printed.items() if command.startswith("grader explain")]
    assert all(f"• {name} " in told for name in re.findall(r"wrong\(.*\ndef (\w+)", ADD))


def test_learners_get_the_stub_in_cells_with_readable_ids(followed, copy):
    notebook = nbformat.reads(copy.read(NOTEBOOK.replace("solutions", "notebooks")), as_version=4)
    cells = {cell.id: cell.source for cell in notebook.cells}
    assert list(cells)[list(cells).index(f"{NAME}-box") :][:3] == [
        f"{NAME}-box", NAME, f"check-{NAME}",
    ]  # fmt: skip
    assert cells[NAME].endswith("raise NotImplementedError")


def test_a_reported_answer_gives_the_verdict_that_was_reported(copy):
    (command,) = blocks(REPORT, "sh")
    answer = "import torch\n\ndef softmax(scores):\n    return torch.exp(scores)\n"
    (copy.folder / "answer.py").write_text(answer)
    verdict = json.loads(copy.run(command))
    (copy.folder / "answer.py").unlink()
    assert (verdict["exercise"], verdict["misconception"]) == ("softmax", "exp_alone")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"])
def test_what_a_page_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    paths = re.findall(r"\]\(([^):]+)\)|`((?:docs|grader|solutions|tests|tools)/[\w./-]*)`", text)
    for path in {linked or named for linked, named in paths} - {FILE}:
        assert (ROOT / path).exists(), path
    for command in re.findall(r"(?:^|`|    )make ([a-z -]+)", text, re.MULTILINE):
        assert set(command.split()) <= set(targets), command
