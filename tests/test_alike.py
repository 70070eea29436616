"""Answers that are alike: what is listed, what is not, and how it is told."""

import random
import re
import shutil
import stat
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import starmap
from pathlib import Path

import honest
import nbformat
import pytest
from honest import ANSWERS, LESSON
from pygments.lexers import PythonLexer

from benchmarks.classes import MIX, handed_in, solved
from grader.classroom.alike import compare
from grader.classroom.alike import traits as reading
from grader.classroom.alike.compare import FEWEST, MOST_SHARING, places
from grader.classroom.alike.gather import Class, HandedIn, answers_in, gather
from grader.classroom.alike.page import summary, tell
from grader.classroom.alike.traits import MOST_CHARACTERS, RUN, traits
from grader.classroom.course import Course
from grader.classroom.outcome import Outcome
from grader.classroom.settings import config_here, secrets
from grader.cli import main
from grader.verdict import Verdict

ROOT = Path(__file__).resolve().parents[1]
NAME = "query_key_value.ipynb"
#: whose style is their own; the others write as most do
SPECIAL = ("ben", "cem", "dina", "eli", "gil", "hana")
NEW_NAMES = {
    "scores": "sims", "weights": "attn_w", "attn": "probabilities", "context": "mixed", "s": "z",
    "a": "alpha", "logits": "raw", "probs": "normed", "ctx": "mean", "e": "powers", "row": "line",
    "rows": "lines", "idx": "places", "shift": "band", "scale": "factor", "d_k": "size", "i": "j",
    "eye": "ident", "q_proj": "lq", "k_proj": "lk", "v_proj": "lv", "to_q": "wq", "to_k": "wk",
    "to_v": "wv", "make": "layer", "query": "one", "key": "two", "value": "three", "d_in": "d_in",
}  # fmt: skip
MIDDLE = r"(?<=#: scaled_dot_product_attention\n)|(?=#: linear_)"
COMMENT = re.compile(r" *#(?!: )[^\n]*")


@cache
def released():
    return nbformat.read(ROOT / "notebooks" / LESSON / NAME, as_version=4)


@cache
def right():
    source = nbformat.read(ROOT / "solutions" / LESSON / NAME, as_version=4)
    return solved(released(), source)


def course(folder, notebooks):
    """A course in a folder: `notebooks` by learner were handed in."""
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    for name in ("notebooks", "solutions"):
        shutil.copytree(ROOT / name / LESSON, folder / name / LESSON)
    for learner, notebook in notebooks.items():
        place = folder / "submitted" / learner / LESSON
        place.mkdir(parents=True)
        if isinstance(notebook, str):
            (place / NAME).write_text(notebook)
        else:
            nbformat.write(notebook, place / NAME)


@pytest.fixture
def look(tmp_path, monkeypatch):
    """What there is to look at, when these notebooks are handed in as files."""

    def look(notebooks):
        course(tmp_path, notebooks)
        monkeypatch.chdir(tmp_path)
        look.found = gather(Course.here(), LESSON)
        return places(look.found)

    return look


@cache
def nothing_yet():
    source = nbformat.read(ROOT / "solutions" / LESSON / NAME, as_version=4)
    return Class.of(LESSON, [released()], [source])


@cache
def handed(learner, answers):
    return HandedIn(learner, answers_in(honest.notebook(released(), answers), released()))


def alike(answers):
    """What there is to look at, when these answers are written."""
    return places(replace(nothing_yet(), handed_in=list(starmap(handed, answers.items()))))


def notebooks(answers):
    return {learner: honest.notebook(released(), one) for learner, one in answers.items()}


def copied(answers):
    """With other names, and comments at another place."""
    new = COMMENT.sub("", answers)
    for old, name in NEW_NAMES.items():
        new = re.sub(rf"(?<![\w.\"]){old}\b(?! *=nn)|(?<=self\.){old}\b", name, new)
    comments = "".join(f"    {one.strip()}\n" for one in COMMENT.findall(answers))
    return new.replace("#: look_left\n", f"#: look_left\n{comments}")


