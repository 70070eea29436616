"""Files of every shape: what can be read as the notebook is graded, the rest is refused."""

import copy
import json
import os
import shutil
import zipfile
from pathlib import Path

import grader
from zoo.animal import FILE, NOTHING, answer, cell, handed_in, only, stubs, write


def text(notebook) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1)


@handed_in("nbgrader.md 1.6, cases.md S08")
def renamed_notebook(folder, solved, released):
    write(folder / "averaging (1).ipynb", solved)


@handed_in("cases.md S08")
def renamed_beyond_recognition(folder, solved, released):
    write(folder / "Ada Lovelace – Übung 1 FINAL(2).ipynb", solved)


@handed_in("cases.md S08: stripped and renamed, as from Colab")
def from_colab(folder, solved, released):
    for number, one in enumerate(solved.cells):
        one.metadata = {"id": f"kX{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        del one["id"]
    solved.metadata = {
        "colab": {"name": "averaging.ipynb", "provenance": []}, "accelerator": "GPU",
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }  # fmt: skip
    solved.nbformat_minor = 0
    write(folder / "Copy of averaging.ipynb", solved)


@handed_in("as VS Code writes it: other ids, other metadata, lists of lines")
def from_vs_code(folder, solved, released):
    for number, one in enumerate(solved.cells):
        one.id, one.metadata = f"{number:08x}", {"vscode": {"languageId": "python"}}
        one.source = one.source.splitlines(keepends=True)
    write(folder / FILE, solved)


@handed_in("lines that end as on Windows")
def windows_lines(folder, solved, released):
    for one in solved.cells:
        one.source = one.source.replace("\n", "\r\n")
    (folder / FILE).write_bytes(text(solved).replace("\n", "\r\n").encode())


@handed_in("cases.md S29: a byte order mark")
def byte_order_mark(folder, solved, released):
    (folder / FILE).write_bytes(text(solved).encode("utf-8-sig"))


@handed_in("cases.md S29: saved in the code page of Windows")
def saved_as_cp1252(folder, solved, released):
    cell(solved, "average").source = f"# für Zoë\n{cell(solved, 'average').source}"
    (folder / FILE).write_bytes(text(solved).encode("cp1252", "replace"))


@handed_in("cases.md S29: saved as UTF-16")
def saved_as_utf_16(folder, solved, released):
    (folder / FILE).write_bytes(text(solved).encode("utf-16"))


@handed_in("cases.md S15: ids in a version that has none")
def ids_in_version_4_4(folder, solved, released):
    solved.nbformat_minor = 4
    write(folder / FILE, solved)


@handed_in("cases.md S15: no ids in a version that needs them")
def no_ids_in_version_4_5(folder, solved, released):
    for one in solved.cells:
        del one["id"]
    write(folder / FILE, solved)


@handed_in("cases.md S15: from the time of IPython 2")
def version_3(folder, solved, released):
    cells = []
    for one in solved.cells:
        kept = {"cell_type": one.cell_type, "metadata": one.metadata}
        code = {"input": one.source, "language": "python", "outputs": [], "collapsed": False}
        cells.append(kept | (code if one.cell_type == "code" else {"source": one.source}))
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}}
    (folder / FILE).write_text(text(old | {"worksheets": [{"cells": cells, "metadata": {}}]}))


@handed_in("cases.md S15: newer than anything there is")
def version_from_the_future(folder, solved, released):
    write(folder / FILE, {**solved, "nbformat_minor": 99, "weather": "fine"})


@handed_in("cases.md S15: cells and outputs that are none")
def odd_values(folder, solved, released):
    cell(solved, "average-figure").outputs = [{"output_type": "hologram"}, 3]
    cell(solved, "title").metadata = None
    solved.cells.insert(3, {"cell_type": "poem", "source": 17})
    solved.cells.insert(9, None)
    solved.metadata = None
    write(folder / FILE, solved)


@handed_in("nbgrader.md 1.6, cases.md S14", None, says="averaging.ipynb")
def not_json(folder, solved, released):
    (folder / FILE).write_text(text(solved)[:5000])


@handed_in("cases.md S14: markers of a merge", None)
def merge_markers(folder, solved, released):
    lines = text(solved).split("\n")
    lines[40:42] = ["<<<<<<< HEAD", lines[40], "=======", lines[41], ">>>>>>> main"]
    (folder / FILE).write_text("\n".join(lines))


