"""Finds learners whose answers share what few others in the class have.

What counts is not how alike two answers are, as right answers to a small exercise are all alike,
but what they share that next to nobody else wrote. So a class has to be large enough to tell.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median

from grader.classroom.alike.gather import Class, HandedIn
from grader.classroom.alike.traits import Trait, Traits, traits

FEWEST = 8  # answers that are needed to tell what is usual
MOST_SHARING = 5  # what more learners have in common is usual
WEIGHTS = {"comment": 2, "name": 2, "layout": 4, "wrong": 10}  # in words of code
LISTED = 30  # two who share so much are listed, if that is also
LEAST = 3  # in one exercise; less is in every answer
TIMES = 2  # so many times what half the class shares with whoever is nearest
SUBSTANCE = 60  # words of code; shorter answers may well be the same
MOST_PAIRS = 5  # of a group are shown


@dataclass(frozen=True)
class Shared:
    """What two learners share in one exercise, how many have any one thing of it, and of how many.

    `words` is the number of words of code, `kinds` the other traits by kind.
    """

    exercise: str
    words: int
    kinds: dict[str, list[Trait]]
    runs: set[Trait]
    sharing: int
    of: int

    @property
    def weight(self) -> int:
        others = sum(
            WEIGHTS[kind] * _size(trait) for kind in self.kinds for trait in self.kinds[kind]
        )
        return self.words + others


@dataclass(frozen=True)
class Pair:
    """Two learners, or two groups that handed in the same, and what they share."""

    one: HandedIn
    other: HandedIn
    shared: list[Shared]

    @property
    def weight(self) -> int:
        return sum(shared.weight for shared in self.shared)


@dataclass(frozen=True)
class Place:
    """A place to look: learners who handed `same` answers, or who share what `pairs` tell."""

    learners: tuple[str, ...]
    same: HandedIn | None = None
    same_file: bool = False
    pairs: list[Pair] = field(default_factory=list)
    more_pairs: int = 0


def places(found: Class) -> list[Place]:
    """Where to look, what stands out most first; empty if nothing does.

    Example: `places(gather(course, "01-averaging"))[0].learners` -> ("ada", "bob")
    """
    hands = defaultdict(list)
    for one in found.handed_in:
        if one.answers:
            hands[tuple(sorted(one.answers.items()))].append(one)
    read = {}
    for key in hands:
        read |= {text: traits(text) for _, text in key if text not in read}
    same = [place for group in hands.values() for place in _same(group, read, found)]
    same.sort(key=lambda place: -len(place.learners))
    return same + _groups(_pairs([group[0] for group in hands.values()], read, found), hands)


def _same(group: list[HandedIn], read: dict[str, Traits], found: Class) -> Iterator[Place]:
    """Those of a group with the same answers to whom that cannot have happened by itself."""
    words = sum(_own(read[text], found.given) for text in group[0].answers.values())
    by_file = defaultdict(list)
    for one in group:
        by_file[one.file or one.learner].append(one)
    for those in [group] if words >= SUBSTANCE else by_file.values():
        if len(those) > 1:
            same_file = len(by_file[those[0].file]) == len(those)
            yield Place(tuple(one.learner for one in those), those[0], same_file)


def _pairs(hands: list[HandedIn], read: dict[str, Traits], found: Class) -> list[Pair]:
    """The pairs that share more than one would expect in this class, the most first."""
    shared = defaultdict(list)
    for exercise in dict.fromkeys(name for hand in hands for name in hand.answers):
        those = {n: hand for n, hand in enumerate(hands) if exercise in hand.answers}
        for (one, other), (rare, sharing) in _rare(exercise, those, read, found).items():
            runs = {trait for trait in rare if trait[0] == "code"}
            texts = [read[hands[n].answers[exercise]] for n in (one, other)]
            words = min(len(text.run_words(runs) - text.run_words(found.usual)) for text in texts)
            kinds = defaultdict(list)
            for trait in sorted(rare - runs):
                kinds[trait[0]].append(trait)
            about = Shared(exercise, words, dict(kinds), runs, sharing, len(those))
            if about.weight >= LEAST:
                shared[one, other].append(about)
    pairs = [Pair(hands[one], hands[other], all_) for (one, other), all_ in shared.items()]
    nearest = dict.fromkeys((hand.learner for hand in hands), 0)
    for pair in pairs:
        for hand in (pair.one, pair.other):
            nearest[hand.learner] = max(nearest[hand.learner], pair.weight)
    least = max(LISTED, TIMES * median(nearest.values() or [0]))
    return sorted((p for p in pairs if p.weight >= least), key=lambda p: -p.weight)


def _rare(
    exercise: str, hands: dict[int, HandedIn], read: dict[str, Traits], found: Class
) -> dict[tuple[int, int], tuple[set[Trait], int]]:
    """By pair, the traits that both have and few others, and how many have the most common one."""
    having = defaultdict(list)
    for n, hand in hands.items():
        text = hand.answers[exercise]
        for trait in read[text].spans:
            having[trait].append(n)
        if exercise in hand.wrong:
            having["wrong", tuple(word.plain for word in read[text].words)].append(n)
    most = min(MOST_SHARING, len(hands) // (FEWEST // 2))
    pairs = defaultdict(lambda: (set(), 0))
    for trait, those in having.items():
        if 2 <= len(those) <= most and not _given(trait, found):
            for pair in combinations(those, 2):
                rare, sharing = pairs[pair]
                rare.add(trait)
                pairs[pair] = rare, max(sharing, len(those))
    return pairs


def _given(trait: Trait, found: Class) -> bool:
    """Whether the lesson itself says it."""
    kind, words = trait
    if kind == "comment":
        return f" {' '.join(words)} " in found.said
    return words[0] in found.vocabulary if kind == "name" else trait in found.usual


def _own(text: Traits, given: frozenset[Trait]) -> int:
    """How many words of code of an answer are the learner's."""
    return sum(word.counts for word in text.words) - len(text.run_words(given))


def _size(trait: Trait) -> int:
    return len(trait[1]) if trait[0] == "comment" else 1


def _groups(pairs: list[Pair], hands: dict) -> list[Place]:
    """Whoever is alike with somebody of a group belongs to it."""
    everybody = {group[0].learner: [one.learner for one in group] for group in hands.values()}
    groups: list[tuple[set[str], list[Pair]]] = []
    for pair in pairs:
        names = {pair.one.learner, pair.other.learner}
        joined = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in joined]
        members = names.union(*(group[0] for group in joined))
        inside = [*(one for group in joined for one in group[1]), pair]
        groups.append((members, sorted(inside, key=lambda one: -one.weight)))
    groups.sort(key=lambda group: -group[1][0].weight)
    return [
        Place(
            tuple(sorted(name for member in members for name in everybody[member])),
            pairs=inside[:MOST_PAIRS],
            more_pairs=max(0, len(inside) - MOST_PAIRS),
        )
        for members, inside in groups
    ]
