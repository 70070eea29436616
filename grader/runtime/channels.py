"""How a caged kernel is started and talked to: jupyter_client and nbclient, with less trust."""

import contextlib
import json
import math
import time
from functools import partial
from pathlib import Path
from queue import Empty
from typing import Any

import zmq.asyncio
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.provisioning import LocalProvisioner
from nbclient import NotebookClient
from nbformat import NotebookNode

from grader.runtime.cage import Cage
from grader.runtime.view import DESK
from grader.runtime.warm import CagedTemplate

MOST_SAID = 200_000  # characters of one cell's outputs that are kept
LONGEST_MESSAGE = 16 * 2**20
KEPT = {"stream", "display_data", "execute_result", "error", "status", "clear_output"}


class Manager(AsyncKernelManager):
    """Talks over sockets in a folder that is called differently on the two sides."""

    def __init__(self, cage: Cage, folder: Path, template: CagedTemplate | None) -> None:
        context = zmq.asyncio.Context()
        context.maxmsgsize = LONGEST_MESSAGE
        super().__init__(
            context=context,
            transport="ipc",
            ip=str(folder / "kernel"),
            connection_file=str(folder / "outside.json"),
        )
        self._folder = folder
        self._inside = Path(DESK) if cage.official else folder
        self.client_factory = Channels
        self._kernel_spec = KernelSpec(argv=[] if template else cage.command(folder, "kernel"))
        if template:
            self.provisioner = Provisioner(kernel_spec=self._kernel_spec, parent=self)
            self.provisioner.start = partial(template.fork, folder.name)

    def write_connection_file(self, **kwargs: Any) -> None:
        """One file for this side, one for the other."""
        super().write_connection_file(**kwargs)
        described = json.loads(Path(self.connection_file).read_text())
        inside = self._folder / "inside.json"
        inside.write_text(json.dumps(described | {"ip": str(self._inside / "kernel")}))
        inside.chmod(0o644)


class Channels(AsyncKernelClient):
    """Ready when both channels answer; the usual wait for silence would come to 0.2 s a kernel."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        end = time.monotonic() + (timeout or math.inf)
        while time.monotonic() < end and await self.is_alive():
            self.kernel_info()
            with contextlib.suppress(Empty):
                await self.get_shell_msg(timeout=1)
                await self.get_iopub_msg(timeout=0.2)
                return
        raise RuntimeError("it does not answer")


class Provisioner(LocalProvisioner):
    """Has the template start the kernel."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        self.process = self.start()
        self.pid = self.process.pid
        return self.connection_info


class Client(NotebookClient):
    """Keeps of a cell's messages those that are shown, and no more than MOST_SAID of them."""

    said = 0

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        if msg["msg_type"] not in KEPT:
            return None
        if msg["msg_type"] != "status":
            self.said += len(str(msg["content"]))
            if self.said > MOST_SAID:
                return None
        return super().process_message(msg, cell, cell_index)
