"""Warm kernels, as everything that starts kernels gets them: forked, and otherwise as if cold."""

import asyncio
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_client import AsyncKernelManager, BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from lab import serving
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook, new_output

from grader.runtime import provisioner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels start cold here")

INLINE = "module://matplotlib_inline.backend_inline"
IS_WARM = "import sys; print('torch' in sys.modules)"


@pytest.fixture(scope="module", autouse=True)
def runtime():
    """A folder for the sockets of these tests: nobody else's template is met there."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tempfile.mkdtemp(prefix="warm-")
        patch.setenv("JUPYTER_RUNTIME_DIR", folder)
        patch.setattr(provisioner, "_templates", {})
        yield Path(folder)
    shutil.rmtree(folder)


@contextmanager
def started(name="warm", **settings):
    manager, client = start_new_kernel(kernel_name=name, **settings)
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code, when_it_prints=lambda: None):
    """What a cell prints, and the name of what it raises."""
    said = []

    def hear(message):
        content = message["content"]
        if message["msg_type"] == "stream":
            said.append(content["text"])
            when_it_prints()
        elif message["msg_type"] == "error":
            said.append(content["ename"])

    client.execute_interactive(code, output_hook=hear, timeout=60)
    return "".join(said).strip()


def template_of(manager):
    return psutil.Process(manager.provisioner.pid).parent()


def program_of(process):
    return process.cmdline()[-1]


def ended(*processes):
    """Whether all end in time; what nobody has waited for yet has ended."""
    _, alive = psutil.wait_procs(processes, timeout=20)
    return not [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]


def runs(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.fixture(scope="module")
def warm():
    with started() as (manager, client):
        yield manager, client


def notebook(*cells):
    """Cells of (code, what it prints); nbgrader gives a point for each."""
    made = new_notebook(metadata={"kernelspec": {"name": "warm", "display_name": "warm"}})
    for number, (code, text) in enumerate(cells):
        graded = {"grade": True, "solution": False, "locked": True, "points": 1}
        about = {"nbgrader": {**graded, "schema_version": 3, "grade_id": str(number)}}
        about["nbgrader"]["cell_type"], about["nbgrader"]["task"] = "code", False
        outputs = [new_output("stream", text=text)] if text else []
        made.cells.append(new_code_cell(code, outputs=outputs, execution_count=1, metadata=about))
    return made


def command(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def test_a_kernel_is_a_fork_of_a_process_that_has_imported_torch(warm):
    manager, client = warm
    assert program_of(template_of(manager)) == str(provisioner.PROGRAM)
    assert run(client, IS_WARM) == "True"


def test_nbclient_runs_a_notebook_in_one():
    cells = notebook((IS_WARM, "")).cells
    made = NotebookClient(new_notebook(cells=cells), kernel_name="warm").execute()
    assert made.cells[0].outputs[0].text == "True\n"


def test_nbval_runs_a_notebook_in_one(tmp_path):
    nbformat.write(notebook((IS_WARM, "True\n")), tmp_path / "one.ipynb")
    options = ["-q", "-p", "no:cacheprovider", "--nbval", "--nbval-kernel-name", "warm"]
    status, said = command(tmp_path, "pytest", *options, "one.ipynb")
    assert (status, "1 passed" in said) == (0, True), said


def test_nbgrader_runs_a_notebook_in_one(tmp_path):
    nbformat.write(
        notebook(("import sys; assert 'torch' in sys.modules", "")), tmp_path / "one.ipynb"
    )
    _, said = command(tmp_path, "nbgrader", "validate", "one.ipynb")
    assert "Success! Your notebook passes all the tests." in said


def test_the_server_of_jupyterlab_runs_and_restarts_one(runtime, tmp_path):
    command = [sys.executable, "-m", "jupyter", "server", "--allow-root"]
    with serving(tmp_path, lambda flags: [*command, *flags]) as address:

        def ask(path):
            request = urllib.request.Request(
                f"{address}/api/kernels{path}",
                data=json.dumps({"name": "warm"}).encode(),
                headers={"Authorization": "token t", "Content-Type": "application/json"},
            )
            return json.loads(urllib.request.urlopen(request, timeout=60).read())

        kernel = ask("")["id"]
        client = BlockingKernelClient(connection_file=str(runtime / f"kernel-{kernel}.json"))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        run(client, "x = 1")
        ask(f"/{kernel}/restart")
        client.wait_for_ready(timeout=60)
        assert run(client, "print('x' in globals())\n" + IS_WARM) == "False\nTrue"
        client.stop_channels()


@pytest.mark.parametrize(
    ("code", "prints"),
    [
        ("print('.')\nwhile True: pass", ".\nKeyboardInterrupt"),
        ("import time\nprint('.')\ntime.sleep(100)", ".\nKeyboardInterrupt"),
        ("import subprocess\nprint('.')\nsubprocess.run(['sleep', '100'])", ".\nKeyboardInterrupt"),
    ],
)
def test_a_cell_is_interrupted(warm, code, prints):
    manager, client = warm
    assert run(client, code, manager.interrupt_kernel) == prints
    assert run(client, "print('goes on')") == "goes on"


def test_a_kernel_is_restarted_and_shut_down(tmp_path):
    bye = tmp_path / "bye"
    with started() as (manager, client):
        first = psutil.Process(manager.provisioner.pid)
        run(client, f"import atexit, pathlib; atexit.register(pathlib.Path({str(bye)!r}).touch)")
        manager.restart_kernel()
        client.wait_for_ready(timeout=60)
        assert ended(first)
        assert bye.exists()
        assert run(client, "print('atexit' in globals())\n" + IS_WARM) == "False\nTrue"
        second = psutil.Process(manager.provisioner.pid)
        manager.shutdown_kernel()
        assert not manager.is_alive()
        assert ended(second)


def test_a_kernel_that_dies_is_noticed_and_its_exit_status_known():
    async def die():
        manager = AsyncKernelManager(kernel_name="warm")
        await manager.start_kernel()
        fork = manager.provisioner.process
        psutil.Process(fork.pid).kill()
        status = fork.wait(20)
        alive = await manager.is_alive()
        await manager.shutdown_kernel(now=True)
        return status, alive

    assert asyncio.run(die()) == (-9, False)


DRAW = """
import random, numpy, torch
print(random.random(), numpy.random.rand(), numpy.random.default_rng().random(), torch.rand(1))
"""

LEFT = """
import os, sys, torch
print(os.__name__, "mine" in sys.modules, torch.get_num_threads())
"""


def test_what_one_kernel_draws_and_sets_the_next_does_not(warm):
    _, one = warm
    drawn = run(one, DRAW).split()
    cold = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=True)
    threads = int(cold.stdout.split()[-1])
    run(one, f"torch.set_num_threads({threads + 1}); sys.modules['mine'] = 1; os = 'mine'")
    with started() as (_, other):
        assert not set(drawn) & set(run(other, DRAW).split())
        assert run(other, LEFT) == cold.stdout.strip()


def test_the_template_holds_no_secret_and_no_kernel_another_ones():
    with started(env={**os.environ, "PASSWORD": "swordfish"}) as (manager, client):
        assert run(client, "import os; print(os.environ['PASSWORD'])") == "swordfish"
        assert "PASSWORD" not in template_of(manager).environ()
        with started() as (other, client):
            assert template_of(other) == template_of(manager)
            assert run(client, "import os; print(os.environ.get('PASSWORD'))") == "None"
            names = "[name for name in sys.modules if name.split('.')[0] == 'grader']"
            assert run(client, f"import sys; print({names})") == "[]"


def test_the_template_has_one_thread_and_keeps_no_files_open(warm):
    manager, _ = warm
    template = template_of(manager)
    files = []
    for _ in range(3):
        with started() as (_, client):
            run(client, "import torch; torch.rand(500, 500) @ torch.rand(500, 500)")
            files.append(template.num_fds())
    assert len(set(files)) == 1
    assert template.num_threads() == 1


def test_the_template_has_one_thread_before_its_first_fork_too():
    code = "import template; template.preload(); print(len(os.listdir('/proc/self/task')))"
    words = [sys.executable, "-c", "import os; " + code]
    done = subprocess.run(words, cwd=provisioner.PROGRAM.parent, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


# Capabilities would let root read everything.
POOR = """
import json, os, sys
import psutil
sys.path.insert(0, sys.argv[1])
import rooms
from jupyter_client.manager import start_new_kernel

