"""How a caged kernel is talked to: two of Jupyter's channels, over sockets in a folder.

Everything that comes out of a cage is the student's to write. It is read up to a size, taken only
if it has the right form, and shown; nothing is found out from it.
"""

import json
import math
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import DELIM, Session
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

MOST_TAKEN = 2**29  # bytes of one message that are taken at all
LONGEST_MESSAGE = 16 * 2**20  # bytes of one that is read
MOST_SAID = 200_000  # characters of one cell's outputs that are kept
TICK = 100  # milliseconds after which a silent kernel is looked at
SILENCE = 4  # seconds that a cell's outputs may come after its end
PATIENCE = 60  # seconds for a kernel to start
PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}
SHOWN = {"stream", "display_data", "execute_result", "error"}


class Gone(RuntimeError):
    """The kernel does not answer, as its process has ended or was never ready."""


class Channels:
    """Writes the connection file of a kernel (`inside` is what it calls `folder`), and connects.

    `is_there()` tells whether its process is. Use `close` in the end.
    Example: `channels.execute("print(1)")` -> [{"output_type": "stream", "text": "1\\n", ...}]
    """

    def __init__(self, folder: Path, inside: Path, is_there: Callable[[], bool]) -> None:
        self._is_there, key = is_there, secrets.token_hex(16)
        self._session = Session(key=key.encode())
        described = {"transport": "ipc", "key": key, "signature_scheme": "hmac-sha256", **PORTS}
        connection = folder / "inside.json"
        connection.write_text(json.dumps({**described, "ip": str(inside / "kernel")}))
        connection.chmod(0o644)
        self._context = zmq.Context()
        self._shell = self._connect(zmq.DEALER, folder, "shell_port")
        self._shown = self._connect(zmq.SUB, folder, "iopub_port")
        self._shown.subscribe(b"")
        self._poller = zmq.Poller()
        self._poller.register(self._shell, zmq.POLLIN)
        self._poller.register(self._shown, zmq.POLLIN)

    def _connect(self, kind: int, folder: Path, port: str) -> zmq.Socket:
        line = self._context.socket(kind)
        # A line is dead after a message over the limit, so what is only long is dropped later.
        line.linger, line.maxmsgsize, line.reconnect_ivl = 0, MOST_TAKEN, 10
        line.rcvhwm = 0  # a kernel that has to wait drops messages; kernel.py watches what comes
        line.connect(f"ipc://{folder / 'kernel'}-{PORTS[port]}")
        return line

    def close(self) -> None:
        self._context.destroy(linger=0)

    def wait_until_ready(self) -> None:
        """Until both channels answer; raises Gone."""
        end, answered = time.monotonic() + PATIENCE, set()
        while time.monotonic() < end:
            self._session.send(self._shell, "kernel_info_request")
            while events := self._poller.poll(TICK):
                for line, _ in events:
                    _message(line)
                    answered.add(line)
                if answered == {self._shell, self._shown}:
                    return
            if not self._is_there():
                break
        raise Gone("it does not answer")

    def execute(self, source: str) -> list[NotebookNode]:
        """Run a cell to its end; its outputs, or as many as are read before Gone is raised."""
        outputs = Outputs()
        content = {
            "code": source, "silent": False, "store_history": True, "user_expressions": {},
            "allow_stdin": False, "stop_on_error": False,
        }  # fmt: skip
        asked = self._session.send(self._shell, "execute_request", content)["header"]["msg_id"]
        waiting, end = {self._shell, self._shown}, math.inf
        while waiting and time.monotonic() < end:
            events = self._poller.poll(TICK)
            if not events and not self._is_there():
                raise Gone("the kernel died", outputs.nodes)
            for line, _ in events:
                kind, about, content = _message(line)
                if about != asked:
                    continue
                idle = kind == "status" and content.get("execution_state") == "idle"
                if idle or kind == "execute_reply":
                    waiting.discard(line)
                    # where too much was shown, the word that nothing follows may be lost with it
                    end = time.monotonic() + SILENCE
                elif line is self._shown:
                    outputs.take(kind, content)
        return outputs.nodes


class Outputs:
    """The outputs of one cell as they come in, no more than MOST_SAID characters of them."""

    def __init__(self) -> None:
        self.nodes: list[NotebookNode] = []
        self._said, self._clear_next = 0, False

    def take(self, kind: str, content: dict) -> None:
        """Keep what a message shows; what has another form than Jupyter's is dropped."""
        if kind == "clear_output":
            self._clear_next = True
            if not content.get("wait"):
                self._clear()
        if kind not in SHOWN:
            return
        self._said += len(str(content))
        if self._said > MOST_SAID:
            return
        if self._clear_next:
            self._clear()
        try:
            self._add(output_from_msg({"header": {"msg_type": kind}, "content": content}))
        except Exception:  # not valid
            pass

    def _add(self, node: NotebookNode) -> None:
        last = self.nodes[-1] if self.nodes else None
        if node.output_type == "stream" and last and last.get("name") == node.name:
            last.text += node.text
        else:
            self.nodes.append(node)

    def _clear(self) -> None:
        self.nodes.clear()
        self._clear_next = False


def _message(line: zmq.Socket) -> tuple[str, str, dict[str, Any]]:
    """Kind, the request that it is about, and content; empty if it is no message."""
    frames = line.recv_multipart()
    if sum(map(len, frames)) > LONGEST_MESSAGE:
        return "", "", {}
    try:
        start = frames.index(DELIM) + 2  # after the signature
        header, parent, _, content = (json.loads(frame) for frame in frames[start : start + 4])
        kind, about = header["msg_type"], parent.get("msg_id", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", "", {}
    return (kind, about, content) if isinstance(content, dict) else ("", "", {})
