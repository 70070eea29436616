"""Which known mistake an answer equals, or which two of them at once. Only positive matches."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache

from grader.compare import near
from grader.exercise import Exercise, Mistake
from grader.judge.evidence import Evidence, drawn
from grader.observe import first_call, observe
from grader.probes import BATCHES, EDGES, VALUES, Probe
from grader.quiet import fresh_state, quiet
from grader.record import Call


def matches(exercise: Exercise, evidence: list[Evidence], seed: int) -> tuple[Mistake, ...]:
    """The known mistakes that the answer equals; where there is none, the pairs of them."""
    with quiet(), fresh_state():
        found = [s for s in _suspects(exercise, seed) if s.has_these_values(evidence)]
    single = tuple(s.mistake for s in found if s.has_wrong_values or s.has_these_faults(evidence))
    if single or not _may_be_two(evidence):
        return single
    with quiet(), fresh_state():
        found = [s.mistake for s in _pairs(exercise, seed) if s.has_these_values(evidence)]
    return tuple({frozenset(pair.parts): pair for pair in found}.values())


@lru_cache(maxsize=32)
def _suspects(exercise: Exercise, seed: int) -> tuple["Suspect", ...]:
    return _all(exercise.known_wrong, drawn(exercise, seed))


@lru_cache(maxsize=32)
def _pairs(exercise: Exercise, seed: int) -> tuple["Suspect", ...]:
    return _all(exercise.pairs(), drawn(exercise, seed))


def _all(mistakes: Iterable[Mistake], probes: tuple[Probe, ...]) -> tuple["Suspect", ...]:
    maps = Maps(probes)
    return tuple(Suspect(mistake, probes, maps) for mistake in mistakes)


def _may_be_two(evidence: list[Evidence]) -> bool:
    """Pairs are known by their wrong values alone."""
    if any(e.wrong_parameters for e in evidence if e.probe.init):
        return False
    return any(not (e.right or e.call.error) for e in evidence if e.is_core)


class Maps:
    """What the maps of modules make of the probes, once for all modules that share them.

    There are a thousand pairs of them, and making a module takes longer than its attention.
    """

    def __init__(self, probes: tuple[Probe, ...]) -> None:
        self._probes = probes
        self._made: dict[tuple, Call] = {}

    def first_call(self, kernel: Callable, i: int) -> Call:
        """The first call of any kernel of ours on probe `i`."""
        probe, halves = self._probes[i], getattr(kernel, "__dict__", {}).get("halves")
        if not halves or probe.init is None:
            return first_call(kernel, probe)
        key = i, halves.maps
        if key not in self._made:
            self._made[key] = first_call(halves.until(), probe)
        made = self._made[key]
        if made.error:
            return first_call(kernel, probe)
        after = replace(probe, args=tuple(made.output), init=None, weights={}, earlier=())
        done = first_call(halves.after, after)
        return replace(made, output=done.output, error=done.error, operations=done.operations)


class Suspect:
    """A known-wrong kernel, or a pair, run on each probe when that is first looked at."""

    def __init__(self, mistake: Mistake, probes: tuple[Probe, ...], maps: Maps) -> None:
        self.mistake, self.probes, self._maps = mistake, probes, maps
        self.has_wrong_values = False
        self._calls: dict[int, Call] = {}

    def has_these_values(self, evidence: list[Evidence]) -> bool:
        """Whether the answer's values are those of this kernel.

        A module with other parameters is known by them. A kernel with wrong values of its own
        fits whoever has them too, whatever else goes wrong in other dtypes and layouts or at
        large scores. A kernel that is right on plain inputs must be equal on all of them.
        """
        compared = [(i, e) for i, e in enumerate(evidence) if e.probe.compare]
        if compared[0][1].probe.init and (
            any(e.wrong_parameters for _, e in compared)
            or self._beside(*compared[0]).wrong_parameters
        ):
            self.has_wrong_values = True
            return all(e.parameters == self._beside(i, e).parameters for i, e in compared)
        # Where the answer gave numbers it is told apart soonest.
        core = sorted(((i, e) for i, e in compared if e.is_core), key=_crashed)
        by_batch = any(e.well_formed for _, e in core if e.probe.shows == BATCHES)
        if not all(self._is_apart(i, e, by_batch) or e.same_as(self._call(i)) for i, e in core):
            return False
        wrong = [e for i, e in core if self._is_wrong(i, e)]
        if wrong:
            self.has_wrong_values = True
            return any(not e.call.error for e in wrong)
        self.has_wrong_values = any(self._is_wrong(i, e) for i, e in compared)
        return all(e.same_as(self._call(i)) for i, e in compared)

    def _is_apart(self, i: int, evidence: Evidence, by_batch: bool) -> bool:
        """A crash that is another matter than wrong values: away from the plainest inputs, or on
        them if the answer needs a batch; or one of the kernel's own, on an axis of length 1.
        """
        if evidence.call.error:
            return evidence.probe.shows != VALUES or by_batch
        return evidence.probe.shows == EDGES and bool(self._call(i).error)

    def has_these_faults(self, evidence: list[Evidence]) -> bool:
        """Whether the answer goes wrong in the manners of a kernel whose values are all right."""
        pairs = [
            (e, replace(e, call=call))
            for e, call in zip(evidence, self._observed, strict=True)
            if e.probe.compare
        ]
        return all(
            e.right and e.faults == own.faults and near(_changed(e), _changed(own))
            for e, own in pairs
        )

    @cached_property
    def _observed(self) -> tuple[Call, ...]:
        return observe(self.mistake.kernel, self.probes).calls

    def _call(self, i: int) -> Call:
        if i not in self._calls:
            self._calls[i] = self._maps.first_call(self.mistake.kernel, i)
        return self._calls[i]

    def _beside(self, i: int, evidence: Evidence) -> Evidence:
        return replace(evidence, call=self._call(i))

    def _is_wrong(self, i: int, evidence: Evidence) -> bool:
        own = self._beside(i, evidence)
        return not (own.call.error or own.right)


def _crashed(numbered: tuple[int, Evidence]) -> bool:
    return bool(numbered[1].call.error)


def _changed(evidence: Evidence) -> tuple:
    """What the inputs that were written into have become."""
    return tuple(evidence.call.changed.values())
