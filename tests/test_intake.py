"""Whatever a learner hands in: it is taken, or refused with a sentence to act on; and the machine's
own failures are not the learner's."""

import codecs
import copy
import gc
import io
import json
import os
import resource
import socket
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grader.classroom.folder import MOST_ENTRIES
from grader.classroom.intake import MOST_BYTES, take_in
from grader.classroom.restore import restore

ROOT = Path(__file__).parent.parent
SOLVED = sorted(ROOT.glob("solutions/*/*.ipynb"))
RELEASED = ROOT / "notebooks/01-averaging/averaging.ipynb"
OTHER = ROOT / "solutions/02-dot-product-weights/dot_product_weights.ipynb"
ANSWERS = (ROOT / "solutions/01-averaging/averaging.ipynb").read_text(encoding="utf-8")
UNTOUCHED = nbformat.read(RELEASED, as_version=4)
RESTORED = restore(nbformat.reads(ANSWERS, as_version=4), UNTOUCHED)[0]


@pytest.fixture
def folder(tmp_path):
    """What a learner hands in; filled by `put`."""
    folder = tmp_path / "01-averaging"
    folder.mkdir()
    return folder


@pytest.fixture
def put(folder):
    def put(name, content):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


def taken(folder):
    """Takes the folder in, as the solved notebook; the result is the remarks."""
    before = {path: path.lstat() for path in folder.rglob("*")}
    result = take_in(folder, RELEASED)
    assert result.refused == ""
    assert result.notebook == RESTORED
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == {
        path: about.st_mtime_ns for path, about in before.items()
    }
    return result.remarks


def refused(folder):
    """Takes the folder in, which is refused; the result is why."""
    result = take_in(folder, RELEASED)
    assert result.notebook == UNTOUCHED
    assert result.refused.isprintable()
    assert result.refused.endswith(".")
    assert len(result.refused) < 400
    return result.refused


def changed(answer, name="average"):
    """The solved notebook with another answer to one exercise."""
    notebook = nbformat.reads(ANSWERS, as_version=4)
    next(cell for cell in notebook.cells if cell.id == name).source = answer
    return nbformat.writes(notebook)


def other_answer():
    return changed("def average(x):\n    return x * 0")


# --- one notebook ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)
def test_a_solved_lesson_is_taken_as_it_is(path):
    released = ROOT / "notebooks" / path.parent.name / path.name
    result = take_in(path.parent, released)
    solved = nbformat.read(path, as_version=4)
    assert [cell.source for cell in result.notebook.cells] == [c.source for c in solved.cells]
    assert (result.remarks, result.refused) == ((), "")


@pytest.mark.parametrize(
    "name",
    ["Averaging (1).ipynb", "averaging.IPYNB", "averaging.ipynb.txt", "averaging.ipynb.json"]
    + ["averaging.json", "my work.txt", "averaging-Copy1.ipynb", "a\nb\x1b[2J.ipynb", "a" * 240],
)
def test_a_lone_notebook_is_taken_whatever_its_name(folder, put, name):
    put(name if "." in name else f"{name}.ipynb", ANSWERS)
    (remark,) = taken(folder)
    assert remark.endswith("was taken as averaging.ipynb.")
    assert remark.isprintable()
    assert len(remark) < 100


@pytest.mark.parametrize("name", ["averaging.ipynb", "a/averaging.ipynb", "a/b/averaging.ipynb"])
def test_a_notebook_in_a_folder_is_found(folder, put, name):
    put(name, ANSWERS)
    assert taken(folder) == ()


def test_a_notebook_four_levels_down_is_not_found(folder, put):
    put("a/b/c/averaging.ipynb", ANSWERS)
    assert "no file" in refused(folder)


@pytest.mark.parametrize("name", [".ipynb_checkpoints/averaging-checkpoint.ipynb", ".a.ipynb"])
def test_what_is_hidden_does_not_count(folder, put, name):
    put(name, other_answer())
    assert "no file" in refused(folder)
    put("averaging.ipynb", ANSWERS)
    assert taken(folder) == ()


