"""A learner's notebook comes back in the released shape, with the learner's answers and nothing
else of the learner's where it could do harm."""

import copy
import random
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

from grader.classroom.restore import restore

ROOT = Path(__file__).parent.parent
SOLVED = sorted(ROOT.glob("solutions/*/*.ipynb"))
LESSONS = {path.stem: path for path in SOLVED}
SPLIT = "def average(x):\n    total = x.sum(-2)\n    return total / x.shape[-2]"
STUB = 'def average(x):\n    """As before."""\n    raise NotImplementedError'
each_lesson = pytest.mark.parametrize("path", SOLVED, ids=lambda path: path.stem)


def read(path):
    """The solved and the released notebook, fresh for every test."""
    return copy.deepcopy(_read(path))


@cache
def _read(path):
    solved = nbformat.read(path, as_version=4)
    released = nbformat.read(ROOT / "notebooks" / path.parent.name / path.name, as_version=4)
    return solved, released


@pytest.fixture
def solved():
    return read(LESSONS["averaging"])[0]


@pytest.fixture
def released():
    return read(LESSONS["averaging"])[1]


def place(notebook, cell_id):
    return next(n for n, cell in enumerate(notebook.cells) if cell.id == cell_id)


def cell(notebook, cell_id):
    return notebook.cells[place(notebook, cell_id)]


def own(notebook):
    return [c.source for c in notebook.cells if c.id.startswith("own-")]


def ids(notebook):
    return [c.id for c in notebook.cells if not c.id.startswith("own-")]


def contents(notebook):
    return [(c.id, c.cell_type, c.source, c.metadata) for c in notebook.cells]


def exercises_of(released):
    return [c.id for c in released.cells if c.metadata.get("nbgrader", {}).get("solution")]


def again(notebook, released):
    """Restores, and checks what holds whatever was handed in."""
    before = copy.deepcopy(notebook)
    restored, remarks = restore(notebook, released)
    assert notebook == before
    nbformat.validate(restored)
    assert ids(restored) == ids(released)
    assert restored.metadata == released.metadata
    assert (restored.nbformat, restored.nbformat_minor) == (4, 5)
    solutions = exercises_of(released)
    for one in released.cells:
        back = cell(restored, one.id)
        assert (back.cell_type, back.metadata) == (one.cell_type, one.metadata)
        assert back.source == one.source or one.id in solutions
    for back in restored.cells:
        assert back.cell_type != "code" or (back.outputs, back.execution_count) == ([], None)
        assert back.metadata == {} or not back.id.startswith("own-")
    for remark in remarks:
        assert remark.isprintable()
        assert remark.endswith(".")
    assert restore(restored, released)[0] == restored, "restoring twice changes nothing"
    return restored, remarks


def stripped(notebook):
    """Without ids and metadata, as other programs save it."""
    bare = copy.deepcopy(notebook)
    for one in bare.cells:
        one.pop("id", None)
        one.metadata = NotebookNode()
    bare.metadata = NotebookNode()
    return bare


# --- what comes back ------------------------------------------------------------------------------


@each_lesson
def test_a_solved_notebook_comes_back_with_exactly_its_answers(path):
    solved, released = read(path)
    restored, remarks = again(solved, released)
    assert [c.source for c in restored.cells] == [c.source for c in solved.cells]
    assert remarks == ()


@each_lesson
def test_an_untouched_notebook_comes_back_untouched(path):
    _, released = read(path)
    assert again(released, released) == (released, ())


@each_lesson
def test_stripped_of_all_metadata_it_comes_back_the_same(path):
    solved, released = read(path)
    assert again(stripped(solved), released) == (restore(solved, released)[0], ())


@each_lesson
def test_random_ids_do_no_harm(path):
    solved, released = read(path)
    changed = stripped(solved)
    for number, one in enumerate(changed.cells):
        one.id = f"x{number}"
    assert again(changed, released) == (restore(solved, released)[0], ())


@each_lesson
def test_cells_that_were_moved_return_without_a_remark(path):
    solved, released = read(path)
    moved = copy.deepcopy(solved)
    random.Random(0).shuffle(moved.cells)
    assert again(moved, released) == (restore(solved, released)[0], ())
    assert again(stripped(moved), released) == (restore(solved, released)[0], ())


