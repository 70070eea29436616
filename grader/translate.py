"""Says what is shown in the learner's language: `COURSE_LANGUAGE=de`, English without it.

Verdicts are records and stay English. Text is translated where it is shown, sentence by sentence,
from `translations/<language>.po`. A sentence with numbers or names in it is found by its template,
such as "On {label}, your numbers are {away}.", and its parts are translated in turn. What has no
translation stays English.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "translations"
SENTENCES = re.compile(r"(?<=[.?]) ")
PLACE = re.compile(r"\{(\w*)\}")
#: where parts are joined that are translated each by itself, the loosest joint first
JOINTS = ("; ", ": ", ", ", " and ")
_MOST = 12  # parts of one text; more are no sentences of ours
_SHORT = 9  # letters; a template with fewer must know all of its parts


def say(text: str) -> str:
    """The text in the learner's language. Example: `say("Not done yet.")` -> "Noch offen."."""
    catalogue = _catalogue(os.environ.get("COURSE_LANGUAGE", ""))
    return "\n".join(map(catalogue, text.split("\n"))) if catalogue else text


def language() -> str:
    """What is spoken: `"de"`, or `"en"` if nothing else, or nothing known, was asked for."""
    wanted = os.environ.get("COURSE_LANGUAGE", "")
    return wanted if _catalogue(wanted) else "en"


def languages() -> list[str]:
    """Those that the course speaks: `["de", "en"]`."""
    return sorted(["en", *(path.stem for path in FOLDER.glob("*.po"))])


@cache
def _catalogue(language: str) -> "Catalogue | None":
    """The catalogue of a language, read once; for an unknown one a line is printed, once."""
    if language in ("", "en"):
        return None
    if language not in languages():
        known = ", ".join(languages())
        print(f"COURSE_LANGUAGE is {language!r}, which the course does not speak; it has: {known}.")
        return None
    from babel.messages.pofile import read_po  # only who needs it waits for it

    try:
        with (FOLDER / f"{language}.po").open("rb") as file:
            entries = [m for m in read_po(file) if m.id and m.string and not m.fuzzy]
    except (OSError, ValueError) as error:
        print(f"{language}.po cannot be read, so this is in English: {error}")
        return None
    return Catalogue({entry.id: entry.string for entry in entries})


@dataclass(frozen=True)
class Template:
    """A message with places: `Template("all {high}", "alle {high}")`."""

    patterns: list[re.Pattern]  # with the first places as short, and as long, as can be
    names: list[str]
    anchor: str  # its longest piece, to see quickly that a text is another
    letters: int
    target: str

    @classmethod
    def of(cls, source: str, target: str) -> "Template":
        pieces, names, pattern = PLACE.split(source), [], ""
        for i, piece in enumerate(pieces):
            if i % 2 == 0:
                pattern += re.escape(piece)
            elif piece in names and piece:
                pattern += f"(?:\\{names.index(piece) + 1})"
            else:
                names.append(piece)
                pattern += "(.+?)"
        letters = sum(map(str.isalpha, "".join(pieces[::2])))
        patterns = [re.compile(p, re.DOTALL) for p in (pattern, pattern.replace("+?)", "+)"))]
        return cls(patterns, names, max(pieces[::2], key=len), letters, target)

    def fill(self, parts: list[str]) -> str:
        """The target with its places filled, by name, or in order where they have none."""
        named, unnamed = dict(zip(self.names, parts, strict=True)), iter(parts)
        return PLACE.sub(lambda at: named[at[1]] if at[1] else next(unnamed), self.target)


class Catalogue:
    """Translates one line at a time; asked twice, it remembers."""

    def __init__(self, messages: dict[str, str]) -> None:
        self._exact = messages
        made = [Template.of(*pair) for pair in messages.items() if PLACE.search(pair[0])]
        self._templates = sorted(made, key=lambda template: -template.letters)
        self._found: dict[str, str | None] = {}

    def __call__(self, line: str) -> str:
        return self._known(line) or line

    def _known(self, text: str) -> str | None:
        """The translation, or None where nothing of it is known."""
        if text not in self._found:
            self._found[text] = None  # while it is looked for: a template may hold itself
            ways = (self._exact.get, self._by_sentences, self._by_template, self._by_joints)
            ways += (self._with_another_end, self._with_another_start)
            self._found[text] = next((found for way in ways if (found := way(text))), None)
        return self._found[text]

    def _by_template(self, text: str) -> str | None:
        for template in self._templates:
            if template.anchor in text and (read := self._read(template, text)):
                if template.letters >= _SHORT or all(found for found, _ in read):
                    return template.fill([found or same for found, same in read])
        return None

    def _read(self, template: Template, text: str) -> list[tuple[str | None, str]]:
        """(translation or None, text) for each place, so that most of them are known."""
        matches = filter(None, (pattern.fullmatch(text) for pattern in template.patterns))
        reads = [[(self._part(part), part) for part in match.groups()] for match in matches]
        return max(reads, key=lambda read: sum(bool(found) for found, _ in read), default=[])

    def _part(self, text: str) -> str | None:
        """A part in this language; names, numbers and formulas are the same in all of them."""
        return self._known(text) or (text if _is_name(text) else None)

    def _by_sentences(self, text: str) -> str | None:
        """Sentence by sentence; those that are not known stay as they are."""
        sentences = SENTENCES.split(text)
        if not 1 < len(sentences) <= _MOST:
            return None
        known = list(self._in_runs(sentences, " ", lambda part: self._known(part)))
        if not any(found for found, _ in known):
            return None
        return " ".join(found or same for found, same in known)

    def _by_joints(self, text: str) -> str | None:
        """Parts that are all known, joined as they were."""
        for joint in JOINTS:
            pieces = text.split(joint)
            if 1 < len(pieces) <= _MOST:
                known = [found for found, _ in self._in_runs(pieces, joint, self._part)]
                if all(known) and any(map(self._known, pieces)):
                    return joint.replace("and", self._exact.get("and", "and")).join(known)
        return None

    def _in_runs(
        self, pieces: list[str], joint: str, look: Callable[[str], str | None]
    ) -> Iterator[tuple[str | None, str]]:
        """(translation or None, text) for each piece, or for as many as it takes to know them."""
        while pieces:
            runs = {n: joint.join(pieces[:n]) for n in range(1, len(pieces) + 1)}
            n = next((n for n, run in runs.items() if look(run)), 1)
            yield look(runs[n]), runs[n]
            pieces = pieces[n:]

    def _with_another_end(self, text: str) -> str | None:
        """What stands alone elsewhere, at the end of a sentence."""
        found = self._known(text[:-1]) if text[-1:] == "." else None
        return found and f"{found}."

    def _with_another_start(self, text: str) -> str | None:
        """A sentence after a colon."""
        found = self._known(text[0].upper() + text[1:]) if text[:1].islower() else None
        return found and found[0].lower() + found[1:]


def _is_name(text: str) -> bool:
    """No words, or a single one: `_is_name("5×3")`, `_is_name("weights")` -> True."""
    return " " not in text or not re.search("[A-Za-z]{2}", text)
