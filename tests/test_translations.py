"""Another language is a file of sentences: what is shown follows it, what is recorded does not."""

import re
import sys
from html import escape
from pathlib import Path

import pytest
import torch
from babel.messages.pofile import read_po
from nbformat.v4 import new_notebook

from grader import exercises, grade, translate
from grader.classroom.feedback import page
from grader.classroom.outcome import Outcome
from grader.commands.check import _table
from grader.report import as_html, as_text
from grader.results import Result
from grader.translate import FOLDER, PLACE, say

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from messages import messages, template_file, written

LESSONS = ("01-averaging", "02-dot-product-weights")
PATHS = sorted(FOLDER.glob("*.po"))
ENGLISH = set(
    "the and you your which what with are not is to of it its that this from for they where how "
    "many much on each every row rows column came back expected right wrong numbers there here "
    "should does did by than only into when has have had no step points hint".split()
)
#: what Python or torch say of an error is theirs
RAISED = re.compile(r"raised (\w+Error: .+?)(?: \(on [^()]*\))?\.(?= |$)", re.MULTILINE)
each_exercise = pytest.mark.parametrize(
    "exercise", [e for e in exercises() if e.lesson in LESSONS], ids=lambda e: e.name
)
each_catalogue = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def crashing(*args):
    raise ValueError("keep out. Mine")


def empty(*args):
    raise NotImplementedError


