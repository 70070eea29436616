"""Writes grader/translations/messages.pot, and brings what is new in it into every .po there.

`python tools/messages.py` finds the sentences that learners read: in the docstrings of mistakes,
and by a scan of the modules that make messages. An f-string becomes a template.
"""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from grader import exercises
from grader.translate import FOLDER, SENTENCES

ROOT = Path(__file__).resolve().parents[1]
#: where every text is for learners; elsewhere only what is handed to `say`
MAKE_MESSAGES = (
    "judge/*.py", "compare.py", "laws.py", "probes.py", "observe.py", "exercise.py", "verdict.py",
    "results.py", "figures/heat.py", "attention/*.py", "attention/slips/*.py", "exercises/*/*.py",
    "exercises/__init__.py", "names.py",
)  # fmt: skip
#: words of formulas that are the same in every language
CODE = frozenset(
    "softmax log relu sigmoid exp tril triu sum mean abs argmax one hot dim keepdim True False "
    "None torch cumsum norm inf Linear Tensor tensor weights context scores float64 float32 int "
    "max min eye ones zeros full cat stack view reshape transpose item data return for in if "
    "else".split()
)
_NOISE = re.compile(r"[\\<>]\w|->|^\^|(^| )_")  # patterns, markup, signatures


def messages() -> dict[str, list[str]]:
    """Every message and where it comes from, in the order of the files."""
    found: dict[str, list[str]] = {word: ["inside sentences"] for word in ("and", "row", "column")}
    for path, wanted in _modules():
        place = path.relative_to(ROOT).as_posix()
        for text in _texts(ast.parse(path.read_text(encoding="utf-8")), wanted):
            for sentence in SENTENCES.split(text.strip()):
                if _has_words(sentence) and not _NOISE.search(sentence):
                    found.setdefault(sentence, []).append(place)
    for exercise in exercises():
        for mistake in exercise.known_wrong:
            for sentence in SENTENCES.split(f"{mistake.what} {mistake.question}"):
                found.setdefault(sentence, []).append(f"{exercise.name}: {mistake.id}")
    return found


def _modules() -> Iterator[tuple[Path, bool]]:
    """Every module, and whether all its texts are wanted."""
    package = ROOT / "grader"
    whole = {path for pattern in MAKE_MESSAGES for path in package.glob(pattern)}
    for path in sorted(package.rglob("*.py")):
        yield path, path in whole


def _texts(tree: ast.AST, wanted: bool) -> Iterator[str]:
    """The texts of a module as templates: all of them, or those handed to `say`."""
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "say":
        yield from _inside(tree.args[0], wanted=True)
        return
    if isinstance(tree, ast.JoinedStr):
        if wanted:
            yield _template(tree)
        for value in tree.values:
            if isinstance(value, ast.FormattedValue):
                yield from _inside(value.value, wanted)
        return
    if isinstance(tree, ast.Constant):
        if wanted and isinstance(tree.value, str) and _is_text(tree.value):
            yield tree.value
        return
    for child in _children(tree):
        yield from _texts(child, wanted)


def _inside(tree: ast.AST, wanted: bool) -> Iterator[str]:
    """Texts in the place of an f-string, or handed to `say`, where single words count too."""
    if isinstance(tree, ast.IfExp):
        yield from _inside(tree.body, wanted)
        yield from _inside(tree.orelse, wanted)
    elif isinstance(tree, ast.Constant):
        yield from [tree.value] if wanted and isinstance(tree.value, str) else []
    else:
        yield from _texts(tree, wanted)


def _children(tree: ast.AST) -> Iterator[ast.AST]:
    """All parts but docstrings, types, and what names or compares something."""
    docstring = isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant)
    if docstring or isinstance(tree, ast.Subscript | ast.Compare):
        return
    exported = isinstance(tree, ast.Assign) and "__all__" in ast.unparse(tree.targets)
    for field, value in ast.iter_fields(tree):
        if field not in ("annotation", "returns") and not exported:
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def _template(tree: ast.JoinedStr) -> str:
    """`f"all {high:.2g}"` -> "all {high}"."""
    names: dict[str, str] = {}
    parts = []
    for value in tree.values:
        if isinstance(value, ast.Constant):
            parts.append(value.value)
            continue
        code = ast.unparse(value.value)
        if code not in names:
            name = _name(value.value)
            same = sum(re.sub(r"\d+$", "", n) == name for n in names.values())
            names[code] = f"{name}{same + 1 if same else ''}"
        parts.append(f"{{{names[code]}}}")
    return "".join(parts)


def _name(tree: ast.AST) -> str:
    """A word for what stands in a place of an f-string."""
    if isinstance(tree, ast.Name):
        return tree.id.strip("_")
    if isinstance(tree, ast.Attribute):
        return tree.attr.strip("_")
    if isinstance(tree, ast.Call):
        joins = isinstance(tree.func, ast.Attribute) and tree.func.attr == "join"
        return _name(tree.args[0]) if joins else _name(tree.func)
    if isinstance(tree, ast.Subscript | ast.Starred):
        return _name(tree.value)
    return "part"


def _is_text(text: str) -> bool:
    """A sentence, or a part of one; not a name."""
    return " " in text.strip() or bool(re.fullmatch(r"[A-Z][a-z]+\.?", text))


def _has_words(text: str) -> bool:
    """Whether it says something beyond formulas."""
    words = re.findall(r"(?<![\w.({])([A-Za-z]{2,}|a)(?![\w(}])", re.sub(r"`[^`]*`", "", text))
    return any(word not in CODE for word in words)


def template_file() -> Catalog:
    catalog = Catalog()
    for message, places in messages().items():
        catalog.add(message, auto_comments=list(dict.fromkeys(places))[:3])
    return catalog


def written(catalog: Catalog) -> str:
    """A catalogue as a file, without dates: it changes only if messages do."""
    file = BytesIO()
    write_po(file, catalog, width=100, omit_header=True, ignore_obsolete=True)
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return header + file.getvalue().decode()


def main() -> None:
    template = template_file()
    (FOLDER / "messages.pot").write_text(written(template), encoding="utf-8")
    print(f"messages.pot: {len(template)} messages")
    for path in sorted(FOLDER.glob("*.po")):
        with path.open("rb") as file:
            catalog = read_po(file, locale=path.stem)
        catalog.update(template, no_fuzzy_matching=True)
        path.write_text(written(catalog), encoding="utf-8")
        print(f"{path.name}: {sum(bool(m.string) for m in catalog if m.id)} of them translated")


if __name__ == "__main__":
    main()
