"""Which cells of a lesson a learner's answers need: the others show something, and need not run.

A given cell is run for what it defines, if code that is run uses it, and for what it sets. Where
the learner's code could look names up in other ways, every cell is run.
"""

import ast
import re
import symtable
from collections.abc import Iterable
from dataclasses import dataclass

from grader.classroom.source import tree

#: ways to look up a name without writing it, and IPython's own lines
_LOOKS_UP = re.compile(
    r"\b(globals|locals|vars|dir|eval|exec|compile|getattr|get_ipython|user_ns|inspect|_getframe"
    r"|modules|__\w+__|import_module)\b(?<!__init__)(?<!__name__)|import \*"
    r"|^\s*[%!?]|[?]\s*$",
    re.MULTILINE,
)
_EARLIER = re.compile(r"_+(i+|\d+)?|In|Out")  # IPython's names for what was typed and shown
_SETS = re.compile(r"\bset_(default|grad|float)\w*\(")  # how torch computes from then on


@dataclass(frozen=True)
class Names:
    """The global names that a piece of code binds, and those that it reads."""

    bound: frozenset[str]
    read: frozenset[str]
    imported: frozenset[str]


def needed(given: dict[int, str], written: Iterable[str]) -> set[int]:
    """The numbers of the given cells to run, for the learner's cells `written`.

    Example: `needed({0: "x = 1", 1: "print(x)"}, ["def f(): return x"])` -> {0, 1}
    """
    sources = list(written)
    if any(_LOOKS_UP.search(source) for source in sources):
        return set(given)
    try:
        wanted = set().union(*(names_in(source).read for source in sources))
        cells = {number: names_in(source) for number, source in given.items()}
    except SyntaxError:
        return set(given)
    if any(map(_EARLIER.fullmatch, wanted)):
        return set(given)
    found: set[int] = set()
    while True:
        data = {name for cell in cells.values() for name in cell.bound & wanted - cell.imported}
        more = {
            number
            for number, cell in cells.items()
            # what reads data that is needed may also change it
            if cell.bound & wanted or cell.read & data or _SETS.search(given[number])
        }
        if more <= found:
            return found
        found |= more
        wanted |= set().union(*(cells[number].read for number in more))


def names_in(source: str) -> Names:
    """Raises SyntaxError. Example: `names_in("y = f(x)").read` -> frozenset({"f", "x"})"""
    parsed = tree(source)
    if parsed is None:
        raise SyntaxError("not Python")
    top = symtable.symtable(ast.unparse(parsed), "cell", "exec")
    bound, read, imported = set(), set(), set()
    for table in _all(top):
        for symbol in table.get_symbols():
            if table is not top and not symbol.is_global():
                continue
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
            if symbol.is_referenced():
                read.add(symbol.get_name())
            if symbol.is_imported():
                imported.add(symbol.get_name())
    return Names(frozenset(bound), frozenset(read), frozenset(imported))


def _all(table: symtable.SymbolTable) -> Iterable[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _all(inner)
