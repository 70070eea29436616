"""Code that does not come back, or takes its kernel down: the other exercises keep their points."""

from zoo.animal import (
    ALL,
    FILE,
    all_but,
    answer,
    at_the_end,
    below,
    edited,
    handed_in,
    on_top,
    only,
    write,
)

LOOP = "while True:\n    pass"
SWALLOWS = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""


@edited("cases.md S06, threat table 15")
def loop_in_a_cell(notebook):
    on_top(notebook, LOOP)


@edited("cases.md S06, threat table 15", all_but("average"), says="loop that never ends")
def loop_in_an_answer(notebook):
    answer(notebook, "average", "def average(x):\n    while True:\n        x = x + 1")


@edited("threat table 15: it will not be interrupted", says="could not be stopped")
def loop_that_goes_on(notebook):
    below(notebook, "mix", SWALLOWS)


@edited("threat table 15: it will not be interrupted", all_but("mix"), says="could not be stopped")
def answer_that_goes_on(notebook):
    body = SWALLOWS.replace("\n", "\n        ")
    start = "def mix(weights, x):\n    if weights.shape[-1] != 6:"
    answer(notebook, "mix", f"{start}{body}\n    return x")


@edited("threat table 15: no signal reaches Python", says="could not be stopped")
def loop_that_blocks_signals(notebook):
    on_top(notebook, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + LOOP)


@edited("threat table 5, nbgrader.md 1.5", says="the kernel died")
def exit_in_a_cell(notebook):
    below(notebook, "mix", "import os\nos._exit(0)")


@edited("threat table 5: wherever it is called", all_but("average"))
def exit_in_an_answer(notebook):
    answer(notebook, "average", "import os\n\ndef average(x):\n    os._exit(0)")


@edited("threat table 5: in all answers but the last", only("running_average"))
def exit_in_three_answers(notebook):
    for name in ("average", "uniform_weights", "mix"):
        answer(notebook, name, f"import os\n\ndef {name}(*args):\n    os._exit(0)")


@edited("threat table 5: in six cells of the learner's own")
def exit_in_six_cells(notebook):
    for name in (*ALL, "tokens", "museum"):
        below(notebook, name, "import os\nos._exit(0)")


@edited("threat table 5")
def sys_exit(notebook):
    on_top(notebook, "import sys\nsys.exit(0)")
    at_the_end(notebook, "raise SystemExit")


@edited("threat table 5: as IPython understands it")
def exit_and_quit(notebook):
    on_top(notebook, "exit()")
    below(notebook, "mix", "quit()")


@edited("threat table 5", all_but("mix"), says="SystemExit")
def sys_exit_in_an_answer(notebook):
    answer(notebook, "mix", "import sys\n\ndef mix(weights, x):\n    sys.exit(0)")


@edited("threat table 5: the answer leaves without a word", all_but("mix"))
def keyboard_interrupt_in_an_answer(notebook):
    answer(notebook, "mix", "def mix(weights, x):\n    raise KeyboardInterrupt")


@edited("nbgrader.md 1.5")
def kill_9(notebook):
    on_top(notebook, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")


@edited("nbgrader.md 1.5: everything that it may send a signal to")
def kill_everybody(notebook):
    below(notebook, "check-mix", "import os, signal\nos.kill(-1, signal.SIGKILL)")


@edited("nbgrader.md 1.5")
def segfault(notebook):
    below(notebook, "average", "import ctypes\nctypes.string_at(0)")


@handed_in("a module beside the notebook that never comes back")
def module_that_never_ends(folder, solved, released):
    (folder / "slow.py").write_text(LOOP)
    on_top(solved, "import slow")
    write(folder / FILE, solved)