def who(found):
    return [place.learners for place in found]


# -- what is listed --------------------------------------------------------------------------------


def test_who_wrote_it_by_themselves_is_not_listed(look):
    assert alike(ANSWERS) == look(notebooks(ANSWERS)) == []
    assert "No two of 10 answers" in summary(look.found, [])


def test_not_even_if_half_as_much_were_enough(monkeypatch):
    monkeypatch.setattr(compare, "LISTED", compare.LISTED / 2)
    assert alike(ANSWERS) == []


@pytest.mark.parametrize("learner", SPECIAL)
def test_a_copy_with_other_names_and_moved_comments_is_listed(learner):
    found = alike({**ANSWERS, "zed": copied(ANSWERS[learner])})
    assert who(found) == [(learner, "zed")]
    told = "\n".join(tell(found[0]))
    assert "words of code, names aside" in told
    assert "2 of 11 wrote any of it" in told


def test_the_usual_answer_cannot_be_told_from_a_copy_of_it():
    assert alike({**ANSWERS, "zed": copied(ANSWERS["ada"])}) == []


def test_an_unusual_answer_that_many_have_is_not_listed():
    unusual = re.split(MIDDLE, ANSWERS["hana"])[1]
    for many, listed in ((2, 1), (5, 0)):
        answers = {}
        for learner, text in ANSWERS.items():
            before, middle, after = re.split(MIDDLE, text)
            has_it = learner == "hana" or len(answers) < many - 1
            answers[learner] = before + (unusual if has_it else middle) + after
        assert len(alike(answers)) == listed


def test_three_who_have_it_from_each_other_are_one_place():
    more = {"yan": copied(ANSWERS["hana"]), "zed": ANSWERS["hana"] + "    # done\n"}
    (place,) = alike({**ANSWERS, "kim": ANSWERS["ivo"] + "    # by me\n", **more})
    assert place.learners == ("hana", "yan", "zed")
    assert len(place.pairs) == 3


SAME_WORDS = "    # a far away key must not count, says my grandmother\n"


def test_a_comment_word_for_word_is_told():
    answers = {
        learner: text.replace("#: look_left\n", f"#: look_left\n{SAME_WORDS * 2}")
        if learner in ("ada", "gil")
        else text
        for learner, text in ANSWERS.items()
    }
    unlike = SAME_WORDS.replace("far", "near").replace("grandmother", "own little head")
    answers["gil"] = answers["gil"].replace("#: project\n", f"#: project\n{unlike}")
    answers["ada"] = answers["ada"].replace("#: project\n", f"#: project\n{unlike}")
    (place,) = alike(answers)
    assert place.learners == ("ada", "gil")
    assert any("a far away key must not count says my grandmother" in line for line in tell(place))


def test_what_the_lesson_says_is_nobodys():
    said = max((c.source for c in released().cells if c.cell_type == "markdown"), key=len)
    quoted = "".join(f"    # {line}\n" for line in said.splitlines() if line)
    answers = {
        learner: text.replace("#: look_left\n", f"#: look_left\n{quoted}")
        if learner in ("ada", "gil")
        else text
        for learner, text in ANSWERS.items()
    }
    assert alike(answers) == []


def test_odd_spaces_are_a_trait_and_a_habit_is_none():
    kinds = {kind for kind, _ in traits("k = x @ W_k\nv=x@W_v\n").spans}
    assert "layout" not in kinds
    for odd in ("k = x  @ W_k", "k= x @ W_k", "k = f(x , y)", "k = x @ W_k ", "\tk = x @ W_k"):
        assert "layout" in {kind for kind, _ in traits(odd).spans}, odd
    same = [{t for t in traits(f"{k} = {k}  @ y").spans if t[0] == "layout"} for k in ("a", "bc")]
    assert same[0] == same[1]


