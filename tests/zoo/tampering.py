"""What is written into the file to mislead its readers: flags, points, names, markup."""

from zoo.animal import (
    ALL,
    NOTHING,
    all_but,
    answer,
    at_the_end,
    cell,
    check,
    edited,
    on_top,
    stubs,
)


@edited("threat table 10: checks that are never to run", NOTHING)
def skipped_checks(notebook):
    stubs(notebook)
    for name in ALL:
        check(notebook, name).metadata.tags = ["skip-execution", "remove_cell"]


@edited("threat table 10", all_but("mix"))
def points_raised(notebook):
    stubs(notebook, "mix")
    for name in ALL:
        check(notebook, name).metadata.nbgrader.points = 100
    extra = at_the_end(notebook, 'print("bonus")')
    extra.metadata.nbgrader = {
        "grade": True, "grade_id": "check-bonus", "locked": True, "points": 50,
        "schema_version": 3, "solution": False, "task": False,
    }  # fmt: skip


@edited("threat table 10", all_but("average"))
def flipped_flags(notebook):
    stubs(notebook, "average")
    for name in ALL:
        mark = check(notebook, name).metadata.nbgrader
        mark.update(grade=False, solution=True, locked=False, schema_version=99)
        cell(notebook, name).metadata.nbgrader.update(grade=True, points=7, solution=False)


@edited("threat table 21: names that are paths", all_but("mix"))
def names_that_are_paths(notebook):
    stubs(notebook, "mix")
    check(notebook, "mix").metadata.nbgrader.grade_id = "../../check-mix"
    notebook.metadata.intake = {"refused": "", "folder": "/", "remarks": [], "ours": False}
    notebook.metadata.verdicts = {"mix": 2.0}


@edited("threat table 22", all_but("mix"))
def html_everywhere(notebook):
    script = "<script>alert(1)</script><img src=x onerror=alert(2)><iframe src='javascript:0'>"
    cell(notebook, "title").source += script
    cell(notebook, "average").source += f"\n# {script}"
    answer(notebook, "mix", f'def mix(weights, x):\n    raise ValueError("""{script}""")')
    on_top(
        notebook,
        f"""
from IPython.display import HTML, Javascript, SVG, display
display(HTML("{script}"), Javascript("alert(4)"))
display({{"text/html": "{script}", "image/png": "{script}", "text/latex": "{script}"}}, raw=True)
print("{script}")
type("{script}", (Exception,), {{}})
""",
    )
    at_the_end(notebook, f'raise type("""{script}""", (Exception,), {{}})("""{script}""")')
    notebook.metadata.title = notebook.metadata.authors = script


@edited("threat table 24", all_but("mix"))
def terminal_sequences(notebook):
    codes = "\\x1b]0;owned\\x07\\x1b]8;;http://x.example\\x07click\\x1b]8;;\\x07\\x1b[2J\\x9b31m\\r\\x08"
    answer(notebook, "mix", f'def mix(weights, x):\n    raise ValueError("{codes}")')
    on_top(notebook, f'import os\nprint("{codes}")\nos.system("echo \'{codes}\' > /dev/tty")')