@each_lesson
def test_every_cell_that_was_deleted_is_put_back(path):
    _, released = read(path)
    empty = copy.deepcopy(released)
    empty.cells = []
    restored, remarks = again(empty, released)
    assert restored == released
    assert len(remarks) == 2 * len(exercises_of(released))


@each_lesson
def test_a_notebook_that_is_there_twice_comes_back_once(path):
    solved, released = read(path)
    double = copy.deepcopy(solved)
    double.cells += copy.deepcopy(solved.cells)
    restored, remarks = again(double, released)
    assert restored == restore(solved, released)[0]
    assert len(remarks) == len(exercises_of(released))
    assert all("there 2 times; the first one with an answer was graded." in r for r in remarks)


@each_lesson
def test_all_code_in_one_cell_still_gives_every_answer(path):
    solved, released = read(path)
    code = [c.source for c in solved.cells if c.cell_type == "code"]
    merged = copy.deepcopy(stripped(solved))
    merged.cells = [new_code_cell("\n\n".join(code))]
    restored, _ = again(merged, released)
    first, *others = exercises_of(released)
    assert cell(restored, first).source == "\n\n".join(code)
    for name in others:
        assert cell(restored, name).source in cell(solved, name).source.strip()
        assert "raise NotImplementedError" not in cell(restored, name).source


def test_a_deleted_check_and_a_deleted_answer_are_named_other_cells_are_not(solved, released):
    gone = {"average", "check-mix", "title"}
    solved.cells = [c for c in solved.cells if c.id not in gone]
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == cell(released, "average").source
    assert set(remarks) == {
        "The cell of average was missing; it was put back.",
        "The check of mix was missing; it was put back.",
    }


def test_an_answer_that_was_emptied_is_put_back(solved, released):
    cell(solved, "average").source = " \n"
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == cell(released, "average").source
    assert remarks == ("The cell of average was missing; it was put back.",)


def test_tags_and_flags_and_points_and_outputs_are_the_released_ones(solved, released):
    for one in solved.cells:
        one.metadata["tags"] = ["skip-execution", "raises-exception"]
        if "nbgrader" in one.metadata:
            one.metadata.nbgrader.update(grade=False, solution=True, locked=False, points=99)
        if one.cell_type == "code":
            one.outputs = [new_output("stream", text="full points")]
            one.execution_count = 3
    solved.metadata["kernelspec"] = {"name": "bash", "display_name": "bash"}
    assert again(solved, released)[1] == ()


def test_a_cell_is_recognised_by_the_id_that_nbgrader_gave_it(solved, released):
    for one in solved.cells:
        one.id = f"new{random.random()}".replace(".", "")
    cell_of = {c.metadata.nbgrader.grade_id: c for c in solved.cells if "nbgrader" in c.metadata}
    cell_of["average"].source = "# nothing that tells"
    restored, _ = again(solved, released)
    assert cell(restored, "average").source == "# nothing that tells"


@pytest.mark.parametrize("kind", [new_markdown_cell, new_raw_cell])
@pytest.mark.parametrize("name", ["average", "check-average"])
def test_a_cell_that_was_turned_into_text_is_code_again(solved, released, kind, name):
    here = place(solved, name)
    old = solved.cells[here]
    solved.cells[here] = kind(old.source, id=old.id, metadata=old.metadata)
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == cell(solved, "average").source
    title = {"average": "The cell", "check-average": "The check"}[name]
    assert remarks == (f"{title} of average had been turned into text; it is code again.",)


def test_changed_markdown_and_changed_checks_are_the_released_ones(solved, released):
    cell(solved, "title").source = "# Mine"
    cell(solved, "check-mix").source = 'check("mix", torch.matmul)'
    restored, remarks = again(solved, released)
    assert own(restored) == []
    assert remarks == ()


# --- cells of the learner's own -------------------------------------------------------------------


