"""Warm kernels for all that jupyter_client starts: by JupyterLab, nbclient, nbgrader and nbval.

A kernelspec chooses them: `"metadata": {"kernel_provisioner": {"provisioner_name": "warm"}}`. There
is one template for each environment: an interpreter with its options and its packages, the
variables that libraries read when they are imported, and what a process inherits. The variables of
the template are these and no others, so what one kernel is told does not reach the next.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from socket import socket
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import LocalProvisioner
from jupyter_core.paths import jupyter_runtime_dir

from grader.runtime.template import Fork, NoTemplate, Template

log = logging.getLogger(__name__)
PROGRAM = Path(__file__).with_name("inside") / "template.py"
LONGEST_FOLDER = 70  # characters; the path of a socket has at most 107
READ = (
    "BLIS_", "CUDA", "DEBUGPY", "GOMP_", "HOME", "IPYTHON", "KMP_", "LANG", "LC_", "LD_", "MKL_",
    "MPL", "NUMEXPR", "NUMPY", "OMP_", "OPENBLAS_", "PYDEVD", "PYTHON", "PYTORCH", "TEMP", "TMP",
    "TORCH", "TZ", "XDG_",
)  # fmt: skip
INHERITED = ("Uid", "Gid", "Groups", "Umask", "Cpus_allowed", "NoNewPrivs", "Seccomp", "CapEff")
SERVED = {"cwd", "env", "extra_arguments", "independent", "kernel_id", "stderr", "stdin", "stdout"}

_templates: dict[tuple, tuple[Path, Template]] = {}
_given_up: dict[Path, str] = {}
_said: set[str] = set()


class WarmProvisioner(LocalProvisioner):
    """Starts an IPython kernel as the fork of a process that has imported everything already.

    Where that is not to be had the kernel starts cold, and the log says why, once.
    Example: `start_new_kernel(kernel_name="warm")`
    """

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel; the first one waits until its template has imported everything."""
        try:
            self.process = await asyncio.to_thread(_fork, cmd, kwargs)
        except (NoTemplate, OSError) as error:
            if str(error) not in _said:
                _said.add(str(error))
                log.warning("Kernels start cold here, which takes seconds each: %s", error)
            return await super().launch_kernel(cmd, **kwargs)
        self.pid = self.pgid = self.process.pid  # it leads a group, as it would if started cold
        self.cwd = kwargs.get("cwd") or Path.cwd()
        return self.connection_info


def _fork(cmd: list[str], kwargs: dict[str, Any]) -> Fork:
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        raise NoTemplate(f"{sys.platform} has no safe way to fork them")
    python, arguments = _split(cmd)
    if kwargs.get("independent"):
        raise NoTemplate("this one is to outlive whoever started it")
    if not kwargs.keys() <= SERVED:
        raise NoTemplate("this one asks for more than a fork can be given")
    environment = {**(kwargs.get("env") or os.environ), "JPY_PARENT_PID": str(os.getpid())}
    folder = os.path.abspath(kwargs.get("cwd") or ".")
    address, template = _template(python, environment, folder)
    if address in _given_up:
        raise NoTemplate(_given_up[address])
    request = {"environment": environment, "folder": folder, "arguments": arguments}
    with open(os.devnull, "r+b", buffering=0) as nothing:
        outputs = [_output(kwargs.get(f"std{name}"), name, nothing) for name in ("out", "err")]
        try:
            return template.fork(request, (nothing.fileno(), *outputs))
        except NoTemplate as error:
            _given_up[address] = str(error)
            raise


def _split(cmd: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The interpreter with its options, and what the kernel is told.

    Example: ["/bin/python", "-m", "ipykernel_launcher", "-f", "x"] -> ("/bin/python",), ["-f", "x"]
    """
    at = cmd.index("-m") if "-m" in cmd else len(cmd)
    python, module, arguments = cmd[:at], cmd[at + 1 : at + 2], cmd[at + 2 :]
    options_only = all(word.startswith("-") for word in python[1:])
    if module != ["ipykernel_launcher"] or not options_only or not os.path.isabs(cmd[0]):
        raise NoTemplate("a fork stands in for /path/to/python -m ipykernel_launcher and no more")
    return tuple(python), arguments


def _output(wanted: Any, name: str, nothing: Any) -> int:
    if wanted is None:
        return {"out": 1, "err": 2}[name]
    if wanted == subprocess.DEVNULL:
        return nothing.fileno()
    if isinstance(wanted, int):
        if wanted < 0:
            raise NoTemplate("somebody reads the output of this one through a pipe")
        return wanted
    return wanted.fileno()


def _template(
    python: tuple[str, ...], environment: dict[str, str], folder: str
) -> tuple[Path, Template]:
    """The template of this process for an environment, and its address, which others share."""
    read = {name: value for name, value in sorted(environment.items()) if name.startswith(READ)}
    searched = read.get("PYTHONPATH", "").split(os.pathsep)
    if all(os.path.isabs(one) for one in searched) or searched == [""]:
        folder = "/"  # where it starts is nothing to it
    about = json.dumps([python, read, folder, _changes(python[0]), _inherited()])
    address = _folder() / hashlib.sha256(about.encode()).hexdigest()[:16]

    def start(listener: socket) -> None:
        # it leaves this process at once, and is nobody's child
        subprocess.run(
            [*python, str(PROGRAM)],
            stdin=listener,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=read,
            start_new_session=True,
            check=False,
        )

    key = python, folder, *read.items()
    known, template = _templates.get(key, (None, None))
    if known != address:
        if template:  # its packages are out of date
            template.close()
        _templates[key] = address, Template(address, start)
    return _templates[key]


def _changes(python: str) -> list[int]:
    """Times that change with the program, and when a package is installed or removed."""
    packages = Path(python).parents[1].glob("lib/python3*/site-packages")
    return [path.stat().st_mtime_ns for path in (PROGRAM, *sorted(packages))]


def _inherited() -> list[str]:
    """What every process gets from the one that starts it: rights, limits, the container."""
    me = Path("/proc/self")
    lines = (me / "status").read_text().splitlines()
    rooms = [os.readlink(me / "ns" / kind) for kind in ("mnt", "net", "pid")]
    groups = (me / "cgroup").read_text()
    limits = (me / "limits").read_text()
    return [*rooms, groups, limits, *(line for line in lines if line.split(":")[0] in INHERITED)]


def _folder() -> Path:
    """A folder that nobody else can enter, with a path short enough for a socket."""
    folder = Path(jupyter_runtime_dir(), "warm")
    if len(str(folder)) > LONGEST_FOLDER:
        folder = Path(tempfile.gettempdir(), f"jupyter-warm-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    about = folder.lstat()
    if about.st_uid != os.geteuid() or about.st_mode & 0o777 != 0o700:
        raise NoTemplate(f"others can enter {folder}")
    return folder
