"""Turns the bytes of a file into a notebook, or says in a sentence what they are instead."""

import json
import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.classroom.source import parses, text_of

_CONFLICT = re.compile(r"^<{7}(?:\s|$)", re.MULTILINE)
_PYTHON = re.compile(r"(?:import|from|def|class|#|@|\"\"\"|''')")
_AGAIN = "open your notebook in Jupyter, save it, and hand in the .ipynb file"


class NotReadable(ValueError):
    """The content is no notebook; the message is the end of a sentence that says what it is."""


def notebook_of(content: bytes) -> NotebookNode:
    """The cells of a notebook of any version, as one of version 4.5 that may not be valid.

    Only what says which cells they are is kept: type, source and ids. Raises NotReadable.
    Example: `notebook_of(b"")` -> NotReadable("is empty; ...")
    """
    text = _decoded(content)
    try:
        found = json.loads(text, parse_constant=lambda _: None, parse_int=_number)
    except (ValueError, RecursionError):
        raise NotReadable(_what(content, text)) from None
    cells = _cells(found)
    if cells is None:
        raise NotReadable(f"is JSON, but not a notebook; {_AGAIN}")
    metadata = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    return nbformat.from_dict({**metadata, "cells": [_plain(cell) for cell in cells]})


def _decoded(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 20 else 0


def _what(content: bytes, text: str) -> str:
    """What a file is that is not JSON, and what to do about it."""
    start = text.lstrip()
    if not start.strip("\0"):
        return f"is empty; {_AGAIN}"
    if content.startswith(b"PK"):
        return "is a zip file; unpack it and hand in the .ipynb file that is in it"
    if _CONFLICT.search(text):
        return (
            "holds the marks of a git merge (<<<<<<<); take one of the two versions, make sure "
            "that it opens in Jupyter, and hand it in again"
        )
    if start.startswith("{"):
        return f"is cut off or damaged; {_AGAIN} again"
    if start.lower().startswith(("<!doctype", "<html", "<?xml", "<head", "<body")):
        return f"is a web page, not a notebook; {_AGAIN} and not what a browser shows of it"
    if _PYTHON.match(start) or parses(text):
        return f"is a Python script, not a notebook; {_AGAIN}"
    return f"is not a notebook; {_AGAIN}"


def _cells(found: Any) -> list | None:
    """The cells of a parsed file, or None if it is no notebook. Before version 4 there were sheets
    of cells."""
    version = found.get("nbformat") if isinstance(found, dict) else None
    if isinstance(version, bool) or not isinstance(version, (int, float)):
        return None
    cells, sheets = found.get("cells"), found.get("worksheets")
    if isinstance(cells, list):
        return cells
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _plain(cell: Any) -> dict:
    """The parts of a cell that matter; a cell that is none has no source."""
    if not isinstance(cell, dict):
        return {}
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = about.get("grade_id") if isinstance(about, dict) else None
    kind = "markdown" if cell.get("cell_type") == "heading" else cell.get("cell_type")
    source = cell.get("source", cell.get("input"))  # "input" before version 4
    return {
        "id": cell.get("id") if isinstance(cell.get("id"), str) else "",
        "cell_type": kind if isinstance(kind, str) else "raw",
        "metadata": {"nbgrader": {"grade_id": grade_id}} if isinstance(grade_id, str) else {},
        "source": text_of(source),
    }
