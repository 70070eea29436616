"""A second witness for "written by hand": what the text of an answer calls by name.

In the cage a recorder notes which operations of torch run, but a submission could rewrite it there.
The text is read out here. Whoever hides a call has to hide it from both.
"""

import ast
from collections import defaultdict

from nbformat import NotebookNode

from grader.classroom.source import tree

#: `share = lambda s: ...` and `share = torch.softmax` are functions too
_STANDS_IN = (ast.Lambda, ast.Attribute)


def named_operations(notebook: NotebookNode, name: str, forbidden: frozenset[str]) -> set[str]:
    """The forbidden operations that the definition of `name` calls, itself or in its helpers.

    The definition is the one in the cell that the lesson has for it; where that holds none, every
    definition elsewhere must call them. `torch.softmax`, `F.softmax`, `scores.softmax` and imported
    names count; a function that the learner calls softmax does not.
    Example: `named_operations(notebook, "softmax", frozenset({"softmax"}))` -> {"softmax"}
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"] if forbidden else []
    modules = [module for cell in cells if (module := tree(cell.source))]
    at_home = [tree(cell.source) for cell in cells if cell.get("id") == name and tree(cell.source)]
    definitions, imported = _definitions(modules), _imported(modules)
    candidates = _definitions(at_home)[name] or definitions[name]
    called = [_called(each, {name}, definitions, imported) for each in candidates]
    in_all = set.intersection(*called) if called else set()
    return {operation for operation in forbidden if operation.strip("_") in in_all}


def _called(
    definition: ast.AST, seen: set[str], definitions: dict[str, list], imported: dict[str, str]
) -> set[str]:
    """The names of attributes, and of what was imported, in a definition and in its helpers."""
    found, todo = set(), [definition]
    while todo:
        nodes = list(ast.walk(todo.pop()))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        found |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        used = {node.id for node in names} - own - seen
        seen = seen | used
        found |= {imported[name] for name in used if name in imported}
        todo += [helper for name in used for helper in definitions[name]]
    return found


def _definitions(modules: list[ast.Module]) -> dict[str, list[ast.AST]]:
    """Every top-level function and class, and what stands in for one, by name."""
    found: dict[str, list[ast.AST]] = defaultdict(list)
    for module in modules:
        for statement in module.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                found[statement.name].append(statement)
            elif isinstance(statement, ast.Assign) and isinstance(statement.value, _STANDS_IN):
                for target in statement.targets:
                    found[getattr(target, "id", "")].append(statement.value)
    return found


def _imported(modules: list[ast.Module]) -> dict[str, str]:
    """`from torch.nn.functional import softmax as s` -> {"s": "softmax"}"""
    return {
        alias.asname or alias.name: alias.name
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