def test_own_cells_stay_where_they_were(solved, released):
    solved.cells.insert(place(solved, "check-average") + 1, new_code_cell("a = 1"))
    solved.cells.insert(place(solved, "check-average") + 2, new_markdown_cell("A note."))
    solved.cells.insert(place(solved, "mix"), new_raw_cell("raw"))
    solved.cells.insert(0, new_code_cell("first = 1", metadata={"tags": ["skip-execution"]}))
    restored, remarks = again(solved, released)
    assert own(restored) == ["first = 1", "a = 1", "A note.", "raw"]
    here = place(restored, "check-average")
    assert [c.id for c in restored.cells[here : here + 3]] == ["check-average", "own-2", "own-3"]
    assert restored.cells[0].id == "own-1"
    assert restored.cells[place(restored, "mix") - 1].cell_type == "raw"
    assert remarks == ()


def test_own_cells_follow_a_cell_that_was_moved(solved, released):
    check = solved.cells.pop(place(solved, "check-average"))
    solved.cells += [check, new_code_cell("after = 1")]
    restored, _ = again(solved, released)
    assert restored.cells[place(restored, "check-average") + 1].source == "after = 1"


def test_a_changed_ordinary_cell_is_restored_and_followed_by_the_changed_one(solved, released):
    plain = next(c for c in solved.cells if c.cell_type == "code" and not c.metadata)
    plain.source = "import math\n" + plain.source
    restored, remarks = again(solved, released)
    assert restored.cells[place(restored, plain.id) + 1].source == plain.source
    assert own(restored) == [plain.source]
    assert remarks == ()


@each_lesson
def test_a_changed_ordinary_cell_is_recognised_without_ids_by_its_neighbours(path):
    solved, released = read(path)
    changed = stripped(solved)
    plain = next(
        n
        for n, c in enumerate(solved.cells)
        if c.cell_type == "code" and not c.metadata and len(c.source) > 100
    )
    changed.cells[plain].source += "\nmine = 1"
    restored, remarks = again(changed, released)
    assert own(restored) == [changed.cells[plain].source]
    assert restored.cells[plain + 1].id == "own-1"
    assert remarks == ()


def test_an_ordinary_cell_that_only_differs_in_white_space_is_not_kept(solved, released):
    plain = next(c for c in solved.cells if c.cell_type == "code" and not c.metadata)
    plain.source = plain.source.replace("\n", "  \r\n") + "\n\n"
    assert own(again(solved, released)[0]) == []


def test_what_was_written_into_a_check_stands_before_it_without_the_check(solved, released):
    cell(
        solved, "check-mix"
    ).source = 'a = 1\ncheck("mix",\n      mix)\nif a:\n    check("mix", mix)'
    restored, _ = again(solved, released)
    before = restored.cells[place(restored, "check-mix") - 1]
    assert before.source == "a = 1\nif a:\n    pass"
    assert restored.cells[place(restored, "check-mix") - 2].id == "mix"


def test_an_answer_that_was_typed_into_the_check_is_kept(solved, released):
    cell(solved, "average").source = cell(released, "average").source
    cell(solved, "check-average").source = f'{SPLIT}\n\ncheck("average", average)'
    restored, remarks = again(solved, released)
    assert own(restored) == [SPLIT]
    assert remarks == ("The answer to average stood in another cell; it was graded there.",)


# --- more than one answer -------------------------------------------------------------------------


@pytest.mark.parametrize("with_ids", [True, False])
def test_of_two_copies_the_first_with_an_answer_is_graded(solved, released, with_ids):
    answer = cell(solved, "average")
    copies = [copy.deepcopy(answer) for _ in range(3)]
    copies[0].source, copies[1].source, copies[2].source = STUB, SPLIT, "def average(x): return 3"
    here = place(solved, "average")
    solved.cells[here : here + 1] = copies
    restored, remarks = again(solved if with_ids else stripped(solved), released)
    assert cell(restored, "average").source == SPLIT
    assert own(restored) == []
    assert remarks == (
        "The cell of average was there 3 times; the first one with an answer was graded.",
    )


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("cuts", [[1], [2], [1, 2]])
def test_an_answer_that_was_split_is_put_together(solved, released, with_ids, cuts):
    answer, here = cell(solved, "average"), place(solved, "average")
    lines, ends = SPLIT.split("\n"), [*cuts, 3]
    halves = []
    for start, end in zip([0, *cuts], ends, strict=True):
        halves.append(copy.deepcopy(answer))
        halves[-1].source = "\n".join(lines[start:end])
    solved.cells[here : here + 1] = halves
    restored, remarks = again(solved if with_ids else stripped(solved), released)
    assert cell(restored, "average").source == SPLIT
    assert own(restored) == []
    assert remarks == ()