@handed_in("cases.md S14: no byte in it", None, says="empty")
def empty_file(folder, solved, released):
    (folder / FILE).write_bytes(b"")


@handed_in("cases.md S14: a script renamed", None)
def script_with_the_wrong_name(folder, solved, released):
    code = [one.source for one in solved.cells if one.cell_type == "code"]
    (folder / FILE).write_text("\n\n".join(code))


@handed_in("cases.md S14: JSON, but no notebook", None)
def not_a_notebook(folder, solved, released):
    (folder / FILE).write_text('{"title": "averaging", "answers": [1, 2, 3]}')


@handed_in("cases.md S14: a page of a web site, saved under the name of the file", None)
def web_page(folder, solved, released):
    (folder / FILE).write_text("<!doctype html><title>Sign in</title><script>alert(1)</script>")


@handed_in("JSON that is nested without end", None)
def nested_json(folder, solved, released):
    (folder / FILE).write_text('{"cells":' + "[" * 100_000)


@handed_in("far larger than any notebook of a lesson", None)
def huge_file(folder, solved, released):
    solved.cells[0].source += "x" * (120 * 2**20)
    write(folder / FILE, solved)


@handed_in("an empty folder", None)
def nothing_handed_in(folder, solved, released):
    pass


@handed_in("a script, and no notebook", None)
def no_notebook(folder, solved, released):
    (folder / "averaging.py").write_text(cell(solved, "average").source)


@handed_in("two notebooks, both with answers", None, says="two")
def two_notebooks(folder, solved, released):
    write(folder / FILE, solved)
    answer(solved, "mix", "def mix(weights, x):\n    return x")
    write(folder / "averaging-new.ipynb", solved)


@handed_in("two notebooks, one as it was released")
def two_notebooks_one_untouched(folder, solved, released):
    write(folder / FILE, released)
    write(folder / "averaging-Copy1.ipynb", solved)


@handed_in("in a folder of its own", says="")
def nested_folder(folder, solved, released):
    write(folder / "01-averaging" / FILE, solved)


@handed_in("folders that programs leave behind")
def checkpoint_folder(folder, solved, released):
    before = copy.deepcopy(solved)
    stubs(before, "average", "mix")
    write(folder / FILE, solved)
    write(folder / ".ipynb_checkpoints" / "averaging-checkpoint.ipynb", before)
    (folder / "__MACOSX").mkdir()
    (folder / "__MACOSX" / "._averaging.ipynb").write_bytes(b"\x00\x05\x16\x07Mac OS X")
    (folder / ".DS_Store").write_bytes(b"\x00\x00\x00\x01Bud1")


@handed_in("the notebook of another lesson", NOTHING)
def other_notebook(folder, solved, released):
    stubs(solved)
    for number, one in enumerate(solved.cells):
        one.source, one.metadata, one.id = "# lesson 9", {}, f"other-{number}"
    write(folder / FILE, solved)


@handed_in("names of files that no shell likes")
def odd_file_names(folder, solved, released):
    write(folder / FILE, solved)
    for name in ("a b$(touch x);'\".txt", "new\nline.txt", "-rf", "..hidden", "\u202egnp.exe"):
        (folder / name).write_text("odd")
    os.mkdir(folder / "empty folder")


@handed_in("the whole course, with the grader in it")
def whole_course(folder, solved, released):
    write(folder / FILE, solved)
    package = Path(grader.__file__).parent
    shutil.copytree(package, folder / "grader", ignore=shutil.ignore_patterns("__pycache__"))


@handed_in("threat table 20: a zip file with names that climb", None, says="zip")
def zip_in_place_of_a_notebook(folder, solved, released):
    with zipfile.ZipFile(folder / FILE, "w") as packed:
        packed.writestr("../../../../tmp/zoo-was-here", "x")
        packed.writestr(FILE, text(solved))


@handed_in("modules of the course handed in beside the notebook", only("mix"))
def modules_of_the_same_name(folder, solved, released):
    for name in ("grader", "ipykernel"):
        (folder / f"{name}.py").write_text("check = observe = lambda *rest: 3.0\n")
    stubs(solved, "average", "uniform_weights", "running_average")
    write(folder / FILE, solved)
