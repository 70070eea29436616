"""What an answer has that another could have too: runs of code, comments, names, odd spaces."""

import re
from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise

from pygments.lexers import PythonLexer
from pygments.token import Comment, Name, String

MOST_CHARACTERS = 10_000  # of an answer are looked at
RUN = 7  # words of code that make a trait
_OWN = "·"  # any name that the learner may have changed
_WORDS = re.compile(r"[^\W_]+")
#: spaces that few would type twice: two inside a line, before , or ), on one side of =, at the end
_ODD = re.compile(r"\S  +[^\s#]|\S [,)\]]|\w =\w|\w= \w|[ \t]$|^ *\t")
_LEXER = PythonLexer()

Trait = tuple[str, tuple[str, ...]]
Span = tuple[int, int]


@dataclass(frozen=True)
class Word:
    """A word of code as written, where it stands, and as it is compared."""

    start: int
    text: str
    plain: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def counts(self) -> bool:
        """Brackets, commas and dots are many, and say nothing."""
        return self.plain not in "()[]{},.:;"


@dataclass(frozen=True)
class Traits:
    """Where each trait of a text stands in it, and its words of code.

    Example: `traits("x = y  # the first row").spans` -> {("comment", ("the", ...)): [(7, 22)], ...}
    """

    words: list[Word]
    spans: dict[Trait, list[Span]]

    def run_words(self, runs: Set[Trait]) -> set[int]:
        """The numbers of the words that stand in those of the runs of code that it has."""
        number = {word.start: n for n, word in enumerate(self.words)}
        mine = (trait for trait in self.spans if trait[0] == "code" and trait in runs)
        first = {number[start] for run in mine for start, _ in self.spans[run]}
        return {n for start in first for n in range(start, start + RUN) if self.words[n].counts}


def traits(text: str) -> Traits:
    """Read an answer, never run it; it need not be Python."""
    text = text[:MOST_CHARACTERS]
    words, comments = _read(text)
    spans = defaultdict(list)
    for n in range(len(words) - RUN + 1):
        run = words[n : n + RUN]
        spans["code", tuple(word.plain for word in run)].append((run[0].start, run[-1].end))
    for start, comment in comments:
        said = words_of(comment)
        if sum(len(word) > 2 for word in said) > 2:  # shorter ones are what anybody writes
            spans["comment", said].append((start, start + len(comment)))
    for before, word, after in zip(["", *words], words, words[1:], strict=False):
        given = before and before.text == "for" or after.text == "="
        if word.plain == _OWN and given and len(word.text) > 3:
            spans["name", (word.text,)].append((word.start, word.end))
    _odd_lines(text, words, spans)
    return Traits(words, dict(spans))


def words_of(prose: str) -> tuple[str, ...]:
    """How comments are compared: `words_of("# Scale by d_k.")` -> ("scale", "by", "d", "k")"""
    return tuple(_WORDS.findall(prose.lower()))


def _read(text: str) -> tuple[list[Word], list[tuple[int, str]]]:
    """The words of code, and the comments and docstrings with where they stand."""
    found, comments = [], []
    for start, kind, word in _LEXER.get_tokens_unprocessed(text):
        if kind in Comment or kind in String.Doc:
            comments.append((start, word))
        elif word.strip():
            found.append((start, kind, word))
    texts = ["", "", *(one for _, _, one in found), ""]
    defined = {name for word, name in pairwise(texts) if word in ("def", "class")}
    words, depth = [], 0
    for n, (start, kind, word) in enumerate(found, start=2):
        depth += (word in "([{") - (word in ")]}")
        if kind not in Name or kind in Name.Builtin:
            own = False
        elif texts[n - 1] == ".":  # what a library calls it, but for the learner's own attributes
            own = texts[n - 2] == "self"
        else:  # a function's name and a keyword argument's are given by others
            own = word in defined or not (texts[n + 1] == "(" or (texts[n + 1] == "=" and depth))
        words.append(Word(start, word, _OWN if own else word))
    return words, comments


def _odd_lines(text: str, words: list[Word], spans: dict[Trait, list[Span]]) -> None:
    """A line with odd spaces is a trait: its spaces, and its words as they are compared."""
    start, n = 0, 0
    for line in text.split("\n"):
        pieces, end, begun = [], start, n
        while n < len(words) and words[n].start < start + len(line):
            pieces += [text[end : words[n].start], words[n].plain]
            end, n = words[n].end, n + 1
        if n - begun > 2 and _ODD.search(line):
            rest = text[end : start + len(line)].partition("#")[0]
            spans["layout", (*pieces, rest)].append((start, start + len(line)))
        start += len(line) + 1
