"""Reads the text of a learner's cell without running it."""

import ast
import re
import warnings
from functools import lru_cache
from typing import Any

from grader.checks import CHECK

MOST_CHARACTERS = 200_000  # longer cells are not parsed
_LEFT_OUT = "# left out when grading: "
_MAGIC = re.compile(r"^([ \t]*)(?:[!%?]|\w+[ \t]*=[ \t]*[!%]).*$", re.MULTILINE)
_INSTALL = re.compile(
    r"""^(\s*)(?:[!%]+\s*(?:sudo\s+)?                     # !sudo ...
        (?:\S*(?:python|executable)\S*\s+-m\s+)?(?:uv\s+)?  # !python -m ..., !uv ...
        (?:pip3?|conda|mamba|micromamba|apt|apt-get)\b
        |(?:pip3?|conda|mamba)\s+install\s)              # IPython runs this without % as well""",
    re.VERBOSE,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def text_of(source: Any) -> str | None:
    """A cell's source as one text, or None if it is no text: `text_of(["a\\n", "b"])` -> "a\\nb".

    Null bytes go, and halves of characters become question marks: no file can hold them.
    """
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    text = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8")


def same(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but white space: `same("a = 1 ", "a  = 1")` -> True"""
    return one.split() == other.split()


@lru_cache(maxsize=512)
def tree(text: str) -> ast.Module | None:
    """The syntax tree, or None: `tree("%time\\nx = 1")` has two statements, `tree("x =")` none.

    Lines for IPython (`%time`, `!ls`) count as `pass`.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    for attempt in (text, _MAGIC.sub(r"\1pass", text)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(attempt)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def parses(text: str) -> bool:
    """Whether the text is Python: `parses("    return x")` -> False"""
    return tree(text) is not None


def defines(text: str, name: str) -> bool:
    """Whether a cell defines the name itself, not in a block: `defines("def f(x):", "f")` -> True

    `f = lambda x: x` and `f = torch.relu` count, `f = 3` and `f = g(3)` do not.
    """
    if name not in text:
        return False
    if tree(text):
        return _definition(text, name) is not None
    return bool(re.search(rf"^(?:async +)?(?:def|class) +{name}\b", text, re.MULTILINE))


def answers(text: str, name: str, stub: str) -> bool:
    """Whether a cell defines the name and more of it is written than the stub has.

    Example: `answers("def f(x):\\n    raise NotImplementedError", "f", stub)` -> False
    """
    if not defines(text, name):
        return False
    if not tree(text):
        return not same(text, stub)
    node = _definition(text, name)
    if not hasattr(node, "body"):
        return True
    released = _definition(stub, name)
    known = {_dump(part) for part in [released, *getattr(released, "body", [])] if part}
    if isinstance(node, _FUNCTIONS):
        return not _blank(node) and _dump(node) not in known
    return any(not _blank(part) and _dump(part) not in known for part in node.body)


def block(text: str, name: str) -> str:
    """Only the lines that define the name: `block("x = 1\\ndef f(): ...", "f")` -> "def f(): ...".

    Empty if it does not define it, or does not parse.
    """
    node = _definition(text, name)
    if node is None:
        return ""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno])


def without_checks(text: str) -> str:
    """The cell without its calls of check: `without_checks('x = 1\\ncheck("f", f)')` -> "x = 1"."""
    lines = text.split("\n")
    gone = {n for n, line in enumerate(lines) if line.lstrip().startswith("check(")}
    for node in ast.walk(tree(text) or ast.Module([])):
        if isinstance(node, ast.Expr) and node.lineno - 1 in gone:
            gone |= set(range(node.lineno - 1, node.end_lineno))
    for n in gone & {n for n, line in enumerate(lines) if line[:1].isspace()}:
        if CHECK.match("\n".join(lines[n : n + 3])):
            lines[n] = lines[n][: -len(lines[n].lstrip())] + "pass"  # its block may be empty now
            gone.remove(n)
    return "\n".join(line for n, line in enumerate(lines) if n not in gone).strip("\n")


def without_installs(text: str) -> str:
    """The cell with lines that install something turned into comments.

    Example: `without_installs("!pip install x")` -> "# left out when grading: !pip install x"
    """
    lines, goes_on = [], False
    for line in text.split("\n"):
        found = _INSTALL.match(f"{line[:200]} ")
        if found and not goes_on:
            indent = found[1]
            line = f"{indent}{'pass  ' if indent else ''}{_LEFT_OUT}{line.strip()}"
            goes_on = line.endswith("\\")
        elif goes_on:
            goes_on = line.endswith("\\")
            line = f"{_LEFT_OUT}{line.strip()}"
        lines.append(line)
    return "\n".join(lines)


def defines_only(text: str, name: str) -> bool:
    """Whether a cell does nothing but define the name: `defines_only("def f(x): ...", "f")`."""
    found = tree(text)
    return found is not None and all(
        getattr(node, "name", "") == name or _blank(node) for node in found.body
    )


def _definition(text: str, name: str) -> ast.stmt | None:
    """The last statement of the cell that defines the name."""
    found = None
    for node in getattr(tree(text), "body", []):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name:
            found = node
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in node.targets
        ):
            callable_ = isinstance(node.value, (ast.Lambda, ast.Name, ast.Attribute))
            found = node if callable_ else found
    return found


def _blank(node: ast.stmt) -> bool:
    """Whether it is a docstring, or a function that does nothing but raise NotImplementedError."""
    if isinstance(node, _FUNCTIONS):
        return all(map(_blank, node.body))
    if isinstance(node, ast.Raise):
        return "NotImplementedError" in _dump(node)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _dump(node: ast.AST) -> str:
    try:
        return ast.dump(node)
    except RecursionError:
        return ""
