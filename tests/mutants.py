"""Right answers with one thing changed in their source, such as `k @ q.mT` for `q @ k.mT`.

cosmic-ray and mutmut change files and run a whole test suite for each mutant, and know nothing of
swapped axes, swapped arguments or dropped terms.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from grader import Exercise
from grader.attention import kernels
from grader.attention.modules import attention_module

#: what one writes for the other; both ways round where both stand here
INSTEAD = {
    "max": "min", "min": "max", "amax": "amin", "amin": "amax", "mean": "sum", "sum": "mean",
    "exp": "exp2", "log": "log2", "sqrt": "square", "square": "sqrt", "var": "std", "std": "var",
    "softmax": "log_softmax", "logsumexp": "sum", "cumsum": "cumprod", "tril": "triu",
    "triu": "tril", "ones": "zeros", "zeros": "ones", "zeros_like": "ones_like", "eye": "ones_like",
    "randn": "rand", "normal_": "uniform_", "diag_embed": "diag",
    "in_features": "out_features", "out_features": "in_features",
    "W_q": "W_k", "W_k": "W_v", "W_v": "W_q", "query": "key", "key": "value", "value": "query",
}  # fmt: skip
OPERATORS = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Mult), ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Sub), ast.MatMult: (ast.Mult, ast.Add), ast.Pow: (ast.Mult, ast.Div),
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """An answer whose `source`, the one definition that was changed, differs by `change`."""

    change: str
    source: str
    answer: Any


def sources(exercise: Exercise) -> dict[str, Any]:
    """Every right answer by name: each is as good a start as the reference."""
    named = {answer.__name__: answer for answer in exercise.variants}
    return {"reference": exercise.right, "twin": exercise.slow, **named}


@cache
def mutants(exercise: Exercise, name: str) -> tuple[Mutant, ...]:
    """Every mutant of one right answer and of the functions that it is made of.

    Example: `mutants(find("mix"), "reference")[0].change` -> "weights @ x -> weights * x"
    """
    answer = sources(exercise)[name]
    if answer.__module__ == attention_module.__module__:  # a kernel that was dressed as a module
        kernel = kernels.attention if name == "reference" else kernels.attention_in_loops
        roles = tuple(key.removesuffix(".weight") for key in exercise.probes(0)[0].weights)
        made = f"attention_module({kernel.__name__}, {roles})"
        return tuple(_mutants([attention_module, *_parts(kernel)], made))
    return tuple(_mutants(_parts(answer), answer.__name__))


def _parts(answer: Any) -> list[Any]:
    """The answer and what it calls of its own module and of the kernels, the callers first.

    The loops are left out: they are long, slow, and the twin of the kernels as they are.
    """
    parts = [answer]
    for part in parts:  # which grows
        if isinstance(part, FunctionType):
            names = _names(part.__code__)
            called = [part.__globals__.get(name) for name in sorted(names)]
            for each in (*called, *(part.__kwdefaults__ or {}).values()):
                near = getattr(each, "__module__", "") in (answer.__module__, kernels.__name__)
                seen = each in (*parts, kernels.attention_in_loops)
                if isinstance(each, FunctionType) and near and not seen:
                    parts.append(each)
    return parts


def _names(code: CodeType) -> set[str]:
    inner = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inner)


def _mutants(parts: list[Any], made: str) -> Iterator[Mutant]:
    """Each with one change in one of the parts; `made` is the answer, written in their names."""
    trees = [_tree(part) for part in parts]
    texts = [ast.unparse(tree) for tree in trees]
    names: dict[str, Any] = {}
    for part in reversed(parts):
        names |= getattr(part, "__globals__", None) or vars(inspect.getmodule(part))
    seen = set(texts)
    for i, tree in enumerate(trees):
        for change, text in _texts(tree):
            if text not in seen:
                seen.add(text)
                whole = "\n\n".join(reversed([*texts[:i], text, *texts[i + 1 :]]))
                found = dict(names)
                try:
                    exec(compile(whole, "<mutant>", "exec"), found)
                    answer = eval(made, found)
                except Exception:  # a star in a strange place, say: nothing that one could hand in
                    continue
                yield Mutant(change, text, answer)


def _tree(part: Any) -> ast.Module:
    """What a definition does: without its decorators, annotations and docstrings."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(part)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list, node.returns = [], None
            node.body = node.body[1:] if ast.get_docstring(node) else node.body
        if isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _texts(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(what was changed, the whole text) for every change at every place, one at a time."""
    for holder, key, parameters in list(_places(tree, ())):
        old = holder[key]
        for new in _changes(old, parameters if key != "func" else ()):
            holder[key] = new
            yield f"{ast.unparse(old)} -> {ast.unparse(new)}", ast.unparse(tree)
        holder[key] = old


def _places(node: ast.AST, parameters: tuple[str, ...]) -> Iterator[tuple[Any, Any, tuple]]:
    """Every expression and statement as (holder, key), with the parameters it can see."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        parameters += tuple(arg.arg for arg in node.args.args if arg.arg != "self")
    for field, value in ast.iter_fields(node):
        listed = isinstance(value, list)
        for key in range(len(value)) if listed else (field,):
            holder = value if listed else vars(node)
            # A `while` is left alone: it might never end.
            if isinstance(holder[key], ast.AST) and not isinstance(holder[key], ast.While):
                yield holder, key, parameters
                yield from _places(holder[key], parameters)


def _changes(node: ast.AST, parameters: tuple[str, ...]) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from map(ast.Constant, (value - 1, value + 1))
        case ast.Constant(value=float(value)):
            yield from map(ast.Constant, (value / 2, value * 2, 0.0))
        case ast.Constant(value=str(value)) if "->" in value:  # einsum
            for i, (a, b) in enumerate(zip(value, value[1:], strict=False)):
                if a.isalpha() and b.isalpha():
                    yield ast.Constant(value[:i] + b + a + value[i + 2 :])
        case ast.Name(id=name, ctx=ast.Load()):
            yield from (ast.Name(other) for other in parameters if other != name)
            if name in INSTEAD:
                yield ast.Name(INSTEAD[name])
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, new(), right) for new in OPERATORS.get(type(op), ()))
            yield from (left, right, ast.BinOp(right, op, left))
            yield ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right)
            yield ast.BinOp(left, op, ast.UnaryOp(ast.USub(), right))
        case ast.Compare(left=left, ops=[op], comparators=right):
            yield from (ast.Compare(left, [new()], right) for new in OPERATORS.get(type(op), ()))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.If(test=test, body=body, orelse=orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Assign() | ast.Expr():
            yield ast.Pass()
        case ast.Call(func=func, args=args, keywords=keywords):
            yield from (ast.Call(func, swapped, keywords) for swapped in _swapped(args))
            if len(args) > 1:
                yield ast.Call(func, args[:-1], keywords)
            for i in range(len(keywords)):
                yield ast.Call(func, args, [*keywords[:i], *keywords[i + 1 :]])
            path = ast.unparse(func)
            library = path.startswith(("torch.", "math.", "nn.")) and "(" not in path
            method = isinstance(func, ast.Attribute) and not library
            yield from [func.value] if method else args[:1]
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()):
            if name in ("T", "mT"):
                yield value
            if name in INSTEAD:
                yield ast.Attribute(value, INSTEAD[name])
        case ast.Subscript(value=value, slice=index):
            yield value
            if isinstance(index, ast.Name):
                shifted = (ast.BinOp(index, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub()))
                yield from (ast.Subscript(value, place) for place in shifted)
        case ast.Tuple(elts=items):
            yield from map(ast.Tuple, _swapped(items))
            yield from (ast.Tuple([*items[:i], *items[i + 1 :]]) for i in range(len(items)))


def _swapped(items: list) -> Iterator[list]:
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]
