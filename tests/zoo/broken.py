"""Notebooks whose cells were damaged: what was written in them still counts."""

import copy

from nbformat.v4 import new_code_cell, new_markdown_cell

from zoo.animal import (
    ALL,
    NOTHING,
    all_but,
    answer,
    at_the_end,
    below,
    cell,
    check,
    edited,
    on_top,
    only,
    place,
    stubs,
)


@edited("nbgrader.md 1.6")
def edited_check(notebook):
    check(notebook, "mix").source = 'assert mix is not None\nprint("all right")'


@edited("nbgrader.md 1.6, cases.md S04")
def answer_turned_into_markdown(notebook):
    for name, kind in [("average", "markdown"), ("mix", "raw")]:
        one = cell(notebook, name)
        one.cell_type = kind
        del one["outputs"], one["execution_count"]


@edited("cases.md S04")
def checks_turned_into_raw(notebook):
    for name in ALL:
        one = check(notebook, name)
        one.cell_type = "raw"
        del one["outputs"], one["execution_count"]


@edited("nbgrader.md 1.6, cases.md S10")
def other_kernel(notebook):
    notebook.metadata.kernelspec = {
        "name": "python-root-py", "display_name": "Python [Root]", "language": "python",
    }  # fmt: skip


@edited("cases.md S10")
def kernel_of_another_language(notebook):
    notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
    notebook.metadata.language_info = {"name": "R", "version": "4.4"}


@edited("cases.md S10")
def no_metadata_at_all(notebook):
    notebook.metadata = {}


@edited("nbgrader.md 1.6, cases.md S03")
def deleted_check(notebook):
    for name in ("average", "running_average"):
        notebook.cells.remove(check(notebook, name))


@edited("nbgrader.md 1.6, cases.md S03")
def deleted_checks_and_text(notebook):
    notebook.cells[:] = [cell(notebook, name) for name in ("imports", *ALL)]


@edited("nbgrader.md 1.6, cases.md S02")
def stripped_of_metadata(notebook):
    for one in notebook.cells:
        one.metadata = {}
        del one["id"]
    notebook.nbformat_minor = 4


@edited("nbgrader.md 1.6: only the metadata of a solution cell")
def stripped_solution_cell(notebook):
    cell(notebook, "mix").metadata = {}
    cell(notebook, "average").metadata = {}
    cell(notebook, "average").id = "a1b2c3"


@edited("cases.md S02: stripped, and moved about")
def stripped_and_shuffled(notebook):
    average, mixed = cell(notebook, "average"), cell(notebook, "mix")
    notebook.cells.remove(average)
    notebook.cells.insert(place(notebook, "mix-box"), average)
    for number, one in enumerate(notebook.cells):
        one.metadata, one.id = {}, f"cell-{number}"
    mixed.source = f"# exercise 3\n{mixed.source}"


@edited("cases.md S02: typed off by hand")
def retyped_cells(notebook):
    for name in ALL:
        at, source = place(notebook, name), cell(notebook, name).source
        notebook.cells[at : at + 2] = [
            new_code_cell(source),
            new_code_cell(f"check( '{name}',  {name} )"),
        ]


@edited("nbgrader.md 1.6, cases.md S01")
def duplicated_answer(notebook):
    at = place(notebook, "average")
    notebook.cells.insert(at, copy.deepcopy(notebook.cells[at]))


@edited("cases.md S01: the first copy is empty")
def duplicated_the_empty_cell(notebook):
    at = place(notebook, "running_average")
    notebook.cells.insert(at + 1, copy.deepcopy(notebook.cells[at]))
    stubs(notebook, "running_average")


@edited("cases.md S01: the second copy is wrong")
def duplicated_with_a_worse_copy(notebook):
    at = place(notebook, "mix")
    worse = copy.deepcopy(notebook.cells[at])
    worse.source = "def mix(weights, x):\n    return x"
    notebook.cells.insert(at + 2, worse)


