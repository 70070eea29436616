"""What is given away: one version everywhere, licences word for word, and a wheel that works."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

from grader import __version__

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = re.findall(
    r"^## (\d+\.\d+\.\d+) - (\S+)$(.+?)(?=^## |\Z)",
    (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
# of their words alone, however the lines are broken
LEGAL_TEXTS = {
    "LICENSE": "af0f0764eeef8212e4c4c1f2500a85fd4d6cea347ba1de270c53c2105114ada5",
    "LICENSE-CC-BY-4.0": "50a0385d4606ed02586ea82f3307d8835cf2e76f7c2b70f5e2f340bd4a1e9fb3",
}


def test_the_newest_entry_of_the_changelog_is_this_version():
    version, day, text = ENTRIES[0]
    assert version == __version__
    assert "### " in text


def test_versions_and_dates_of_the_changelog_descend():
    versions = [Version(version) for version, _, _ in ENTRIES]
    days = [date.fromisoformat(day) for _, day, _ in ENTRIES]
    assert versions == sorted(set(versions), reverse=True)
    assert days == sorted(days, reverse=True)


def test_the_citation_is_complete_and_of_this_version():
    required = {"cff-version", "message", "title", "authors"}  # of version 1.2.0 of the format
    assert required <= CITATION.keys()
    assert CITATION["cff-version"] == "1.2.0"
    assert [author["name"] for author in CITATION["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]
    assert (CITATION["version"], str(CITATION["date-released"])) == ENTRIES[0][:2]
    assert CITATION["repository-code"] == PROJECT["urls"]["Repository"]
    assert " AND ".join(CITATION["license"]) == PROJECT["license"]


@pytest.mark.parametrize("name", LEGAL_TEXTS)
def test_a_legal_text_is_word_for_word(name):
    assert name in PROJECT["license-files"]
    words = (ROOT / name).read_text(encoding="utf-8").split()
    assert sha256(" ".join(words).encode()).hexdigest() == LEGAL_TEXTS[name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The course as pip would install it, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    command = [sys.executable, "-c", build]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / done.stdout.split()[-1]


def test_the_wheel_holds_what_the_course_needs_to_run_and_no_more(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    here = f"attention_course-{__version__}"
    wanted = {
        *(f"{here}.dist-info/licenses/{name}" for name in PROJECT["license-files"]),
        f"{here}.data/data/share/jupyter/kernels/warm/kernel.json",
        f"{here}.data/data/etc/jupyter/jupyter_server_config.d/attention-course.json",
    }
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "grader").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted | package <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "grader", f"{here}.dist-info", f"{here}.data",
    }  # fmt: skip
    assert not [name for name in names if name.endswith((".ipynb", ".pyc"))]


def test_the_installed_wheel_explains_an_exercise_from_any_folder(wheel, tmp_path):
    course, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", course, wheel], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(course)}

    grader = shutil.which("grader", path=course / "bin")

    def run(*command):
        done = subprocess.run(
            command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert str(course) in run(sys.executable, "-c", "import grader; print(grader.__file__)")
    assert run(grader, "--version") == f"grader {__version__}\n"
    assert "over_axis_0" in run(grader, "explain", "softmax")
