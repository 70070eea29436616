"""What code in the cage can see and do, tried from inside, in real kernels."""

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell

from grader.runtime import cage as cages
from grader.runtime.cage import Cage, Limits, NoCage, cage
from grader.runtime.kernel import CagedKernel
from grader.runtime.warm import warmed

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("bwrap"), reason="there is no bubblewrap here"
)

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Limits(memory=3 * 2**30)
HASTY = replace(LIMITS, cell=2)  # for what never ends


@pytest.fixture(scope="module", params=["cold", "warm"])
def shut_in(request):
    cold = cage("strict", secrets=(str(ROOT / "solutions"),), limits=LIMITS)
    warm = warmed(cold)
    assert warm.template
    return warm if request.param == "warm" else cold


@pytest.fixture(scope="module")
def kernel(shut_in):
    with CagedKernel(shut_in) as kernel:
        yield kernel


def run(kernel, code):
    """What a cell prints, or the name of what it raises."""
    cell = new_code_cell(code)
    assert kernel.run(cell) == ""
    return "".join(out.get("text", out.get("ename", "")) for out in cell.outputs).strip()


def test_every_layer_holds_here_and_is_named(shut_in):
    assert set(shut_in.layers) == set(cages.REQUIRED["strict"])
    assert all(shut_in.layers.values())
    assert all(layer in str(shut_in) for layer in shut_in.layers)


ALLOWED = {
    "torch and the course": "import torch, grader; from grader import check; print('yes')",
    "figures": "from grader.figures import heatmap; print('yes')",
    "explorers": "from grader.widgets import heads, which_token; which_token(); print('yes')",
    "the helpers of a lesson": "from grader.lesson import after, museum; print('yes')",
    "what a lesson asks": "from grader.lesson import *; remember(); predict('sum', '?', []);"
    "reveal('sum', right='2'); order_lines('mix', ['a', 'b'], order=[1]); progress(); print('yes')",
    "writing at home": "open('notes.txt', 'w').write('x'); print('yes')",
    "writing in /tmp": "open('/tmp/x', 'w').write('x'); print('yes')",
    "a child process": "import subprocess; subprocess.run(['true'], check=True); print('yes')",
    "a command of the shell": "!echo yes",
    "what a command prints": "found = !echo yes\nprint(found)",
    "magics": "%matplotlib inline\n%time print('yes')",
    "another language": "%%bash\necho yes",
    "exit() and quit()": "exit()\nquit()\nprint('yes')",
    "a thread": "from threading import Thread; Thread(target=print).start(); print('yes')",
    "shared memory": "import torch; torch.ones(3).share_memory_(); print('yes')",
    "a display at the top level": "import pylab; pylab.plot([1]); pylab.show(); print('yes')",
}  # fmt: skip


@pytest.mark.parametrize("code", ALLOWED.values(), ids=ALLOWED)
def test_what_a_lesson_needs_works(kernel, code):
    assert "yes" in run(kernel, code)


HIDDEN = {
    "the exercises": "import grader.exercises",
    "the judge": "import grader.judge",
    "the reference kernels": "import grader.attention.kernels",
    "the checkout": f"open({str(ROOT / 'README.md')!r})",
    "the solutions": f"import os; os.listdir({str(ROOT / 'solutions')!r})",
    "passwords": "open('/etc/passwd')",
    "the home of whoever grades": f"import os; assert not os.listdir({str(Path.home())!r}) or 1/0",
}


@pytest.mark.parametrize("code", HIDDEN.values(), ids=HIDDEN)
def test_what_is_not_of_the_submission_is_not_there(kernel, code):
    assert run(kernel, code) in {
        "ModuleNotFoundError", "FileNotFoundError", "PermissionError", "ZeroDivisionError", "",
    }  # fmt: skip


