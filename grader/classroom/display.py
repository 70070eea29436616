"""Makes what a submission displayed harmless: text, and pictures that are pictures; no HTML."""

import base64
import binascii
import re

from nbformat import NotebookNode
from nbformat.v4 import new_output

MOST_TEXT = 20_000  # characters of one output
MOST_OUTPUTS = 100
MOST_PICTURE = 4_000_000  # characters in base64
_PNG = b"\x89PNG\r\n\x1a\n"
_COLOURS, _TITLES = r"\x1b\[[0-9;]*[A-Za-z]", r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)"
_TURNS = "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # of the direction of writing
_CONTROL = re.compile(rf"{_COLOURS}|{_TITLES}|[\x00-\x08\x0b-\x1f\x7f-\x9f{_TURNS}]")


def harmless(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The same outputs as plain text and PNG pictures; whatever else was in them is left out."""
    kept = [made for output in outputs[:MOST_OUTPUTS] if (made := _harmless(output))]
    if len(outputs) > MOST_OUTPUTS:
        kept.append(note(f"{len(outputs) - MOST_OUTPUTS} more outputs were left out."))
    return kept


def harmless_text(source: str) -> str:
    """Markdown or raw text that is shown as it was typed: no HTML, no link, no picture of it."""
    longest = max((len(run) for run in re.findall("~+", source)), default=0)
    fence = "~" * (longest + 3)
    return f"{fence}text\n{plain_text(source)}\n{fence}"


def note(text: str) -> NotebookNode:
    """An output of our own: a line of text."""
    return new_output("stream", name="stdout", text=f"{text}\n")


def plain_text(text: object, most: int = MOST_TEXT) -> str:
    """At most so many characters, and nothing that steers a terminal."""
    words = _CONTROL.sub("", text if isinstance(text, str) else "")
    words = words.encode("utf-8", "replace").decode()  # half a character fits into no file
    return words if len(words) <= most else f"{words[:most]}\n[cut: {len(words)} characters]\n"


def _harmless(output: NotebookNode) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return new_output("stream", name=name, text=plain_text(output.get("text")))
    if kind == "error":
        name, value = (plain_text(output.get(key), 300) for key in ("ename", "evalue"))
        lines = output.get("traceback")
        told = [plain_text(line) for line in lines[:100]] if isinstance(lines, list) else []
        return new_output("error", ename=name, evalue=value, traceback=told)
    if kind in ("display_data", "execute_result"):
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        shown = {"text/plain": plain_text(data.get("text/plain"))}
        if _is_picture(data.get("image/png")):
            shown["image/png"] = data["image/png"]
        return new_output("display_data", data=shown)
    return None


def _is_picture(text: object) -> bool:
    if not isinstance(text, str) or len(text) > MOST_PICTURE:
        return False
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(_PNG)
    except (binascii.Error, ValueError):
        return False