def test_a_lone_notebook_without_any_exercise_is_taken(folder, put):
    put("averaging.ipynb", nbformat.writes(new_notebook(cells=[new_code_cell("x = 1")])))
    result = take_in(folder, RELEASED)
    assert result.refused == ""
    assert len(result.notebook.cells) == len(UNTOUCHED.cells) + 1


def test_remarks_of_what_was_put_back_are_passed_on(folder, put):
    put("averaging.ipynb", nbformat.writes(new_notebook()))
    assert "The check of mix was missing; it was put back." in take_in(folder, RELEASED).remarks


# --- several notebooks ----------------------------------------------------------------------------


def test_a_copy_without_answers_is_left_out(folder, put):
    put("averaging.ipynb", RELEASED.read_bytes())
    put("averaging-Copy1.ipynb", ANSWERS)
    remarks = taken(folder)
    assert "averaging.ipynb was left out: it holds no answers." in remarks


def test_a_copy_with_the_same_answers_is_left_out(folder, put):
    put("averaging.ipynb", ANSWERS)
    put("Averaging-Copy1.ipynb", ANSWERS.replace("\\n", "  \\n"))
    assert taken(folder) == ("Averaging-Copy1.ipynb was left out: it holds the same answers.",)


def test_copies_of_the_untouched_notebook_are_taken_as_one(folder, put):
    put("averaging.ipynb", RELEASED.read_bytes())
    put("b.ipynb", RELEASED.read_bytes())
    assert take_in(folder, RELEASED).notebook == UNTOUCHED


@pytest.mark.parametrize(
    "scratch", [nbformat.writes(new_notebook(cells=[new_code_cell("x = 1")])), OTHER.read_text()]
)
def test_a_notebook_of_something_else_is_left_out(folder, put, scratch):
    put("averaging.ipynb", ANSWERS)
    put("a.ipynb", scratch)
    assert taken(folder) == ("a.ipynb was left out: it holds nothing of this lesson.",)


def test_two_notebooks_with_different_answers_are_refused_by_name(folder, put):
    put("averaging.ipynb", ANSWERS)
    put("b\x1b" + "x" * 200 + ".ipynb", other_answer())
    why = refused(folder)
    assert "averaging.ipynb" in why
    assert "xxx.ipynb" in why
    assert "only the one" in why


def test_an_answer_in_another_cell_makes_a_difference_too(folder, put):
    notebook = nbformat.reads(ANSWERS, as_version=4)
    notebook.cells.append(new_code_cell("def average(x):\n    return x * 0"))
    put("averaging.ipynb", ANSWERS)
    put("b.ipynb", nbformat.writes(notebook))
    assert "different answers" in refused(folder)


def test_two_notebooks_of_nothing_are_refused(folder, put):
    for name in ("a.ipynb", "b.ipynb"):
        put(name, nbformat.writes(new_notebook(cells=[new_code_cell("x = 1")])))
    assert "Neither a.ipynb nor b.ipynb" in refused(folder)


@pytest.mark.parametrize("bare", [False, True])
def test_the_notebook_of_another_lesson_is_refused(folder, put, bare):
    notebook = nbformat.read(OTHER, as_version=4)
    if bare:  # only its answers are left
        notebook.cells = [c for c in notebook.cells if c.source.startswith("def softmax(")]
        notebook.cells[0].metadata, notebook.cells[0].id = {}, "x"
    put("averaging.ipynb", nbformat.writes(notebook))
    assert "02-dot-product-weights, not of 01-averaging" in refused(folder)


def test_data_beside_the_notebook_does_no_harm(folder, put):
    put("averaging.ipynb", ANSWERS)
    put("data.json", {"cells": [1, 2]})
    put("notes.txt", "mine")
    put("timestamp.txt", "2026-01-01 00:00:00 UTC")
    put("picture.png", b"\x89PNG")
    assert taken(folder) == ()


# --- no notebook ----------------------------------------------------------------------------------


def test_a_missing_or_empty_folder_is_refused(folder):
    assert refused(folder / "none") == "Nothing was handed in."
    assert refused(folder) == "There is no file in what was handed in. Hand in averaging.ipynb."