def test_no_file_in_the_cage_knows_a_right_or_a_wrong_kernel(kernel):
    """Every Python file that can be read is searched for words that only such files have."""
    marks = ["exercise.refer" + "ence", "known_" + "wrong", "class Must" + "ake", "on_" + "top("]
    found = run(
        kernel,
        "import os\n"
        "found = []\n"
        "for top in ('/course', '/desk', '/home', '/tmp', *__import__('sys').path):\n"
        "    for folder, _, names in os.walk(top):\n"
        "        if 'site-packages/' in folder and '/grader' not in folder: continue\n"
        "        for name in names:\n"
        "            if name.endswith(('.py', '.ipynb', '.md')):\n"
        "                text = open(os.path.join(folder, name), errors='ignore').read()\n"
        f"                found += [name for mark in {marks!r} if mark in text]\n"
        "print('searched', sorted(set(found)))",
    )
    assert found == "searched []"


def test_the_environment_of_the_grading_process_stays_outside(kernel):
    os.environ["COURSE_TEST_SECRET"] = "seen"
    names = run(kernel, "import os; print(*os.environ)").split()
    assert not [name for name in names if name.startswith(("NBGRADER", "COURSE", "JUPYTER_"))]


FORBIDDEN = {
    "the network": "import socket; socket.create_connection(('1.1.1.1', 80), 1)",
    "names on the network": "import urllib.request; urllib.request.urlopen('http://example.org')",
    "a socket for packets": "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "writing beside the course": "open('/course/x', 'w')",
    "writing into the libraries": "import torch; open(torch.__file__, 'a')",
    "writing among the sockets": "open('/desk/x', 'w')",
    "removing a socket": "import os; os.remove('/desk/desk')",
    "moving a socket": "import os; os.rename('/desk/desk', '/desk/other')",
    "writing into devices": "open('/dev/x', 'w')",
    "writing at the root": "open('/x', 'w')",
    "a large file": "f = open('big', 'wb'); [f.write(bytes(2**25)) for _ in range(9)]",
    "filling the disk": "[open(f'f{i}', 'wb').write(bytes(2**25)) for i in range(9)]",
    "more files than its limit": "files = [open('/dev/null') for _ in range(2000)]",
    "more memory than its limit": "b = bytearray(2**33)",
    "new namespaces": "import os, ctypes; 1 / (ctypes.CDLL(None).unshare(0x10000000) + 1)",
    "memory without a process": "import os; os.memfd_create('x')",
    "shared segments": "import ctypes; 1 / (ctypes.CDLL(None).shmget(0, 2**20, 0o1600) + 1)",
    "tracing": "import ctypes; 1 / (ctypes.CDLL(None).ptrace(0, 0, 0, 0) + 1)",
    "mounting": "import ctypes; 1 / (ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, 0) + 1)",
    "another user": "import os; os.setuid(0)",
    "higher limits": "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
    "the process above": "import os; os.kill(os.getppid(), 9); os.kill(1, 9); 1/0",
}  # fmt: skip


@pytest.mark.parametrize("code", FORBIDDEN.values(), ids=FORBIDDEN)
def test_what_no_lesson_needs_fails(kernel, code):
    raised = run(kernel, code)
    assert raised in {
        "PermissionError", "OSError", "URLError", "MemoryError", "ZeroDivisionError", "ValueError",
        "gaierror", "ProcessLookupError",
    }, raised  # fmt: skip
    run(
        kernel,
        "files = f = None; import os; [os.remove(p) for p in os.listdir('.') if p[0] in 'fb']",
    )


def test_only_its_own_processes_are_there(kernel):
    pids = run(kernel, "import os; print(*[p for p in os.listdir('/proc') if p.isdigit()])")
    assert len(pids.split()) <= 4


def test_a_fork_bomb_stops_at_the_limit(shut_in):
    bomb = "import os, time\nfor _ in range(5000):\n    if os.fork() == 0:\n        time.sleep(99)"
    with CagedKernel(shut_in) as kernel:
        cell = new_code_cell(bomb)
        kernel.run(cell)
        started = len(kernel._process.children(recursive=True))
        assert "BlockingIOError" in str(cell.outputs)
        assert started <= shut_in.limits.processes + 2
        processes = kernel._process.children(recursive=True)
    assert not psutil.wait_procs(processes, timeout=10)[1]


