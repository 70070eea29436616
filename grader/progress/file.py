"""What a learner has done, kept in one small JSON file of theirs. It never counts for points.

COURSE_PROGRESS says where the file lies; `none` keeps nothing beyond this kernel.
"""

import json
import os
import warnings
from collections.abc import Callable
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar, get_args, get_origin

from filelock import FileLock
from platformdirs import user_data_path

T = TypeVar("T")
Record = dict[str, Any]
FORM = 1  # of the file; one of another form is put aside like a broken one
PATIENCE = 5  # seconds that another kernel may take to write
_NUMBER = (int, float)
#: what an entry of each table must hold for the course to read it
_TABLES = {
    "exercises": {"points": _NUMBER, "best": _NUMBER, "tries": int, "hints": dict[str, int]},
    "lessons": {"seconds": _NUMBER, "when": str},
    "predictions": {"lesson": str, "answer": str, "sure": int, "revealed": bool},
    "again": {
        "lesson": str,
        "question": str,
        "choices": list[str],
        "right": str,
        "because": dict[str, str],
    },
}
_memory: dict[Path | None, Record] = {}  # where a file cannot be written, or shall not
_said: set[str] = set()


def place() -> Path | None:
    """The file, or None where nothing shall be kept."""
    wanted = os.environ.get("COURSE_PROGRESS")
    validating = os.environ.get("NBGRADER_EXECUTION") == "validate"  # runs all of it once more
    if wanted == "none" or validating:
        return None
    if wanted:
        return Path(wanted).expanduser()
    return user_data_path("attention-course", appauthor=False) / "progress.json"


def read() -> Record:
    """A copy of the record: `read()["exercises"]["mix"]["best"]` -> 2.0"""
    path = place()
    if path is None or path in _memory:
        return deepcopy(_memory.get(path) or _empty())
    try:
        return _load(path)
    except OSError as error:
        _say(f"Your progress could not be read: {error}")
        return _empty()


def change(edit: Callable[[Record], T]) -> T:
    """Let `edit` change the record, store it, and give back what `edit` gave back.

    Several kernels may do so at once. Never raises over the file: where it cannot be written, one
    printed line says so, and the record lives as long as this kernel.
    Example: `change(lambda record: record["lessons"].clear())`
    """
    path = place()
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(path):
                record = _load(path)
                result = edit(record)
                _store(path, record)
            _memory.pop(path, None)
            return result
        except Exception as error:  # also whatever an answer has done to Python
            _say(f"Your progress is not kept: {error}")
    if path not in _memory:
        _memory[path] = read()
    return edit(_memory[path])


def forget() -> list[Path]:
    """Delete the file, and those that were put aside; which they were. Raises OSError."""
    path = place()
    _memory.clear()
    if path is None or not path.parent.is_dir():
        return []
    found = [p for p in (path, *path.parent.glob(f"{path.stem}.broken-*")) if p.exists()]
    for each in found:
        each.unlink()
    return found


# -- the file -------------------------------------------------------------------------------------


def _empty() -> Record:
    return {"form": FORM, **{table: {} for table in _TABLES}}


def _locked(path: Path) -> FileLock:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing may be written to stderr under a check
        return FileLock(f"{path}.lock", timeout=PATIENCE).acquire()


def _load(path: Path) -> Record:
    """Raises OSError. What cannot be understood is put aside, so that nothing is lost."""
    try:
        record = json.loads(path.read_text(encoding="utf-8-sig"))
        if _is_sound(record):
            return record
    except FileNotFoundError:
        return _empty()
    except (ValueError, RecursionError):
        pass
    number = 1
    while (aside := path.with_name(f"{path.stem}.broken-{number}{path.suffix}")).exists():
        number += 1
    path.rename(aside)
    _say(f"{path} could not be understood. It is kept as {aside.name}, and a new one begins.")
    return _empty()


def _is_sound(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and record.get("form") == FORM
        and all(_is_table(record.get(name), fields) for name, fields in _TABLES.items())
    )


def _is_table(table: Any, fields: dict[str, Any]) -> bool:
    return isinstance(table, dict) and all(
        isinstance(entry, dict)
        and all(_is(kind, entry.get(name)) for name, kind in fields.items())
        and _is_time(entry.get("when"))
        for entry in table.values()
    )


def _is(kind: Any, value: Any) -> bool:
    """`_is(list[str], ["a"])` -> True"""
    if not isinstance(kind, GenericAlias):
        return isinstance(value, kind)
    outer, inner = get_origin(kind), get_args(kind)[-1]
    if not isinstance(value, outer):
        return False
    return all(isinstance(item, inner) for item in (value.values() if outer is dict else value))


def _is_time(when: str | None) -> bool:
    try:
        return not when or datetime.fromisoformat(when).tzinfo is not None
    except ValueError:
        return False


def _store(path: Path, record: Record) -> None:
    """All or nothing: a full disk or a dead kernel leaves the old file."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _say(line: str) -> None:
    """Once in a kernel, and never to stderr."""
    if line not in _said:
        _said.add(line)
        print(" ".join(line.split()))