def test_a_decorator_that_was_split_off_is_put_back(solved, released):
    answer, here = cell(solved, "average"), place(solved, "average")
    decorator = copy.deepcopy(answer)
    decorator.source, answer.source = "@torch.no_grad()", SPLIT
    solved.cells.insert(here, decorator)
    assert cell(again(solved, released)[0], "average").source == f"@torch.no_grad()\n{SPLIT}"


@pytest.mark.parametrize("below", [0, 1])
def test_helpers_that_were_split_off_stay_on_their_side(solved, released, below):
    answer, here = cell(solved, "average"), place(solved, "average")
    helper = copy.deepcopy(answer)
    helper.source = "def helper(x):\n    return x"
    solved.cells.insert(here + below, helper)
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == answer.source
    beside = restored.cells[place(restored, "average") + (1 if below else -1)]
    assert beside.source == helper.source
    assert remarks == ()


def test_code_that_does_not_parse_after_an_unknown_cell_does_not_join_it(solved, released):
    here = place(solved, "average")
    solved.cells[here].source = "def average(x):\n    total = x.sum(-2)"
    rest = ["    return total / x.shape[-2]", "print(1)"]
    solved.cells[here + 1 : here + 1] = [new_code_cell(text) for text in rest]
    restored, _ = again(solved, released)
    assert cell(restored, "average").source == SPLIT
    assert own(restored) == ["print(1)"]


def test_an_answer_below_the_empty_cell_stays_where_it_is(solved, released):
    cell(solved, "average").source = STUB
    solved.cells.insert(place(solved, "check-average") + 1, new_code_cell(SPLIT))
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == STUB
    assert own(restored) == [SPLIT]
    assert remarks == ("The answer to average stood in another cell; it was graded there.",)


def test_an_answer_above_the_empty_cell_is_copied_into_it(solved, released):
    cell(solved, "average").source = STUB
    solved.cells.insert(place(solved, "average"), new_code_cell(f"import math\n{SPLIT}"))
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == SPLIT
    assert own(restored) == [f"import math\n{SPLIT}"]
    assert remarks == ("The answer to average stood in another cell; it was copied to its place.",)


def test_a_second_definition_on_purpose_is_kept_without_a_remark(solved, released):
    solved.cells.insert(place(solved, "check-average") + 1, new_code_cell(SPLIT))
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == cell(solved, "average").source
    assert own(restored) == [SPLIT]
    assert remarks == ()


def test_an_answer_that_was_merged_into_another_cell_is_found(solved, released):
    first, second = cell(solved, "average"), cell(solved, "mix")
    first.source += f"\n\n{second.source}"
    solved.cells.remove(second)
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == first.source
    assert cell(restored, "mix").source in second.source
    assert "The answer to mix stood in another cell" in remarks[0]


@pytest.mark.parametrize("body", ["raise NotImplementedError", "raise NotImplementedError()"])
def test_a_class_is_answered_once_a_method_is(body):
    solved, released = read(LESSONS["square_root_scaling"])
    answer, here = cell(solved, "Head"), place(solved, "Head")
    stub = copy.deepcopy(answer)
    stub.source = cell(released, "Head").source.replace("raise NotImplementedError", body)
    solved.cells.insert(here, stub)
    assert cell(again(solved, released)[0], "Head").source == answer.source


def test_an_answer_with_a_mistake_in_its_syntax_is_still_an_answer(solved, released):
    broken = "def average(x):\n    return x.mean(-2"
    cell(solved, "average").source = broken
    assert cell(again(stripped(solved), released)[0], "average").source == broken


# --- what is left out -----------------------------------------------------------------------------