def test_an_endless_loop_is_interrupted_and_the_next_cell_runs(shut_in):
    with CagedKernel(replace(shut_in, limits=HASTY)) as kernel:
        cell = new_code_cell("while True: pass")
        assert kernel.run(cell) == ""
        assert "Interrupted after 2 s" in str(cell.outputs)
        assert run(kernel, "print('still here')") == "still here"


ENDS = {
    "a loop that will not be interrupted": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "could not be stopped",
    ),
    "an exit": ("import os; os._exit(0)", "the kernel died"),
    "a kill": ("import os; os.kill(os.getpid(), 9)", "the kernel died"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "the kernel died"),
}


@pytest.mark.parametrize(("code", "why"), ENDS.values(), ids=ENDS)
def test_whatever_ends_a_kernel_is_said_and_leaves_nothing_behind(shut_in, monkeypatch, code, why):
    folder = tempfile.mkdtemp()
    monkeypatch.setattr(tempfile, "tempdir", folder)
    with CagedKernel(replace(shut_in, limits=HASTY)) as kernel:
        processes = [kernel._process, *kernel._process.children(recursive=True)]
        assert why in kernel.run(new_code_cell(code))
    assert not psutil.wait_procs(processes, timeout=10)[1]
    os.rmdir(folder)  # which fails if anything is in it


def test_memory_in_many_processes_is_counted_together(shut_in):
    child = "b = b'x' * 2**29; time.sleep(99)"
    code = f"import os, time\nfor _ in range(8):\n    if os.fork() == 0: {child}\ntime.sleep(99)"
    with CagedKernel(shut_in) as kernel:
        assert "more memory" in kernel.run(new_code_cell(code))


def test_a_child_left_behind_dies_with_the_cage(shut_in):
    with CagedKernel(shut_in) as kernel:
        code = (
            "import subprocess as s; s.Popen(['sleep', '4321'], start_new_session=True); print(1)"
        )
        assert run(kernel, code) == "1"
        (child,) = [p for p in kernel._process.children(recursive=True) if "4321" in p.cmdline()]
    assert not psutil.wait_procs([child], timeout=10)[1]


def test_a_flood_of_output_is_cut(shut_in):
    with CagedKernel(shut_in) as kernel:
        cell = new_code_cell("for _ in range(2000): print('x' * 100_000)")
        kernel.run(cell)
        assert len(str(cell.outputs)) < 1_000_000
        assert run(kernel, "print('after')") == "after"


def test_the_files_handed_in_lie_in_the_folder_where_the_code_runs(shut_in, tmp_path):
    (tmp_path / "helper.py").write_text("answer = 42")
    for name in ("torch", "random", "token", "safetensors", "grader"):  # it is no module of ours
        (tmp_path / f"{name}.py").write_text("1 / 0")
    tmp_path.chmod(0o755)
    with CagedKernel(shut_in, tmp_path) as kernel:
        assert run(kernel, "import helper; print(helper.answer)") == "42"
        assert run(kernel, "import torch, random, grader; print(torch.ones(1).item())") == "1.0"
        assert run(kernel, "open('/desk/files/helper.py', 'w')") in ("OSError", "PermissionError")
    assert (tmp_path / "helper.py").read_text() == "answer = 42"


def test_without_bubblewrap_grading_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoCage, match="bubblewrap is not installed .apt install bubblewrap"):
        cage("standard")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is not held by the limit of processes")
def test_a_layer_that_does_not_hold_is_refused_by_name(monkeypatch):
    """Root without another user to become is not held by the limit of processes."""
    monkeypatch.setattr(cages, "_ways", lambda: (False,))
    with pytest.raises(NoCage, match="does not hold on this machine: number of processes"):
        cage("standard")


def test_no_cage_is_loud_and_a_silly_level_is_refused():
    assert cage("none") == Cage("none")
    assert "without a cage" in str(cage("none"))
    with pytest.raises(NoCage, match="There is no cage called 'some'"):
        cage("some")
