"""Shows the places to look, as lines for a terminal and as a page with the texts side by side."""

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from grader.classroom.alike.compare import FEWEST, Pair, Place, Shared
from grader.classroom.alike.gather import Class, HandedIn
from grader.classroom.alike.traits import Span, traits
from grader.classroom.display import plain_text
from grader.classroom.feedback import POLICY

#: the class report's own style, and what stands side by side
STYLES = (("grader.classroom.report", "page.css"), (__package__, "beside.css"))
MOST_QUOTED = 4  # comments, names
NO_PROOF = (
    "This is a place to look, not a verdict. It says what few in the class have in common, not how "
    "that came about: learners may have worked together as they were allowed to, or read the same "
    "book. Talk to them. No points depend on it."
)
HOW_COUNTED = (
    "Marked is what few others wrote and the lesson does not say. Words of code are compared "
    "without the names that learners choose. Learners whose answers are the same to the character "
    "count once."
)
KINDS = {
    "comment": "the same {}, word for word",
    "name": "the same {} for what they made",
    "layout": "{} with the same odd spaces",
    "wrong": "the same wrong answer, which is no known mistake",
}
_SIGNS = re.compile(r"[^\w\n]*")
UNITS = {"comment": ("comment", "comments"), "name": ("name", "names"), "layout": ("line", "lines")}


def summary(found: Class, places: list[Place]) -> str:
    """A sentence on the whole class: how many were compared, and how many stand out."""
    count = len([one for one in found.handed_in if one.answers])
    if not places:
        told = f"No two of {count} answers have more in common than one would expect."
    else:
        told = f"{len(places)} to look at: alike in more than one would expect of {count} answers."
    few = f" Fewer than {FEWEST} cannot tell what is usual: only equal notebooks would be told."
    return told + (few if count < FEWEST else "")


def tell(place: Place) -> list[str]:
    """What there is to see at a place, a line for each thing.

    Example: `tell(place)` -> ["mix: 14 words of code that 2 of 24 wrote, names aside"]
    """
    if place.same:
        whole = "their files are the same, byte for byte" if place.same_file else ""
        lines = [f"every answer is the same to the character ({', '.join(place.same.answers)})"]
        return [*lines, whole] if whole else lines
    (pair, *more) = place.pairs
    lines = [f"{shared.exercise}: {_tell(shared)}" for shared in _most_first(pair)]
    if len(place.learners) > 2:
        lines.insert(0, f"most alike are {_who(pair.one)} and {_who(pair.other)}")
    return lines


def _tell(shared: Shared) -> str:
    parts = [f"{shared.words} words of code, names aside"] if shared.words else []
    for kind, those in shared.kinds.items():
        one, many = UNITS.get(kind, ("", ""))
        number = f"{len(those)} {many}" if len(those) > 1 else one
        if kind == "layout" and len(those) == 1:
            number = "a line"
        quoted = ", ".join(" ".join(words) for _, words in those[:MOST_QUOTED])
        quoted = f" ({quoted})" if kind in ("comment", "name") else ""
        parts.append(KINDS[kind].format(number) + plain_text(quoted, 300))
    few = f"{shared.sharing} of {shared.of} wrote"
    return f"{'; '.join(parts)}: {few if shared.sharing < 3 else f'at most {few}'} any of it"


def page(found: Class, places: list[Place]) -> str:
    """The whole page; whatever learners wrote is escaped."""
    title = escape(f"{found.lesson}: answers that are alike")
    parts = [
        f"<header><h1>{title}</h1><p>{escape(summary(found, places))}</p>",
        f"<p>{NO_PROOF}</p><p class='soft'>{HOW_COUNTED}</p></header>",
        *(_section(place, found) for place in places),
    ]
    if found.left_out:
        told = "".join(f"<li>{escape(plain_text(line, 500))}</li>" for line in found.left_out)
        parts.append(f"<h2>Not compared</h2><ul>{told}</ul>")
    style = "".join(files(package).joinpath(name).read_text("utf-8") for package, name in STYLES)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _section(place: Place, found: Class) -> str:
    parts = [f"<h2>{escape(plain_text(', '.join(place.learners), 2000))}</h2>"]
    if place.same:
        lines = "".join(f"<li>{escape(line)}</li>" for line in tell(place))
        parts.append(f"<ul>{lines}</ul>")
        for exercise, text in place.same.answers.items():
            shown = _text(f"{exercise} by {place.learners[0]}", text, [])
            parts.append(f"<h3>{escape(exercise)}</h3>{shown}")
    for pair in place.pairs:
        if len(place.learners) > 2:
            parts.append(f"<h3>{escape(_who(pair.one))} and {escape(_who(pair.other))}</h3>")
        parts += [_beside(pair, shared, found) for shared in _most_first(pair)]
    if place.more_pairs:
        parts.append(f"<p>{place.more_pairs} more pairs of them are alike, in less.</p>")
    return "".join(parts)


def _beside(pair: Pair, shared: Shared, found: Class) -> str:
    texts = [(_who(hand), hand.answers[shared.exercise]) for hand in (pair.one, pair.other)]
    columns = "".join(
        f"<div><h4>{escape(who)}</h4>"
        f"{_text(f'{shared.exercise} by {who}', text, _spans(text, shared, found))}</div>"
        for who, text in texts
    )
    told = escape(f"{shared.exercise}: {_tell(shared)}.")
    return f"<section><p>{told}</p><div class='beside'>{columns}</div></section>"


def _text(label: str, text: str, spans: Iterable[Span]) -> str:
    """A text with some parts marked."""
    shown, end = "", 0
    for start, stop in spans:
        shown += escape(plain_text(text[end:start]))
        shown += f"<mark>{escape(plain_text(text[start:stop]))}</mark>"
        end = stop
    shown += escape(plain_text(text[end:]))
    return f"<pre tabindex='0' role='region' aria-label='{escape(label)}'>{shown}</pre>"


def _spans(text: str, shared: Shared, found: Class) -> list[Span]:
    """Where it stands what two share; words with nothing but signs between them are joined."""
    read = traits(text)
    words = read.run_words(shared.runs) - read.run_words(found.usual)
    spans = [(read.words[n].start, read.words[n].end) for n in words]
    for those in shared.kinds.values():
        spans += [span for trait in those for span in read.spans.get(trait, ())]
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and _SIGNS.fullmatch(text[joined[-1][1] : start]):
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined


def _most_first(pair: Pair) -> list[Shared]:
    return sorted(pair.shared, key=lambda shared: -shared.weight)


def _who(hand: HandedIn) -> str:
    return plain_text(hand.learner, 100)
