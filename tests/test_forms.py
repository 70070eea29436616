"""The forms for issues: GitHub can show them, and what they ask people to type works."""

import json
import re
from pathlib import Path

import pytest
import yaml

from grader import exercises
from grader.cli import COMMANDS
from grader.exercises import find

FOLDER = Path(__file__).resolve().parents[1] / ".github/ISSUE_TEMPLATE"
FORMS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in FOLDER.glob("*.yml")
    if path.stem != "config"
}
VERDICTS = ("right-answer-rejected", "wrong-answer-passed")
each_form = pytest.mark.parametrize("name", FORMS)


@each_form
def test_a_form_has_what_github_asks_for(name):
    form = FORMS[name]
    assert form.keys() <= {"name", "description", "title", "labels", "body"}
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]+", each) for each in ids)
    for field in form["body"]:
        assert field.keys() <= {"type", "id", "attributes", "validations"}
        assert field["type"] in {"input", "textarea"}
        assert field["attributes"]["label"]
        allowed = {"label", "description"} | ({"render"} if field["type"] == "textarea" else set())
        assert field["attributes"].keys() <= allowed


def test_blank_issues_are_off_because_there_is_a_form_for_anything_else():
    assert yaml.safe_load((FOLDER / "config.yml").read_text()) == {"blank_issues_enabled": False}
    assert "bug" in FORMS


@pytest.mark.parametrize("name", VERDICTS)
def test_a_form_about_a_verdict_asks_for_exercise_code_verdict_and_version(name):
    needed = {
        field["id"] for field in FORMS[name]["body"] if field.get("validations", {}).get("required")
    }
    assert needed >= {"exercise", "code", "verdict", "version"}


@each_form
def test_the_commands_that_a_form_names_exist(name):
    text = (FOLDER / f"{name}.yml").read_text(encoding="utf-8")
    commands = re.findall(r"`grader (\S+?)[ `]", text)
    assert commands
    assert set(commands) <= {*COMMANDS, "--version"}


@pytest.mark.parametrize("name", VERDICTS)
def test_the_lines_that_a_form_gives_print_a_verdict_as_json(name, capsys):
    (asked,) = [field for field in FORMS[name]["body"] if field["id"] == "verdict"]
    lines = re.findall(r"^    (.+)$", asked["attributes"]["description"], re.MULTILINE)
    exec("\n".join(lines), {"softmax": find("softmax").right})
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["exercise"] in {exercise.name for exercise in exercises()}
    assert verdict["points"] == verdict["max_points"]
