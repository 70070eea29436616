"""Servers for tests: a JupyterLab, for a real browser, or whatever else a command starts."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil

ROOT = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
# The commands behind Run > Run All Cells and File > Save; each ends when its work is done.
RUN_ALL_AND_SAVE = """async () => {
    await jupyterapp.shell.currentWidget.sessionContext.ready;
    await jupyterapp.commands.execute("notebook:run-all-cells");
    await jupyterapp.commands.execute("docmanager:save");
}"""

SCREENSHOTS = os.environ.get("COURSE_SCREENSHOTS")


def keep_picture(page, name):
    """What the page looks like now, for whoever looks into the folder of that name."""
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")


@contextlib.contextmanager
def lab(folder, **environment):
    """The address of a JupyterLab that shows a folder, with the course's own settings."""
    settings = folder / ".settings"  # as the course is installed, also where it is not
    shutil.copytree(ROOT / "grader/runtime/config", settings / "jupyter_server_config.d")
    command = [sys.executable, "-m", "jupyterlab", "--LabApp.expose_app_in_browser=True"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        command.append("--allow-root")
    environment = {"JUPYTER_CONFIG_PATH": str(settings), **environment}
    with serving(folder, lambda flags: [*command, *flags], **environment) as address:
        yield address


@contextlib.contextmanager
def serving(folder, command, **environment):
    """The address of what a command starts in a folder; it is given the flags for a port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    flags = ["--no-browser", f"--port={port}", "--IdentityProvider.token=t"]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            command(flags),
            cwd=folder,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(server, f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop(server)


def stop(server):
    """End a server and what it started: `make` waits for nothing, JupyterLab for its kernels."""
    with contextlib.suppress(psutil.NoSuchProcess):  # it ended by itself
        started = psutil.Process(server.pid).children(recursive=True)
        if hasattr(os, "killpg"):
            os.killpg(server.pid, signal.SIGTERM)
        else:
            server.terminate()
        _, left = psutil.wait_procs(started, timeout=30)
        for process in left:
            process.kill()
    server.wait(30)


def wait_for(server, url):
    """Until the server answers; urllib itself waits for the port, refusals are tried again."""
    while server.poll() is None:
        try:
            return urllib.request.urlopen(url, timeout=60)
        except OSError:
            try:
                server.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
    raise RuntimeError(f"Nothing answers at {url}: the server has ended")
