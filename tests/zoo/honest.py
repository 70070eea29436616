"""Honest work: whatever else is in it, right answers earn their full points."""

from zoo.animal import (
    FILE,
    NOTHING,
    SCALING,
    all_but,
    answer,
    at_the_end,
    below,
    cell,
    edited,
    handed_in,
    on_top,
    stubs,
    write,
)


@edited("a plain solved notebook")
def solved(notebook):
    pass


@edited("cases.md E02", NOTHING, says="Not done yet")
def untouched(notebook):
    stubs(notebook)


@edited("cases.md S12", says="at the end of the notebook")
def better_answer_later(notebook):
    right = cell(notebook, "average").source
    answer(notebook, "average", "def average(x):\n    return x.mean(dim=-1, keepdim=True)")
    at_the_end(notebook, right)


@edited("cases.md S32")
def answer_in_the_cell_below(notebook):
    right = cell(notebook, "mix").source
    stubs(notebook, "mix")
    below(notebook, "check-mix", right)


@edited("cases.md S07")
def trailing_input(notebook):
    cell(notebook, "mix").source += '\ninput("Press Enter to go on")'
    at_the_end(notebook, 'name = input("Your name? ")')


@edited("cases.md S18")
def plt_show(notebook):
    on_top(notebook, "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()")
    below(notebook, "average", "plt.imshow(average(x))\nplt.show()")


@edited("cases.md S19")
def colab_import(notebook):
    on_top(notebook, 'from google.colab import drive\ndrive.mount("/content/drive")')


@edited("cases.md S19, where it matters most")
def colab_import_first(notebook):
    imports = cell(notebook, "imports")
    imports.source = f"from google.colab import files\n{imports.source}"


@edited("cases.md E03")
def module_that_is_not_there(notebook):
    on_top(notebook, "import a_module_that_no_machine_has")


@edited("threat table 32, nbgrader.md 1.4")
def warnings_and_stderr(notebook):
    on_top(notebook, 'import sys, warnings\nprint("a progress bar", file=sys.stderr)')
    answer(notebook, "mix", """
def mix(weights, x):
    warnings.warn("this is deprecated")
    print("mixing", weights.shape)
    print("mixing", file=sys.stderr)
    return weights @ x
""")  # fmt: skip


@edited("cases.md S28")
def pip_lines(notebook):
    on_top(notebook, "!pip install --upgrade torch\n%pip install -q einops")
    on_top(notebook, "import sys\n!{sys.executable} -m pip install --user einops")


@edited("cases.md S30")
def other_default_dtype(notebook):
    on_top(notebook, "torch.set_default_dtype(torch.float64)\ntorch.manual_seed(0)")


@edited("cases.md S30, E14")
def other_default_device(notebook):
    at = below(notebook, "average", "torch.set_grad_enabled(False)\ntorch.manual_seed(1)")
    at.source += '\ntorch.set_default_device("meta")'


@edited("cases.md S33")
def never_run_in_order(notebook):
    below(notebook, "check-running_average", "def triangle(T, like):\n"
          "    return torch.ones(T, T, dtype=like.dtype).tril()")  # fmt: skip
    answer(notebook, "running_average", """
def running_average(x):
    weights = triangle(x.shape[-2], x)
    return weights / weights.sum(-1, keepdim=True) @ x
""")  # fmt: skip
    for number, one in enumerate(notebook.cells):
        if one.cell_type == "code":
            one.execution_count = (number * 37) % 101


@edited("cases.md S25")
def looks_at_the_environment(notebook):
    on_top(notebook, "import os\n"
           'if "NBGRADER_EXECUTION" not in os.environ:\n    slow = sum(range(10**6))')  # fmt: skip


@handed_in("cases.md S22")
def files_by_local_path(folder, solved, released):
    (folder / "data").mkdir()
    (folder / "data" / "numbers.csv").write_text("1,2,3\n")
    on_top(
        solved,
        """
numbers = open("data/numbers.csv").read()
with open("copy.csv", "w") as file:
    file.write(numbers)
assert open("copy.csv").read() == "1,2,3\\n"
def one():
    return float(numbers[0])
""",
    )
    below(solved, "mix-box", 'open("/home/ada/Desktop/course/other.csv")')
    answer(
        solved,
        "uniform_weights",
        """
def uniform_weights(T):
    return torch.full((T, T), one() / T)
""",
    )
    write(folder / FILE, solved)


@edited("cases.md E04")
def many_threads(notebook):
    on_top(notebook, "torch.set_num_threads(64)\nprint((torch.ones(900, 900) @ torch.ones(900)))")


@edited("cases.md E05")
def slow_loops(notebook):
    answer(notebook, "running_average", """
def running_average(x):
    rows = []
    for i in range(x.shape[-2]):
        total = torch.zeros_like(x[..., 0, :])
        for j in range(i + 1):
            total = total + x[..., j, :]
        rows.append(total / (i + 1))
    return torch.stack(rows, dim=-2)
""")  # fmt: skip


@edited("cases.md E20: the shape is right, the numbers are not", all_but("mix"))
def right_shape_only(notebook):
    answer(notebook, "mix", "def mix(weights, x):\n    return (weights @ x) * 0 + 5")


@edited("cases.md E18: buffers beside the parameters", all_but(lesson=SCALING), lesson=SCALING)
def module_with_buffers(notebook):
    head = cell(notebook, "Head")
    at = "super().__init__()"
    assert at in head.source
    head.source = head.source.replace(
        at, f'{at}\n        self.register_buffer("mask", torch.ones(8, 8).tril())'
    )