def readable(pid):
    try:
        return bool(open(f"/proc/{pid}/maps").read())
    except PermissionError:
        return False

rooms.drop_capabilities()
manager, client = start_new_kernel(kernel_name="warm")
kernel = manager.provisioner.pid
print(json.dumps([readable(kernel), readable(psutil.Process(kernel).ppid())]))
manager.shutdown_kernel(now=True)
"""


def test_no_other_process_of_the_user_reads_the_memory_of_the_template():
    words = [sys.executable, "-c", POOR, str(provisioner.PROGRAM.parent)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert json.loads(done.stdout) == [True, False], done.stderr  # a kernel's, and the template's


SAME = """
import json, os, signal, sys, threading, warnings
import matplotlib.pyplot as plt, numpy, torch
numpy.ones((600, 600)) @ numpy.ones((600, 600))
state = {
    "path": sys.path,
    "program": sys.argv[0],
    "arguments": len(sys.argv),
    "main": [__name__, sys.modules["__main__"].__dict__ is globals()],
    "folder": os.getcwd(),
    "variables": sorted(os.environ),
    "threads": [threading.active_count(), len(os.listdir("/proc/self/task"))],
    "torch": [torch.get_num_threads(), torch.get_num_interop_threads()],
    "files": len(os.listdir("/proc/self/fd")),
    "session": os.getsid(0) == os.getpgid(0) == os.getpid(),
    "parent": os.environ["JPY_PARENT_PID"],
    "signals": [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGCHLD)],
    "figures": plt.get_backend(),
    "warnings": len(warnings.filters),
    "umask": os.umask(0),
}
"""


def test_otherwise_a_kernel_is_as_if_it_had_started_cold(tmp_path):
    states = []
    for name in ("python3", "warm"):
        with started(name, cwd=str(tmp_path)) as (_, client):
            run(client, SAME)
            states.append(json.loads(run(client, "print(json.dumps(state))")))
    cold, warm = states
    files = cold.pop("files") - warm.pop("files")
    assert warm == cold
    assert abs(files) <= 2  # the journal of the history comes and goes


def test_figures_are_shown(warm):
    _, client = warm
    shown = []
    client.execute_interactive(
        "import matplotlib.pyplot as plt; plt.plot([1, 2]);",
        output_hook=shown.append,
        timeout=60,
    )
    (figure,) = [one for one in shown if one["msg_type"] == "display_data"]
    assert "image/png" in figure["content"]["data"]


WORKERS = """
import multiprocessing, torch
from torch.utils.data import DataLoader
print(sum(int(batch.sum()) for batch in DataLoader(torch.ones(12), 3, num_workers=2)))
with multiprocessing.get_context("spawn").Pool(1) as pool:
    print(pool.map(abs, [-5]))
