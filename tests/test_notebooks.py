"""The lessons as files: tidy, complete, readable, and the same style throughout."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from grader import widgets
from grader.exercises import exercises, find
from grader.live import VIEW
from grader.play.question import Question

ROOT = Path(__file__).parent.parent
PATHS = sorted(ROOT.glob("solutions/*/*.ipynb"))
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4) for path in PATHS}
each_notebook = pytest.mark.parametrize("name", NOTEBOOKS)
BOX = re.compile(
    r"> \*\*Exercise `(\w+)`\*\* · (\d+) points?<br>\n"
    r"> Difficulty: [1-5] of 5 · about \d+ minutes<br>\n"
    r"> What it is for: .+"
)


def cells(name, kind):
    return [cell for cell in NOTEBOOKS[name].cells if cell.cell_type == kind]


def graded(name):
    return [c for c in cells(name, "code") if c.metadata.get("nbgrader", {}).get("grade")]


def solutions(name):
    return [c for c in cells(name, "code") if c.metadata.get("nbgrader", {}).get("solution")]


@each_notebook
def test_ids_are_readable_and_each_is_there_once(name):
    ids = [cell.id for cell in NOTEBOOKS[name].cells]
    assert len(set(ids)) == len(ids)
    assert not [i for i in ids if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", i)]
    assert not [i for i in ids if i.startswith("own-")]  # those are what learners add


@each_notebook
def test_metadata_holds_what_nbgrader_and_the_kernel_need_and_no_more(name):
    notebook = NOTEBOOKS[name]
    assert notebook.metadata == {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3",
        },
        "language_info": {"name": "python"},
    }  # fmt: skip
    assert all(set(cell.metadata) <= {"nbgrader", "tags"} for cell in notebook.cells)


@each_notebook
def test_every_exercise_of_the_lesson_has_an_answer_and_a_check_with_its_points(name):
    lesson = next(path.parent.name for path in PATHS if path.stem == name)
    wanted = {e.name: e.points for e in exercises() if e.lesson == lesson}
    assert {c.metadata.nbgrader.grade_id for c in solutions(name)} == set(wanted)
    assert {c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points for c in graded(name)} == {
        f"check-{exercise}": points for exercise, points in wanted.items()
    }


@each_notebook
def test_a_check_is_one_line_locked_and_right_below_its_answer(name):
    order = [cell.id for cell in NOTEBOOKS[name].cells]
    for cell in graded(name):
        exercise = cell.id.removeprefix("check-")
        assert cell.source == f'check("{exercise}", {exercise})'
        assert cell.metadata.nbgrader.locked
        assert not cell.metadata.nbgrader.solution
        assert order.index(cell.id) == order.index(exercise) + 1


@each_notebook
def test_every_exercise_is_announced_by_a_box_of_three_lines(name):
    text = "\n".join(cell.source for cell in cells(name, "markdown"))
    boxes = {exercise: int(points) for exercise, points in BOX.findall(text)}
    assert boxes == {c.id.removeprefix("check-"): c.metadata.nbgrader.points for c in graded(name)}


@each_notebook
def test_what_is_left_of_an_answer_still_says_what_is_asked(name):
    for cell in solutions(name):
        definition = ast.parse(cell.source).body[0]
        assert definition.name == cell.metadata.nbgrader.grade_id
        assert ast.get_docstring(definition)
        assert cell.source.count("### BEGIN SOLUTION") == cell.source.count("### END SOLUTION") > 0


@each_notebook
def test_cells_are_short(name):
    """A cell that defines something for later may be longer than one that shows something."""
    for cell in cells(name, "code"):
        lines = [line for line in cell.source.splitlines() if line and not line.startswith("#")]
        defines = re.search(r"^(class|def) ", cell.source, re.MULTILINE)
        if cell not in solutions(name):
            assert len(lines) <= (18 if defines else 8), cell.source


@each_notebook
def test_figures_are_one_call_and_no_cell_plots_by_hand(name):
    for cell in cells(name, "code"):
        assert "matplotlib" not in cell.source
        assert "plt." not in cell.source


@each_notebook
def test_every_picture_is_described_in_words(name):
    for cell in cells(name, "code"):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                description = output.metadata["image/png"]["alt"]
                assert len(description) > 30
                assert output.data["text/plain"] == description


@each_notebook
def test_an_explorer_stands_between_a_question_and_what_was_to_be_seen(name):
    call = re.compile(rf"^\s*({'|'.join(widgets.__all__)})\(", re.MULTILINE)
    every = NOTEBOOKS[name].cells
    for place, cell in enumerate(every):
        if cell.cell_type == "code" and call.search(cell.source):
            assert "**Predict.**" in every[place - 1].source
            assert "markdown" in {after.cell_type for after in every[place + 1 : place + 3]}


@each_notebook
def test_no_view_of_a_widget_is_stored(name):
    stored = [set(output.get("data", ())) for c in cells(name, "code") for output in c.outputs]
    assert not [kinds for kinds in stored if VIEW in kinds]


@each_notebook
def test_the_prose_is_calm(name):
    for cell in cells(name, "markdown"):
        prose = re.sub(r"\$+[^$]*\$+|`[^`]*`", "", cell.source)
        assert "!" not in prose
        assert not [c for c in prose if ord(c) > 0x2BFF]


@each_notebook
def test_a_lesson_ends_with_what_to_take_away_what_comes_next_and_what_to_read(name):
    last = NOTEBOOKS[name].cells[-1].source
    for heading in ("## What to take away", "**Next:**", "**To read:**"):
        assert heading in last


@each_notebook
def test_outputs_are_stored_in_order_and_without_trouble(name):
    counts = [cell.execution_count for cell in cells(name, "code")]
    assert counts == list(range(1, len(counts) + 1))
    for cell in cells(name, "code"):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"


@each_notebook
def test_demos_name_exercises_of_this_lesson_or_answers_it_takes_along(name):
    known = {cell.metadata.nbgrader.grade_id for cell in solutions(name)}
    for cell in cells(name, "code"):
        known |= set(re.findall(r'own\("(\w+)"\)', cell.source))
    for cell in cells(name, "code"):
        for call in re.findall(r"with after\((.*?)\):", cell.source):
            assert set(re.findall(r'"(\w+)"', call)) <= known


def calls(name, function):
    """Every call of a function in a lesson, in order: (number of the cell, arguments by name)."""
    found = []
    for number, cell in enumerate(NOTEBOOKS[name].cells):
        for node in ast.walk(ast.parse(cell.source)) if cell.cell_type == "code" else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function:
                named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
                found.append((number, [ast.literal_eval(each) for each in node.args], named))
    return found


@each_notebook
def test_a_lesson_asks_for_two_or_three_predictions_and_reveals_each_further_down(name):
    asked = {words[0]: (number, words) for number, words, _ in calls(name, "predict")}
    revealed = {words[0]: (number, named) for number, words, named in calls(name, "reveal")}
    assert 2 <= len(asked) <= 3
    assert list(asked) == list(revealed)
    for prediction, (number, words) in asked.items():
        below, named = revealed[prediction]
        between = NOTEBOOKS[name].cells[number + 1 : below]
        assert any(cell.cell_type == "code" for cell in between), prediction
        question = Question.of(*words, lesson="")
        right, because = question.revealed(**named)  # raises what a reader would read
        assert because, prediction


def test_no_two_predictions_of_the_course_share_a_name():
    names = [words[0] for name in NOTEBOOKS for _, words, _ in calls(name, "predict")]
    assert len(set(names)) == len(names)


@each_notebook
def test_a_lesson_begins_with_what_is_to_be_remembered(name):
    ((number, words, named),) = calls(name, "remember")
    assert not words + [*named]
    above = [c.source for c in NOTEBOOKS[name].cells[:number] if c.cell_type == "code"]
    assert all(re.search(r"^(from|import) ", source, re.MULTILINE) for source in above)


@each_notebook
def test_lines_to_order_hold_the_answer_and_lines_that_do_not_belong(name):
    for number, (exercise, lines), named in calls(name, "order_lines"):
        assert not named
        answer = next(cell.source for cell in solutions(name) if cell.id == exercise)
        marked = re.search(r"BEGIN SOLUTION\n(.*?)\n *### END", answer, re.DOTALL)[1]
        right = [line.strip() for line in marked.splitlines()]
        order = [lines.index(line) for line in right]
        assert sorted(order) != order
        assert len(lines) > len(right)
        ids = [cell.id for cell in NOTEBOOKS[name].cells]
        assert number < ids.index(exercise)


def test_lines_are_put_in_order_where_the_contract_says_so():
    ordered = {words[0] for name in NOTEBOOKS for _, words, _ in calls(name, "order_lines")}
    here = {cell.id for name in NOTEBOOKS for cell in solutions(name)}
    assert ordered == {"dot_product_attention", "split_heads"} & here


def test_the_signatures_in_the_notebooks_are_those_of_the_exercises():
    for name in NOTEBOOKS:
        for cell in solutions(name):
            exercise = find(cell.metadata.nbgrader.grade_id)
            definition = ast.parse(cell.source).body[0]
            if isinstance(definition, ast.ClassDef):
                definition = next(
                    f for f in definition.body if getattr(f, "name", "") == "__init__"
                )
            arguments = ast.unparse(definition.args).removeprefix("self, ")
            assert exercise.signature.startswith(f"{exercise.name}({arguments})")