def test_the_same_wrong_answer_that_is_no_known_mistake_counts_more():
    def handed(learner, text, wrong):
        return HandedIn(learner, {"f": text}, "", frozenset({"f"} if wrong else ()))

    text = "def f(x):\n    return x.flip(0).cumsum(1).tril(3).roll(2) - x.std() + x.mean(0) ** 3"
    others = [handed(f"l{n}", f"def f(x):\n    return x * {n}", False) for n in range(FEWEST)]
    for wrong in (False, True):
        two = [handed("ada", text, wrong), handed("bob", text + "\n    # mine", wrong)]
        found = places(Class("lesson", [*others, *two]))
        assert who(found) == ([("ada", "bob")] if wrong else [])
    assert "the same wrong answer, which is no known mistake" in tell(found[0])[0]


def test_what_is_wrong_in_no_known_way_is_read_from_the_records(look, tmp_path):
    wrong = Verdict("look_left", 0.0, 2.0, message="Something else.")
    known = Verdict("project", 0.0, 1.0, "swapped", ("swapped",), message="Swapped.")
    Outcome(LESSON, "ada", Path(NAME).stem, (wrong, known)).save(tmp_path / "records")
    look(notebooks({"ada": ANSWERS["ada"], "ben": ANSWERS["ben"]}))
    assert [one.wrong for one in look.found.handed_in] == [{"look_left"}, set()]


# -- the same to the character ---------------------------------------------------------------------


def test_two_who_handed_in_the_same_file_are_listed_however_few_they_are(look):
    (place,) = look(notebooks({"ada": ANSWERS["ada"], "zoë": ANSWERS["ada"]}))
    assert place.learners == ("ada", "zoë")
    assert tell(place)[1] == "their files are the same, byte for byte"
    assert "Fewer than 8 cannot tell what is usual" in summary(look.found, [place])


@pytest.mark.parametrize("name", ["below/a.ipynb", "a.ipynb.txt"])
def test_files_are_called_the_same_only_if_those_that_count_are(look, tmp_path, name):
    others = honest.notebook(released(), ANSWERS["ada"])
    others.metadata["by"] = "bob"
    for learner, notebook in (("ada", notebooks(ANSWERS)["ada"]), ("bob", others)):
        path = tmp_path / "submitted" / learner / LESSON / name
        path.parent.mkdir(parents=True)
        path.write_text(nbformat.writes(notebook))
        nbformat.write(released(), path.parents[name.count("/")] / "untouched.ipynb")
    (place,) = look({})
    assert place.learners == ("ada", "bob")
    assert not place.same_file


def test_short_answers_may_be_the_same_but_not_the_file():
    short = [
        HandedIn(who, {"f": "def f(x):\n    return x.mean(0)"}, file)
        for who, file in (("ada", "1"), ("bob", "2"), ("cyd", "1"), ("dan", ""), ("eve", ""))
    ]
    (place,) = places(Class("lesson", short))
    assert (place.learners, place.same_file) == (("ada", "cyd"), True)


def test_moved_cells_and_other_outputs_do_not_hide_that_answers_are_the_same(look):
    moved = honest.notebook(released(), ANSWERS["ben"])
    for cell in moved.cells:
        cell.id, cell.metadata = f"new-{random.random()}", {}
    random.Random(1).shuffle(moved.cells)
    (place,) = look({**notebooks(ANSWERS), "zed": moved})
    assert place.learners == ("ben", "zed")
    assert place.same
    assert not place.same_file


def test_a_generated_class_is_as_alike_as_it_is(look):
    chance = random.Random(0)
    kinds = {f"l{n:02}": MIX[n % len(MIX)] for n in range(16)}
    found = look({who: handed_in(kind, right(), released(), chance) for who, kind in kinds.items()})
    assert tuple(name for name, kind in kinds.items() if kind == "solved") in who(found)
    assert "untouched" not in {kinds[name] for place in found for name in place.learners}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_untouched_notebooks_are_not_answers(look, count):
    assert look(dict.fromkeys("abc"[:count], released())) == []


# -- hostile ---------------------------------------------------------------------------------------