def test_the_learner_is_told_what_was_there_instead(folder, put):
    for name in ("work.zip", "data.json", "a.py", "b.py", "c.py"):
        put(name, "1")
    assert "only a.py, b.py, c.py and 2 more" in refused(folder)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("averaging.ipynb", ANSWERS)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (bytes(1000), "is empty"),
        (ANSWERS.replace("{", "{\n<<<<<<< HEAD\n", 1), "git merge"),
        ("import torch\n\nx = 1\n", "Python script"),
        ("# %%\nx = 1\n!ls\nfor", "Python script"),
        ("x = 1\nprint(x)", "Python script"),
        ("<!DOCTYPE html>\n<html></html>", "web page"),
        ("\n<html><body>", "web page"),
        (zipped(), "zip"),
        (ANSWERS[:5000], "damaged"),
        ("{" + '"a": {' * 100_000, "damaged"),
        ("[" * 100_000, "not a notebook"),
        (b"\x00\x01\x02\xff", "not a notebook"),
        (b"\xff\xfe\x00", "not a notebook"),
        ("dear teacher, here is", "not a notebook"),
        ("{}", "JSON, but not a notebook"),
        ("[1, 2]", "JSON, but not a notebook"),
        ("NaN", "JSON, but not a notebook"),
        ("9" * 10_000, "JSON, but not a notebook"),
        ({"nbformat": "4", "cells": []}, "JSON, but not a notebook"),
        ({"nbformat": True, "cells": []}, "JSON, but not a notebook"),
        ({"nbformat": 4, "cells": 3}, "JSON, but not a notebook"),
        ({"nbformat": 3, "worksheets": {}}, "JSON, but not a notebook"),
    ],
)
def test_what_is_no_notebook_is_refused_by_what_it_is(folder, put, content, words):
    put("averaging.ipynb", content)
    why = refused(folder)
    assert why.startswith("averaging.ipynb is ") or why.startswith("averaging.ipynb holds ")
    assert words in why
    assert "hand in" in why or "hand it in" in why


def test_a_damaged_notebook_beside_a_good_one_is_a_remark(folder, put):
    put("averaging.ipynb", b"")
    put("averaging-Copy1.ipynb", ANSWERS)
    assert any(remark.startswith("averaging.ipynb is empty") for remark in taken(folder))


def test_a_damaged_notebook_beside_a_scratch_one_is_refused(folder, put):
    put("averaging.ipynb", b"")
    put("a.ipynb", nbformat.writes(new_notebook(cells=[new_code_cell("x = 1")])))
    assert refused(folder).startswith("averaging.ipynb is empty")


# --- notebooks of every kind ----------------------------------------------------------------------


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_byte_order_marks_do_no_harm(folder, put, mark):
    codes = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    put("averaging.ipynb", mark + ANSWERS.encode(codes.get(mark, "utf-8")))
    assert taken(folder) == ()


def test_the_letters_of_windows_are_read(folder, put):
    put("averaging.ipynb", changed("# é\ndef average(x): return x").encode("cp1252", "replace"))
    result = take_in(folder, RELEASED)
    assert any(cell.source.startswith("# é") for cell in result.notebook.cells)


@pytest.mark.parametrize("version", [(4, 0), (4, 4), (4, 5), (4, 99), (5, 0), (4.5, "x")])
@pytest.mark.parametrize("has_ids", [True, False])
def test_every_version_of_the_format_is_read(folder, put, version, has_ids):
    content = json.loads(ANSWERS)
    content["nbformat"], content["nbformat_minor"] = version
    for cell in content["cells"] * (not has_ids):
        del cell["id"]
    put("averaging.ipynb", content)
    assert taken(folder) == ()


def test_version_3_is_read(folder, put):
    old = nbformat.convert(nbformat.reads(ANSWERS, as_version=4), 3)
    put("averaging.ipynb", nbformat.v3.writes_json(old))
    assert taken(folder) == ()


def test_doubled_ids_are_read(folder, put):
    content = json.loads(ANSWERS)
    for cell in content["cells"]:
        cell["id"], cell["metadata"] = "same", {}
    put("averaging.ipynb", content)
    assert taken(folder) == ()


