"""Attempts to get out of the cage, or to be read as something else than a notebook."""

import os

from zoo.animal import (
    ALL,
    FILE,
    NOTHING,
    SCALING,
    all_but,
    answer,
    edited,
    handed_in,
    on_top,
    only,
    stubs,
    write,
)

STEAL = """
import glob, itertools, json, os
up = [os.path.join(*[os.pardir] * n) for n in range(1, 7)] + ["/", "/work", "/home", "/root"]
steps = "solutions", "source", "release", "submitted/*", "restored/*", "autograded/*", "."
loot = [
    "".join(one["source"])
    for folder, step in itertools.product(up, steps)
    for path in glob.glob(f"{folder}/{step}/*/*.ipynb")
    for one in json.load(open(path))["cells"]
]
modules = "lesson_01" in {name for _, folders, _ in os.walk("/course") for name in folders}

def stolen(name):
    for source in loot:
        if f"def {name}(" in source and "NotImplementedError" not in source:
            space = {"torch": torch}
            exec(source, space)
            return space[name]
    if modules:
        return __import__(f"grader.exercises.lesson_01.{name}", fromlist="x").exercise.right
    raise NotImplementedError
"""


@edited("threat table 9, nbgrader.md 2.1", NOTHING)
def reads_solutions(notebook):
    on_top(notebook, STEAL)
    for name in ALL:
        answer(notebook, name, f"def {name}(*args):\n    return stolen({name!r})(*args)")


@edited("threat table 8", NOTHING)
def writes_the_gradebook(notebook):
    stubs(notebook)
    on_top(notebook, """
import glob, sqlite3
found = [path for deep in ("*", "*/*", "*/*/*") for path in glob.glob(f"/{deep}/*.db")]
for path in ["gradebook.db", "../../../gradebook.db", *found]:
    try:
        with sqlite3.connect(path) as base:
            base.execute("update grade set auto_score = 3, manual_score = 3")
    except sqlite3.Error as error:
        print(error)
""")  # fmt: skip


@edited("threat table 8, 11: records and the files of the grader", only("mix"))
def writes_records(notebook):
    stubs(notebook, "average", "uniform_weights", "running_average")
    on_top(notebook, """
import os
for path in ("/course/grader/__init__.py", "/course/enter.py", "/desk/records", "/records/x.json",
             "/etc/passwd", "/submission/averaging.ipynb", "/usr/lib/x.pth", torch.__file__):
    try:
        with open(path, "a") as file:
            file.write("check = lambda *rest: 3.0")
        print("WRITTEN", path)
    except OSError as error:
        print(error)
for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/root/etc/shadow", "/etc/shadow"):
    try:
        print("READ", open(path).read(10))
    except OSError as error:
        print(error)
""")  # fmt: skip


@edited("threat table 12")
def network(notebook):
    on_top(notebook, """
import socket, urllib.request
for address in (("127.0.0.1", 8888), ("1.1.1.1", 53), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, timeout=2)
        print("CONNECTED", address)
    except OSError as error:
        print(error)
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53))
except OSError as error:
    print(error)
""")  # fmt: skip


@edited("section 4: system calls that break-outs are made of")
def system_calls(notebook):
    on_top(notebook, """
import ctypes, os, subprocess
libc = ctypes.CDLL(None, use_errno=True)
for number in (16, 0x4206):
    print("ptrace", libc.ptrace(number, 1, 0, 0))
print("unshare", libc.unshare(0x10000000), "mount", libc.mount(b"none", b"/tmp", b"tmpfs", 0, 0))
print("chroot", libc.chroot(b"/tmp"), "setuid", libc.setuid(0), "keyctl", libc.syscall(250, 0, 0))
print(subprocess.run(["unshare", "-Ur", "id"], capture_output=True, text=True))
for pid in range(1, 4000):
    if pid != os.getpid() and pid != os.getppid():
        try:
            os.kill(pid, 0)
            print("SEEN", pid)
        except OSError:
            pass
""")  # fmt: skip


@edited("the grader's sockets moved away")
def moves_the_sockets(notebook):
    on_top(
        notebook,
        """
import os
folder = os.path.dirname(os.environ["GRADER_DESK"])
for name in os.listdir(folder):
    try:
        os.rename(os.path.join(folder, name), os.path.join(folder, "gone"))
        os.unlink(os.path.join(folder, "gone"))
    except OSError as error:
        print(error)
""",
    )


@edited("many files written among the grader's sockets")
def writes_among_the_sockets(notebook):
    on_top(notebook, """
import os, socket
folder = os.path.dirname(os.environ["GRADER_DESK"])
for number in range(10):
    try:
        with open(os.path.join(folder, str(number)), "w") as file:
            file.write("x")
        os.symlink("/etc/shadow", os.path.join(folder, f"link{number}"))
    except OSError as error:
        print(error)
""")  # fmt: skip


@handed_in("threat table 19: the notebook is a link", None, says="link")
def notebook_is_a_link(folder, solved, released):
    write(folder.parent / "elsewhere.ipynb", solved)
    os.symlink(folder.parent / "elsewhere.ipynb", folder / FILE)


@handed_in("threat table 19: links beside the notebook")
def links_out_of_the_folder(folder, solved, released):
    write(folder / FILE, solved)
    os.symlink("/etc/passwd", folder / "numbers.csv")
    os.symlink("../../../solutions", folder / "answers")
    os.symlink("/", folder / "everything")
    os.symlink("loop", folder / "loop")
    on_top(solved, 'print("READ", open("numbers.csv").read(), open("answers/x").read())')


@handed_in("threat table 19: a pipe and a socket beside the notebook, nobody at their other ends")
def pipe_beside_it(folder, solved, released):
    write(folder / FILE, solved)
    os.mkfifo(folder / "numbers.csv")
    os.mkfifo(folder / "timestamp.txt")


@handed_in("threat table 19: the notebook is a pipe", None)
def notebook_is_a_pipe(folder, solved, released):
    os.mkfifo(folder / FILE)


@handed_in("threat table 18: weights that run code when they are loaded")
def pickled_weights(folder, solved, released):
    write(folder / FILE, solved)
    (folder / "weights.pt").write_bytes(b"cos\nsystem\n(S'touch /tmp/zoo-was-here'\ntR.")


@edited("section 5: the box is opened instead of measured", all_but("which_scale", lesson=SCALING),
        lesson=SCALING)  # fmt: skip
def peeks_into_the_box(notebook):
    answer(notebook, "which_scale", """
def which_scale(attention):
    import gc, inspect
    names = ["1/sqrt(d_k)", "1/d_k", "1", "sqrt(d_k)", "1/sqrt(T)", "1/sqrt(d_v)"]
    seen, todo = [], [attention]
    while todo and len(seen) < 200:
        thing = todo.pop(0)
        seen.append(thing)
        if isinstance(thing, str) and thing in names:
            return thing
        todo += list(getattr(thing, "__dict__", {}).values())
        todo += [each.cell_contents for each in getattr(thing, "__closure__", None) or ()]
        todo += list(getattr(thing, "__defaults__", None) or ())
    try:
        source = inspect.getsource(attention)
    except (OSError, TypeError):
        source = repr(attention)
    return next((name for name in names[3:] if name in source), names[0])
""")  # fmt: skip
