"""Code that takes more than its share of memory, processes, output or disk."""

from zoo.animal import (
    ALL,
    all_but,
    answer,
    below,
    edited,
    on_top,
)

BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""


@edited("threat table 14, cases.md S34")
def memory_bomb(notebook):
    below(notebook, "average", "hoard = []\nwhile True:\n    hoard.append(bytearray(2**28))")
    below(notebook, "check-average", "hoard = None")


@edited("threat table 14, cases.md S34: a batch as large as that", all_but("mix"))
def memory_bomb_in_an_answer(notebook):
    answer(notebook, "mix", """
def mix(weights, x):
    return torch.ones(2**20, 2**20) @ weights @ x
""")  # fmt: skip


@edited("threat table 14: each process within its limit, all together not")
def memory_bomb_of_many(notebook):
    below(notebook, "average", """
import os, time
for _ in range(20):
    if os.fork() == 0:
        hoard = bytearray(2**29)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
""")  # fmt: skip


@edited("a result too large to hand over", all_but("average"))
def huge_result(notebook):
    answer(notebook, "average", "def average(x):\n    return torch.zeros(200_000_000)")


@edited("threat table 13")
def fork_bomb(notebook):
    on_top(notebook, BOMB)


@edited("threat table 13: threads in place of processes")
def thread_bomb(notebook):
    on_top(notebook, """
import threading
gate = threading.Event()
try:
    while True:
        threading.Thread(target=gate.wait, daemon=True).start()
except RuntimeError as error:
    print(error)
gate.set()
""")  # fmt: skip


@edited("threat table 16, cases.md S16")
def output_flood(notebook):
    on_top(notebook, 'while True:\n    print("all work and no play " * 100)')


@edited("threat table 16, cases.md S16: without a line's end")
def output_in_one_line(notebook):
    on_top(notebook, 'print("x" * 100_000_000)')
    below(notebook, "mix", "'y' * 40_000_000")


@edited("threat table 16: pictures")
def display_flood(notebook):
    on_top(notebook, """
from IPython.display import HTML, display
for i in range(20_000):
    display(HTML(f"<b>{i}</b>"))
""")  # fmt: skip


@edited("threat table 16: below Python, past its streams")
def output_past_python(notebook):
    on_top(notebook, "import os\nfor _ in range(2000):\n    os.write(1, b'z' * 65536)")


@edited("cases.md S16: recursion", all_but("average"), says="RecursionError")
def recursion(notebook):
    answer(notebook, "average", "def average(x):\n    return average(x)")


@edited("cases.md S16: recursion until the stack ends")
def recursion_without_limit(notebook):
    on_top(notebook, "import sys\nsys.setrecursionlimit(10**9)\n"
           "f = lambda x: [x.__class__(map(f, [x]))] + f(x)\nf([1])")  # fmt: skip


@edited("threat table 26: a thread that never ends")
def endless_thread(notebook):
    on_top(notebook, "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)])"
           ".start()")  # fmt: skip


@edited("threat table 26: a process that would act later")
def child_left_behind(notebook):
    on_top(notebook, """
import subprocess, sys
later = "import time\\nwhile True:\\n    time.sleep(1)\\n    open('late', 'a').write('x')"
subprocess.Popen([sys.executable, "-c", later], start_new_session=True)
subprocess.Popen(["nohup", "sleep", "1000"])
""")  # fmt: skip


@edited("a disk that is filled", ALL)
def disk_bomb(notebook):
    on_top(notebook, """
for folder in (".", "/tmp", "/dev/shm"):
    for number in range(100):
        try:
            with open(f"{folder}/{number}", "wb") as file:
                for _ in range(1000):
                    file.write(bytes(2**20))
        except OSError as error:
            print(error)
            break
""")  # fmt: skip


@edited("files that are opened and never closed")
def open_files(notebook):
    on_top(notebook, "held = []\nwhile True:\n    held.append(open('/dev/null'))")
    on_top(notebook, "held = None")
    notebook.cells[2:4] = notebook.cells[3:1:-1]
