"""A second witness for "written by hand": what the text of an answer calls by name.

In the cage a recorder notes which operations of torch run, but a submission could rewrite it there.
The text is read out here. Whoever hides a call from both has to say so twice in the source.
"""

import ast
from collections.abc import Iterator

from nbformat import NotebookNode

from grader.classroom.source import tree


def named_operations(notebook: NotebookNode, name: str, forbidden: frozenset[str]) -> set[str]:
    """The forbidden operations that the definition of `name` calls, itself or in its helpers.

    `torch.softmax`, `F.softmax`, `scores.softmax` and imported names count; a function that the
    learner calls softmax does not.
    Example: `named_operations(notebook, "softmax", frozenset({"softmax"}))` -> {"softmax"}
    """
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "code")
    modules = [module for source in cells if (module := tree(source))]
    definitions, imported = _definitions(modules), _imported(modules)
    found: set[str] = set()
    todo, seen = [name], set()
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        for definition in definitions.get(here, ()):
            for node in ast.walk(definition):
                if isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    found |= {imported[node.id]} if node.id in imported else set()
                    todo.append(node.id)
    return {operation for operation in forbidden if operation.strip("_") in found}


def _definitions(modules: list[ast.Module]) -> dict[str, list[ast.AST]]:
    """Every top-level function, class and assignment by the names it gives."""
    found: dict[str, list[ast.AST]] = {}
    for module in modules:
        for statement in module.body:
            for name in _given(statement):
                found.setdefault(name, []).append(statement)
    return found


def _given(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _imported(modules: list[ast.Module]) -> dict[str, str]:
    """`from torch.nn.functional import softmax as s` -> {"s": "softmax"}"""
    return {
        alias.asname or alias.name: alias.name
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