def answers(exercise):
    """Right, known mistakes and some pairs of them, and what else people hand in."""

    def changed(change):
        def answer(*args):
            made = exercise.right(*args)
            return tuple(map(change, made)) if isinstance(made, tuple) else change(made)

        return answer

    pairs = list(exercise.pairs())
    yield from (exercise.right, *exercise.known_wrong, *pairs[:: max(1, len(pairs) // 5)])
    yield from (crashing, empty, 3, torch.zeros(2))
    for silly in (None, "text", {}, [1.0, 2.0], (1, 2, 3), torch.tensor(1.0), torch.zeros(3, 4, 5)):
        yield lambda *args, silly=silly: silly
    yield from map(
        changed,
        (
            lambda x: 2 * x,
            lambda x: x + 1,
            lambda x: x.double(),
            lambda x: x.detach(),
            lambda x: x.unsqueeze(0),
            lambda x: x.flatten(),
            lambda x: x.flip(-1),
            lambda x: x * torch.rand(()),
            lambda x: x * torch.nan,
            lambda x: x[..., :1],
        ),
    )
    yield lambda *args: args[0] @ args[0]
    yield lambda *args: args[0] + torch.zeros(3, 2)
    yield lambda *args: args[0].sum(5)


@pytest.fixture
def german(monkeypatch):
    monkeypatch.setenv("COURSE_LANGUAGE", "de")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for catalogues in place of the course's own."""
    monkeypatch.setattr(translate, "FOLDER", tmp_path)
    translate._catalogue.cache_clear()
    yield tmp_path
    translate._catalogue.cache_clear()


def english_in(text, verdict=None):
    """The English words of a text, leaving out code and what an error said."""
    text = re.sub(r"<[^>]+>", " ", text)
    for error in RAISED.findall(verdict.message) if verdict else ():
        text = text.replace(error, "").replace(escape(error, quote=False), "")
    code = r"`[^`]*`|\S*[_.(]\w\S*|ValueError: keep out\. Mine"
    return {word.lower() for word in re.findall(r"\w+", re.sub(code, " ", text))} & ENGLISH


# -- lessons 1 and 2 in German ---------------------------------------------------------------------


@each_exercise
def test_whatever_is_answered_in_lessons_1_and_2_is_told_in_german(exercise, german):
    sources = [m for m in messages() if len(m.split()) > 3 and not PLACE.search(m)]
    for answer in answers(exercise):
        verdict = grade(exercise.name, answer)
        for told in (as_text(verdict, 9), as_html(verdict, 9, picture=False)):
            assert not english_in(told, verdict), told
            assert not [source for source in sources if source in told], told


def test_the_picture_of_the_numbers_is_described_in_german(german):
    told = as_html(grade("mix", lambda weights, x: weights.mT @ x))
    (alt,) = re.findall(r'<img alt="([^"]+)"', told)
    assert not english_in(alt), alt
    assert alt.startswith("Ergebnis bei 4×4 und 4×4. deine: 4 Zeilen mal 4 Spalten, Werte von ")
    assert told.startswith("<div lang='de' ")


def test_what_a_learner_wrote_stays_as_it_is(german):
    told = as_text(grade("mix", crashing))
    assert "Dein Code hat ValueError: keep out. Mine ausgelöst (bei jeder Eingabe)." in told


def test_the_command_line_speaks_german(german):
    verdict = grade("mix", crashing)
    table = _table([Result("mix", 0.0, 2.0, verdict.message, verdict)], 0.0, 2.0)
    told = [cell for column in table.columns for cell in (column.header, *column.cells)]
    assert "Was wir sehen: Dein Code hat ValueError: keep out. Mine ausgelöst" in " ".join(told)
    assert not english_in(" ".join(told))


def test_the_page_that_a_learner_gets_back_is_in_german_and_says_so(german):
    made = page(new_notebook(), Outcome(LESSONS[0], "ada", "a", reason="?", cage=""), "")
    assert '<html lang="de">' in made
    assert "Das kostet nichts: Es sind nicht null Punkte." in made


# -- English stays as it is ------------------------------------------------------------------------


@each_exercise
def test_english_is_what_it_is_without_any_catalogue(exercise, monkeypatch):
    verdicts = [grade(exercise.name, answer) for answer in answers(exercise)]
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.delenv("COURSE_LANGUAGE", raising=False)
    shown = [(as_text(v, 9), as_html(v, 9, picture=False)) for v in verdicts]
    monkeypatch.setattr("grader.report.say", lambda text: text)
    assert shown == [(as_text(v, 9), as_html(v, 9, picture=False)) for v in verdicts]


def test_a_verdict_is_recorded_in_english(german):
    verdict = grade("mix", lambda weights, x: weights.mT @ x)
    assert verdict.message.startswith("What you computed: weightsᵀ x")
    assert dict(verdict.properties)["right values"] is False


# -- the files -------------------------------------------------------------------------------------


def test_the_template_holds_every_message_of_the_code():
    """If not, run `make messages`."""
    assert (FOLDER / "messages.pot").read_text(encoding="utf-8") == written(template_file())


@each_catalogue
def test_a_catalogue_has_no_message_that_the_course_does_not_have(path):
    with path.open("rb") as file:
        assert {entry.id for entry in read_po(file) if entry.id} <= set(messages())


@each_catalogue
def test_a_translation_keeps_every_place_of_its_template(path):
    with path.open("rb") as file:
        translated = [entry for entry in read_po(file) if entry.id and entry.string]
    assert translated
    for entry in translated:
        assert set(PLACE.findall(entry.string)) == set(PLACE.findall(entry.id)), entry.id


# -- any language ----------------------------------------------------------------------------------


def test_a_new_language_is_one_new_file(folder, monkeypatch):
    (folder / "eo.po").write_text(
        'msgid "Think about"\nmsgstr "Pripensu"\n\n'
        'msgid "On {label}, your numbers are {away}."\nmsgstr "Viaj nombroj: {away} ({label})."\n\n'
        'msgid "some of them NaN or infinite"\nmsgstr "iuj nefinia"\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("COURSE_LANGUAGE", "eo")
    assert say("Think about") == "Pripensu"
    assert say("On 5×3, your numbers are some of them NaN or infinite. Why?") == (
        "Viaj nombroj: iuj nefinia (5×3). Why?"
    )
    assert say("No translation of this.\nThink about") == "No translation of this.\nPripensu"


@pytest.mark.parametrize("language", ["xx", "../de", "de_DE"])
def test_an_unknown_language_is_one_line_that_names_those_there_are(language, monkeypatch, capsys):
    translate._catalogue.cache_clear()
    monkeypatch.setenv("COURSE_LANGUAGE", language)
    assert [say("Not done yet."), say("Think about")] == ["Not done yet.", "Think about"]
    line = f"COURSE_LANGUAGE is {language!r}, which the course does not speak; it has: de, en.\n"
    assert capsys.readouterr().out == line


@pytest.mark.parametrize("broken", [b"\xff\xfe", b'msgid "a\nmsgstr', b'msgstr "a"'])
def test_a_broken_catalogue_is_one_line_and_english(broken, folder, monkeypatch, capsys):
    (folder / "eo.po").write_bytes(broken)
    monkeypatch.setenv("COURSE_LANGUAGE", "eo")
    assert say("Not done yet.") == "Not done yet."
    assert capsys.readouterr().out.count("\n") <= 1