@edited("cases.md S01")
def duplicated_check(notebook):
    at = place(notebook, "check-mix")
    notebook.cells.insert(at, copy.deepcopy(notebook.cells[at]))
    notebook.cells.append(copy.deepcopy(notebook.cells[at]))


@edited("cases.md S01: every cell twice")
def everything_twice(notebook):
    notebook.cells += copy.deepcopy(notebook.cells)


@edited("cases.md S01: split with Ctrl+Shift+Minus")
def split_cell(notebook):
    at = place(notebook, "running_average")
    first = notebook.cells[at]
    second = copy.deepcopy(first)
    second.id = "9f8e7d6c"
    second.source = first.source.replace("torch.ones(T, T,", "past(T,")
    second.source = second.source.replace(".tril()", "").replace(", device=x.device", "")
    first.source = "def past(T, dtype):\n    return torch.ones(T, T, dtype=dtype).tril()"
    notebook.cells.insert(at + 1, second)


@edited("two cells merged into one")
def answer_merged_with_its_check(notebook):
    one, its_check = cell(notebook, "mix"), check(notebook, "mix")
    one.source += f"\n\n{its_check.source}"
    notebook.cells.remove(its_check)


@edited("nbgrader.md 1.6")
def check_above_its_answer(notebook):
    its_check = check(notebook, "mix")
    notebook.cells.remove(its_check)
    notebook.cells.insert(place(notebook, "mix"), its_check)


@edited("all cells in the reverse order")
def upside_down(notebook):
    notebook.cells.reverse()


@edited("cells of the lesson changed: the demos, the data, the text")
def changed_lesson_cells(notebook):
    cell(notebook, "tokens").source = "x = torch.zeros(3, 2)"
    cell(notebook, "blend-loop").source = "x.shape ="
    cell(notebook, "average-box").source = ""


@edited("cases.md S21", all_but("average"), says="my_average")
def renamed_function(notebook):
    one = cell(notebook, "average")
    one.source = one.source.replace("def average(", "def my_average(")


@edited("cases.md S21: the answer's cell is gone", all_but("mix"))
def deleted_answer(notebook):
    notebook.cells.remove(cell(notebook, "mix"))


@edited("a syntax error in one answer", all_but("average"))
def syntax_error(notebook):
    answer(notebook, "average", "def average(x):\n    return x.mean(dim=-2, keepdim=True")


@edited("a syntax error in a cell of the learner's own")
def syntax_error_elsewhere(notebook):
    on_top(notebook, "for i in range(3)\n    print(i)")
    below(notebook, "mix", "        x = 1\n    y = 2")


@edited("an exception in one answer", all_but("mix"), says="RuntimeError")
def exception_in_an_answer(notebook):
    answer(notebook, "mix", "def mix(weights, x):\n    return x @ weights")


@edited("an exception in an answer's cell, before it", all_but("mix"), says="ZeroDivisionError")
def exception_before_an_answer(notebook):
    cell(notebook, "mix").source = f"1 / 0\n{cell(notebook, 'mix').source}"


@edited("names of the lesson overwritten by the learner")
def overwritten_names(notebook):
    on_top(notebook, "check = heatmap = 3\nprint = None\nT = d = 0")
    at_the_end(notebook, "del torch")


@edited("cases.md S27: the last cell takes the kernel down", says="the kernel died")
def crash_at_the_end(notebook):
    at_the_end(notebook, "import os\nos._exit(1)")


@edited("nothing but text is left in it", NOTHING)
def no_code(notebook):
    notebook.cells[:] = [new_markdown_cell("I did not get to it.")]


@edited("answers of one exercise in another one's cell", only("uniform_weights", "mix"))
def answers_in_the_wrong_cells(notebook):
    answer(notebook, "average", "def f(x):\n    return x")
    answer(notebook, "running_average", cell(notebook, "mix").source)
