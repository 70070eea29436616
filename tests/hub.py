"""A JupyterHub for tests, set up by the commands and files of docs/deploy.md.

Its users are users of this machine, made for the test. What is different from a real class: names,
ports, where folders lie, and a handle for the browser.
"""

import contextlib
import grp
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psutil
from lab import ROOT, wait_for

DEPLOY = ROOT / "docs/deploy"
GROUP = "hubtest"
CONFIG = """
from os.path import expanduser

load_subconfig({deploy!r})
c = get_config()
c.JupyterHub.bind_url, c.JupyterHub.hub_bind_url = {address!r}, {inner!r}
c.ConfigurableHTTPProxy.api_url = {proxy!r}
# what /etc/jupyter is to a real class: it comes after the settings in a home
c.Spawner.environment["JUPYTER_CONFIG_PATH"] = (
    lambda spawner: expanduser("~" + spawner.user.name) + "/.jupyter:" + {settings!r}
)
c.Spawner.args.append("--LabApp.expose_app_in_browser=True")
"""
RUN = """async code => {
    const kernel = await jupyterapp.serviceManager.kernels.startNew({name: "python3"});
    const future = kernel.requestExecute({code});
    let said = "";
    future.onIOPub = ({content}) => {
        said += content.text ?? (content.ename ? `${content.ename}: ${content.evalue}` : "");
    };
    await future.done;
    await kernel.shutdown();
    return said;
}"""
TYPE = """async line => {
    const terminal = await jupyterapp.serviceManager.terminals.startNew();
    let said = "";
    const done = new Promise(resolve => terminal.messageReceived.connect((_, message) => {
        if (message.type === "stdout") said += message.content.join("");
        if (said.includes("the end")) resolve();
    }));
    terminal.send({type: "stdin", content: [`${line}; echo the "end"\\r`]});
    await done;
    await terminal.shutdown();
    return said;
}"""
SAVE = """([path, content]) => jupyterapp.serviceManager.contents.save(
    path, {type: "notebook", format: "json", content})"""


class Person:
    """A user of this machine, with a password and a home that nobody else can enter."""

    def __init__(self, name):
        self.name, self.password = _full(name), secrets.token_hex()
        documented("useradd .* ines", ines=self.name)
        run("chpasswd", input=f"{self.name}:{self.password}")
        self.home = Path(pwd.getpwnam(self.name).pw_dir)

    def gets(self, source, target):
        """A file or folder in this person's home, as if made there."""
        target = self.home / target
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        run("chown", "--recursive", f"{self.name}:", self.home)

    def logs_in(self, hub, browser):
        """Fill in the hub's page; the person's own server starts."""
        self.page = browser.new_context(base_url=hub).new_page()
        self.page.set_default_timeout(120_000)
        self.page.goto("/hub/login")
        self.page.fill("#username_input", self.name)
        self.page.fill("#password_input", self.password)
        self.page.click("#login_submit", no_wait_after=True)

    def arrives(self):
        """Until JupyterLab is there."""
        self.page.wait_for_url("**/lab**")
        self.page.wait_for_selector(".jp-DirListing")

    def runs(self, code):
        """What code prints, or the error that ends it, in a kernel of this person's server."""
        return self.page.evaluate(RUN, code)

    def types(self, line):
        """What a terminal of this person's server shows when a line is typed there."""
        return self.page.evaluate(TYPE, line)

    def saves(self, path, notebook):
        """A notebook, saved in this person's JupyterLab."""
        self.page.evaluate(SAVE, [path, notebook])

    def server(self):
        """The process of this person's server."""
        (server,) = (
            p for p in _processes(self.name) if "jupyterhub-singleuser" in str(p.cmdline())
        )
        return server


@contextlib.contextmanager
def people(*names):
    """Users of this machine, who are gone afterwards with all that they started."""
    _remove(names)  # what a test that was killed has left
    documented("groupadd")
    try:
        yield [Person(name) for name in names]
    finally:
        _remove(names)


def _processes(name):
    user = pwd.getpwnam(name).pw_uid
    return [one for one in psutil.process_iter(["uids"]) if one.info["uids"].real == user]


def _full(name):
    return f"{GROUP}-{name}"


def _remove(names):
    for name in map(_full, names):
        with contextlib.suppress(KeyError):
            theirs = _processes(name)
            for process in theirs:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(theirs, 30)
            run("userdel", "--remove", name)
    with contextlib.suppress(KeyError):
        grp.getgrnam(GROUP)
        run("groupdel", GROUP)


@contextlib.contextmanager
def hub(instructor, folder):
    """A JupyterHub with the files of docs/deploy, its folders in another: its address, its proxy's.

    What the proxy's second address is asked changes where pages lead.
    """
    settings, state = folder / "jupyter", folder / "state"
    state.mkdir(mode=0o700)
    documented("install -d", ines=instructor.name, srv=str(folder).strip("/"))
    documented("runuser -u ines", ines=instructor.name)
    shutil.copytree(DEPLOY / "jupyter", settings)
    shutil.copy(ROOT / "nbgrader_config.py", settings)
    shutil.copytree(ROOT / "grader/runtime/config", settings / "jupyter_server_config.d")
    address, inner, proxy = (f"http://127.0.0.1:{_free_port()}" for _ in range(3))
    config = CONFIG.format(
        deploy=str(DEPLOY / "jupyterhub_config.py"), settings=str(settings),
        address=address, inner=inner, proxy=proxy,
    )  # fmt: skip
    (state / "config.py").write_text(config)
    variables = {"COURSE_EXCHANGE": str(folder / "exchange"), "COURSE_GROUP": GROUP}
    with (state / "log").open("w") as log, _open_to_all():
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "--config", "config.py"],
            cwd=state, env={**os.environ, **variables}, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_for(server, f"{address}/hub/api")
            yield address, proxy
        finally:
            server.send_signal(signal.SIGINT)  # ends the proxy and everybody's server too
            server.wait(60)


@contextlib.contextmanager
def _open_to_all():
    """While this lasts every user can get at Python and the course, wherever they lie."""
    closed = {}
    try:
        for path in (sys.prefix, sys.base_prefix, ROOT):
            for folder in Path(path).resolve().parents:
                mode = stat.S_IMODE(folder.stat().st_mode)
                if not mode & stat.S_IXOTH:
                    closed[folder] = mode
                    folder.chmod(mode | stat.S_IXOTH)
        yield
    finally:
        for folder, mode in closed.items():
            folder.chmod(mode)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def documented(start, **names):
    """Run the commands of docs/deploy.md that start so, a pattern, with other names in them."""
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^    ({start}\b.*)$", text, re.MULTILINE)
    assert lines, start
    names["course"] = GROUP
    for line in lines:
        run(*re.sub(r"\w+", lambda word: names.get(word[0], word[0]), line).split())


def run(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, **how)