def deep(levels):
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize(
    "cell",
    [3, None, "text", [], {}, {"source": {"a": 1}}, {"cell_type": [], "source": 3}, deep(500)]
    + [{"cell_type": "code", "source": "x", "metadata": deep(500), "id": 3} | {"source": 9}],
)
def test_cells_that_are_none_are_left_out(folder, put, cell):
    content = json.loads(ANSWERS)
    content["cells"].insert(3, cell)
    put("averaging.ipynb", content)
    assert taken(folder) == ("Cells that are not text were left out (1).",)


def test_numbers_that_are_none_do_no_harm(folder, put):
    content = ANSWERS.replace('"metadata": {}', '"metadata": {"a": NaN, "b": -Infinity}', 1)
    content = content.replace('"metadata": {}', '"metadata": {"a": ' + "9" * 10_000 + "}", 1)
    assert content.count("NaN") == 1
    put("averaging.ipynb", content)
    assert taken(folder) == ()


# --- links, pipes, sizes, and the machine ---------------------------------------------------------


def test_a_link_is_not_followed(folder, put, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text(ANSWERS)
    (folder / "averaging.ipynb").symlink_to(secret)
    assert "averaging.ipynb is a link" in refused(folder)
    (folder / "loop.ipynb").symlink_to("loop.ipynb")
    put("good.ipynb", ANSWERS)
    assert len([remark for remark in taken(folder) if "is a link" in remark]) == 2


def test_a_folder_that_is_a_link_is_not_followed(folder, put, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "averaging.ipynb").write_text(ANSWERS)
    (folder / "work").symlink_to(elsewhere)
    assert "only work." in refused(folder)
    link = tmp_path / "link"
    link.symlink_to(elsewhere)
    assert "is a link or a file, not a folder" in refused(link)


def test_a_file_in_the_place_of_the_folder_is_refused(put):
    assert "is a link or a file, not a folder" in refused(put("averaging.ipynb", ANSWERS))


def test_pipes_and_sockets_do_not_block(folder):
    os.mkfifo(folder / "averaging.ipynb")
    os.mkfifo(folder / "a.json")
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(folder / "s.ipynb"))
        assert "averaging.ipynb is no regular file" in refused(folder)


def test_a_folder_of_the_name_of_a_notebook_is_a_folder(folder, put):
    put("averaging.ipynb/averaging.ipynb", ANSWERS)
    assert taken(folder) == ()


def test_a_file_that_is_too_large_is_refused_unread(folder):
    with open(folder / "averaging.ipynb", "wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert "clear its outputs" in refused(folder)


def test_no_more_than_so_many_entries_are_looked_at(folder, put):
    for number in range(MOST_ENTRIES + 1):
        os.mkdir(folder / f"f{number}")
    assert f"more than {MOST_ENTRIES} files" in refused(folder)


def test_failures_of_the_machine_are_not_the_learners(folder, put):
    put("averaging.ipynb", ANSWERS)
    assert taken(folder) == ()  # whatever has to be loaded for that is loaded now
    gc.collect()  # and what other tests left open is closed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 2, hard))
    spare = []
    try:
        while True:  # take every number that is free below the limit
            spare.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        os.close(spare.pop())  # one is left, for the released notebook
        with pytest.raises(OSError, match="Too many open files"):
            take_in(folder, RELEASED)
    finally:
        for number in spare:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert taken(folder) == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_the_grader_may_not_read_is_a_failure_of_the_machine(folder, put):
    put("averaging.ipynb", ANSWERS).chmod(0)
    with pytest.raises(PermissionError):
        take_in(folder, RELEASED)


def test_nothing_handed_in_is_run(folder, put, tmp_path):
    trace = tmp_path / "trace"
    cells = [new_code_cell(f"open({str(trace)!r}, 'w')"), new_markdown_cell("x")]
    notebook = nbformat.reads(ANSWERS, as_version=4)
    notebook.cells = copy.deepcopy(cells) + notebook.cells
    put("averaging.ipynb", nbformat.writes(notebook))
    put("sitecustomize.py", f"open({str(trace)!r}, 'w')")
    assert take_in(folder, RELEASED).refused == ""
    assert not trace.exists()