def test_lines_that_install_are_left_out_with_one_remark(solved, released):
    lines = ["!pip install x \\\n    y", "%pip install x", "!conda install x", "!apt-get install x"]
    lines += ["!mamba install x", "! sudo apt install x", "!{sys.executable} -m pip install x"]
    lines += ["pip install x", "if True:\n    !pip install x", "!ls", "pipe = '!pip'"]
    solved.cells.insert(0, new_code_cell("\n".join(lines)))
    cell(solved, "average").source = f"%pip install x\n{SPLIT}"
    restored, remarks = again(solved, released)
    left = "# left out when grading: "
    assert restored.cells[0].source.split("\n") == [
        f"{left}!pip install x \\",
        f"{left}y",
        *(left + line for line in lines[1:8]),
        "if True:",
        f"    pass  {left}!pip install x",
        *lines[9:],
    ]
    assert cell(restored, "average").source == f"{left}%pip install x\n{SPLIT}"
    assert len(remarks) == 1


def test_magics_do_not_hide_an_answer(solved, released):
    cell(solved, "average").source = f"%%time\n{SPLIT}\n!ls"
    restored, _ = again(stripped(solved), released)
    assert cell(restored, "average").source == f"%%time\n{SPLIT}\n!ls"


def test_lists_of_lines_windows_line_ends_and_null_bytes_are_read(solved, released):
    cell(solved, "average").source = ["def average(x):\r\n", "    return\0 x\r\n", "# \ud800"]
    restored, _ = again(solved, released)
    assert cell(restored, "average").source == "def average(x):\n    return x\n# ?"
    nbformat.writes(restored).encode()


@pytest.mark.parametrize("source", [None, 3, {"a": {"b": []}}, [1, "a"], [["a"]], float("nan")])
def test_a_source_that_is_no_text_is_left_out(solved, released, source):
    cell(solved, "average").source = source
    restored, remarks = again(solved, released)
    assert cell(restored, "average").source == cell(released, "average").source
    assert remarks[0] == "Cells that are not text were left out (1)."


@pytest.mark.parametrize(
    "cells",
    [
        None,
        3,
        {},
        ["text", 3, None, []],
        [{"id": ["x"], "cell_type": {}, "metadata": 3, "source": "x"}],
        [{"id": 3, "cell_type": "code", "metadata": {"nbgrader": []}, "source": "x"}],
        [{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": {}}}, "source": "x"}],
        [{"id": "mix", "cell_type": "code", "source": "(" * 100_000}],
        [{"id": "mix", "cell_type": "code", "source": "-" * 100_000 + "1"}],
        [{"id": "mix", "cell_type": "code", "source": "a" + ".b" * 50_000}],
        [{"id": "mix", "cell_type": "code", "source": "def mix(): return a" + "+b" * 5_000}],
        [{"cell_type": "code", "source": "def mix():"}] * 500,
        [{"cell_type": "code", "source": "x = 1"}] * 1_500,
        [{"cell_type": "code", "source": "a " * 300_000}],
        [{"cell_type": "code", "source": "\n" * 200_000}],
        [{"cell_type": "code", "source": "!" + "python" * 100_000}],
        [{"cell_type": "code", "source": "if 1:\n" + "    check(1)\n" * 20_000}],
        [{"id": "title", "cell_type": "code", "source": f"x = {n}"} for n in range(1_500)],
    ],
)
def test_nothing_absurd_makes_it_raise(released, cells):
    again(NotebookNode(cells=cells), released)


def test_pieces_in_any_order_keep_every_law(released):
    """Random heaps of cells: whatever is handed in, what `again` asserts holds."""
    pieces = [c for path in SOLVED for c in (*read(path)[0].cells, *read(path)[1].cells)]
    for seed in range(30):
        dice = random.Random(seed)
        heap = NotebookNode(cells=[copy.deepcopy(dice.choice(pieces)) for _ in range(40)])
        for one in heap.cells:
            if dice.random() < 0.5:
                one.source = one.source[: dice.randrange(1 + len(one.source))]
            if dice.random() < 0.3:
                one.cell_type = dice.choice(["code", "markdown", "raw", "heading"])
            if dice.random() < 0.3:
                one.id, one.metadata = f"x{dice.random()}", {}
        again(heap, released)