HUGE = 10_000_000
HOSTILE = {
    "one long word": "x" * HUGE,
    "brackets": "(" * HUGE,
    "quotes": "\"'" * (HUGE // 2),
    "format strings": "f'{" * (HUGE // 3),
    "spaces": "x = 1" + " " * HUGE,
    "lines": "\n" * HUGE,
    "the same again and again": "torch.eye(T) + \\\n" * (HUGE // 17),
    "comments": "# a b c d e f g\n" * (HUGE // 16),
}


@pytest.fixture
def work(monkeypatch):
    """The characters that were read, and the words that came of them."""
    done = Counter()

    class Counting(PythonLexer):
        def get_tokens_unprocessed(self, text, stack=("root",)):
            done["characters"] += len(text)
            for token in super().get_tokens_unprocessed(text, stack):
                done["words"] += 1
                yield token

    monkeypatch.setattr(reading, "_LEXER", Counting())
    return done


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_work_on_a_text_does_not_grow_without_limit(text, work):
    found = traits(text)
    assert work["characters"] <= MOST_CHARACTERS
    assert work["words"] <= 2 * MOST_CHARACTERS
    assert sum(map(len, found.spans.values())) <= 3 * MOST_CHARACTERS


def test_a_huge_cell_is_read_up_to_a_limit_and_said_to_be_cut(look, work):
    huge = honest.notebook(released(), ANSWERS["ada"])
    (cell,) = [cell for cell in huge.cells if cell.id == "look_left"]
    cell.source = "def look_left(T):\n    return 1\n" + HOSTILE["comments"]
    look({"huge": huge})
    (line,) = look.found.left_out
    assert "only the first 10,000 were compared" in line
    assert work["characters"] < 100_000  # the lesson's own included


def test_the_work_on_a_class_does_not_grow_with_its_square():
    """Not even where hundreds conspire to have everything in common with somebody."""
    many = [
        HandedIn(f"{n}", {"f": "\n".join(f"x = {m} * {m} + {m}" for m in range(n, n + 9))})
        for n in range(400)
    ]
    pairs = [pair for place in places(Class("lesson", many)) for pair in place.pairs]
    assert len(pairs) <= 400 * MOST_SHARING


def test_what_is_no_notebook_is_left_out_with_its_reason(look):
    assert look({**notebooks(ANSWERS), "zed": "{}", "yan": ""}) == []
    assert [line.partition(":")[0] for line in look.found.left_out] == ["yan", "zed"]


# -- the command -----------------------------------------------------------------------------------


def test_the_command_lists_writes_a_page_and_nothing_else(tmp_path, monkeypatch, capsys):
    evil = f"{SAME_WORDS.rstrip()} <script>alert(1)</script>\n"
    nasty = ANSWERS["hana"].replace("    e = torch", evil + "    e = torch")
    answers = {**ANSWERS, "hana": nasty, "zed": copied(nasty)}
    course(tmp_path, notebooks(answers))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # over an older one, too
        assert main(["alike", LESSON]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    told = " ".join(re.sub("[│┃]", "", said.out).split())
    assert "1 to look at: alike in more than one would expect of 11 answers." in told
    assert "not a verdict" in told
    (made,) = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert made == tmp_path / "reports" / LESSON / "alike.html"
    assert str(made.parents[1]) in secrets(tmp_path, config_here())  # hidden from the cage
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    html = made.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    marked = " ".join(re.findall("<mark>(.*?)</mark>", html, re.DOTALL))
    assert "keepdim=True" in marked
    assert "k.shape" not in marked  # the solved lesson has it too
    assert html.count("<h2>") == 1


@pytest.mark.parametrize(
    ("lesson", "says"),
    [
        ("03-query", "No lesson '03-query' has been released"),
        (f"{LESSON}/", f"Did you mean {LESSON!r}?"),
        (LESSON, "Nothing was handed in"),
    ],
)
def test_silly_input_gets_one_line(tmp_path, monkeypatch, capsys, lesson, says):
    course(tmp_path, {})
    monkeypatch.chdir(tmp_path)
    assert main(["alike", lesson]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_a_run_is_long_enough_to_be_more_than_a_call():
    assert len(traits("torch.softmax(x, 0)").words) > RUN
    assert traits("x.mean()").spans == {}
