"""Honest work again: what learners' notebooks look like."""

from nbformat.v4 import new_markdown_cell

from zoo.animal import (
    ALL,
    FILE,
    all_but,
    answer,
    at_the_end,
    below,
    cell,
    check,
    edited,
    handed_in,
    on_top,
    only,
    place,
    stubs,
    write,
)


@edited("half of it", only("average", "mix"), says="Not done yet")
def half_solved(notebook):
    stubs(notebook, "uniform_weights", "running_average")


@edited("own notes and attempts between the cells")
def added_cells(notebook):
    below(notebook, "average", "print(average(x))\naverage(x).shape")
    below(notebook, "mix-box", "# my first try\nattempt = lambda w, x: (w[:, :, None] * x).sum(-2)")
    for one in notebook.cells[::3]:
        notebook.cells.insert(notebook.cells.index(one), new_markdown_cell("a note of mine"))


@edited("an import that the answers need, in the cell of the imports")
def imports_of_its_own(notebook):
    cell(notebook, "imports").source += "\nimport numpy as np\nfrom math import fsum"
    answer(notebook, "uniform_weights", """
def uniform_weights(T):
    return torch.tensor(np.full((T, T), fsum([1 / T])), dtype=torch.float32)
""")  # fmt: skip


@handed_in("a module of their own beside the notebook")
def helper_module(folder, solved, released):
    (folder / "helpers.py").write_text("def over_tokens(x):\n    return x.mean(-2, keepdim=True)\n")
    on_top(solved, "from helpers import over_tokens")
    answer(solved, "average", "def average(x):\n    return over_tokens(x).expand_as(x)")
    write(folder / FILE, solved)


@edited("magics of IPython around an answer")
def magics(notebook):
    on_top(notebook, "%matplotlib inline\n%config InlineBackend.figure_format = 'png'")
    average = cell(notebook, "average")
    average.source = f"%%time\n{average.source}"
    below(notebook, "mix", "%timeit -n 2 -r 2 mix(torch.eye(3), torch.eye(3))\n!ls\nmix?")


@edited("an answer that is a lambda, and one that is a callable object")
def other_kinds_of_function(notebook):
    answer(notebook, "mix", "mix = lambda weights, x: weights @ x")
    answer(notebook, "uniform_weights", """
class Uniform:
    def __call__(self, T):
        return torch.full((T, T), 1 / T)

uniform_weights = Uniform()
""")  # fmt: skip


@edited("checks called again and again by the learner")
def checked_again(notebook):
    below(notebook, "average", 'check("average", average)\ncheck("mix", average)')
    at_the_end(notebook, 'check("running_average", running_average)')


@edited("tags that Jupyter and Colab put on cells")
def tags_everywhere(notebook):
    for one in notebook.cells:
        one.metadata.update(tags=["raises-exception", "hide-input"], collapsed=True, id="Xy12")
        one.metadata.update(colab={"base_uri": "https://localhost:8080/"}, scrolled=False)


@edited("answers of 4 exercises typed into one cell", ALL)
def all_answers_in_one_cell(notebook):
    sources = [cell(notebook, name).source for name in ALL]
    stubs(notebook)
    del notebook.cells[place(notebook, "uniform_weights")]
    answer(notebook, "average", "\n\n\n".join(sources))


@edited("a wrong answer among right ones", all_but("uniform_weights"), says="Every entry is 1")
def one_wrong(notebook):
    answer(notebook, "uniform_weights", "def uniform_weights(T):\n    return torch.ones(T, T)")
    assert check(notebook, "uniform_weights")