"""


def test_a_kernel_has_workers_and_asks_for_input(warm):
    _, client = warm
    assert run(client, WORKERS) == "12\n[5]"
    client.execute_interactive(
        "answer = input()", stdin_hook=lambda _: client.input("yes"), allow_stdin=True, timeout=60
    )
    assert run(client, "print(answer)") == "yes"


CLIENT = """
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="warm")
client.execute("import matplotlib; backend = matplotlib.get_backend()")
answer = client.execute("0", user_expressions={"backend": "backend"}, reply=True, timeout=60)
told = answer["content"]["user_expressions"]["backend"]["data"]["text/plain"]
print(manager.provisioner.pid, told, flush=True)
sys.stdin.read()
"""


@contextmanager
def others(number, **variables):
    """Processes that start a warm kernel each, all at the same time, and these kernels."""
    words = [sys.executable, "-c", CLIENT]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, **variables}
    clients = [subprocess.Popen(words, env=environment, **pipes) for _ in range(number)]
    try:
        told = [client.stdout.readline().split() for client in clients]
        assert {one for _, one in told} == {repr(variables.get("MPLBACKEND", INLINE))}
        yield clients, [psutil.Process(int(pid)) for pid, _ in told]
    finally:
        for client in clients:
            with client:  # closes its pipes
                client.kill()


def test_processes_share_a_template_and_it_goes_with_the_last_of_them(warm):
    with others(2, MPLBACKEND="svg") as (clients, kernels):
        template = kernels[0].parent()
        assert kernels[1].parent() == template
        assert template != template_of(warm[0])  # that one has another backend for figures
        clients[0].kill()
        assert ended(kernels[0])
        assert runs(template)
        assert runs(kernels[1])
        clients[1].kill()
        assert ended(kernels[1], template)


def test_kernels_go_on_without_their_template_and_the_next_one_is_warm_too():
    with started() as (manager, client), others(1) as ((other,), (orphan,)):
        template = template_of(manager)
        assert orphan.parent() == template
        template.kill()
        assert ended(template)
        assert run(client, "print('goes on')") == "goes on"
        templates = set()
        for _ in range(2):
            with started() as (next_one, fresh):
                templates.add(template_of(next_one))
                assert run(fresh, IS_WARM) == "True"
        assert len(templates) == 1
        assert manager.is_alive()
        assert runs(orphan)
        other.kill()  # who asked for it
        assert ended(orphan)
        first = psutil.Process(manager.provisioner.pid)
        manager.restart_kernel()
        client.wait_for_ready(timeout=60)
        assert ended(first)
        assert run(client, IS_WARM) == "True"


@pytest.mark.parametrize("settings", [{"independent": True}, {"stdout": subprocess.PIPE}])
def test_what_a_fork_cannot_be_given_a_cold_kernel_gets(caplog, settings):
    with caplog.at_level(logging.WARNING, provisioner.__name__):
        with started(**settings) as (manager, _):
            assert psutil.Process(manager.provisioner.pid).ppid() == os.getpid()
    assert "Kernels start cold here" in caplog.text


def test_where_fork_is_not_to_be_had_kernels_start_cold_and_one_line_says_so(monkeypatch, caplog):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(provisioner, "_said", set())
    with caplog.at_level(logging.WARNING, provisioner.__name__):
        for _ in range(2):
            with started() as (manager, _):
                assert psutil.Process(manager.provisioner.pid).ppid() == os.getpid()
    (said,) = [one.getMessage() for one in caplog.records if one.name == provisioner.__name__]
    assert said.endswith("darwin has no safe way to fork them")


def test_another_command_is_run_as_it_is(monkeypatch, caplog, tmp_path):
    spec = json.loads((provisioner.PROGRAM.parents[1] / "kernels/warm/kernel.json").read_text())
    spec["argv"][0:1] = [shutil.which("env"), sys.executable]
    folder = tmp_path / "kernels" / "wrapped"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with caplog.at_level(logging.WARNING, provisioner.__name__), started("wrapped") as (manager, _):
        assert psutil.Process(manager.provisioner.pid).ppid() == os.getpid()
    assert "no more" in caplog.text


def test_where_torch_cannot_be_imported_this_is_found_out_once(monkeypatch, caplog, tmp_path):
    tries = tmp_path / "tries"
    (tmp_path / "torch.py").write_text(f"print(end='.', file=open({str(tries)!r}, 'a')); 1 / 0")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with caplog.at_level(logging.WARNING, provisioner.__name__), started() as (manager, client):
        assert psutil.Process(manager.provisioner.pid).ppid() == os.getpid()
        tried = tries.read_text()
        assert tried
        manager.restart_kernel()
        client.wait_for_ready(timeout=60)
    assert tries.read_text() == tried
    (said,) = [one.getMessage() for one in caplog.records if one.name == provisioner.__name__]
    assert "the template process does not answer" in said


def test_modules_are_looked_for_from_the_folder_of_the_kernel(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "mine")
    looked = f"import sys; print({str(tmp_path / 'mine')!r} in sys.path)\n" + IS_WARM
    with started(cwd=str(tmp_path)) as (_, client):
        assert run(client, looked) == "True\nTrue"


def test_a_package_that_is_installed_asks_for_another_template(tmp_path):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    os.utime(packages, (0, 0))
    before = provisioner._changes(str(tmp_path / "bin" / "python"))
    (packages / "one.dist-info").mkdir()
    assert provisioner._changes(str(tmp_path / "bin" / "python")) != before


def test_a_folder_that_others_can_enter_is_not_used(monkeypatch, caplog, tmp_path):
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", tempfile.mkdtemp())
    folder = Path(os.environ["JUPYTER_RUNTIME_DIR"], "warm")
    folder.mkdir()
    folder.chmod(0o777)
    with caplog.at_level(logging.WARNING, provisioner.__name__), started() as (manager, _):
        assert psutil.Process(manager.provisioner.pid).ppid() == os.getpid()
    assert f"others can enter {folder}" in caplog.text
    shutil.rmtree(folder.parent)


LIGHT = """
import sys
import jupyter_client.provisioning
sys.modules["fcntl"] = None  # as on Windows
import grader.runtime.provisioner
print({"torch", "numpy"} & {*sys.modules})
"""


def test_the_provisioner_brings_no_torch_into_a_jupyter_server_and_needs_no_unix():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr
