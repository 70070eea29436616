"""Knows the right answers and the known mistakes; sees only what `observe` wrote down."""

from collections.abc import Iterator
from functools import lru_cache, partial

from grader import explain
from grader.evidence import BY_HAND, MANNERS, PARAMETERS, PRECISION, Evidence
from grader.exercise import Exercise, Mistake
from grader.observe import observe
from grader.probes import BESIDES, VALUES
from grader.record import Call, Observation
from grader.verdict import NOT_DONE, Verdict

STUB_LEFT = "The line raise NotImplementedError is still there: put your code in its place."


def judge(exercise: Exercise, observation: Observation, seed: int = 0) -> Verdict:
    """Turn an observation made on `exercise.probes(seed)` into a verdict."""
    verdict = partial(Verdict, exercise.name, max_points=exercise.points)
    if observation.refused:
        return verdict(points=0.0, message=f"This cannot be checked: {observation.refused}")
    if all(_is_stub(call) for call in observation.calls):
        return verdict(points=0.0, message=f"{NOT_DONE}\n{STUB_LEFT}")
    evidence = gather(exercise, observation.calls, seed)
    properties = tuple(_properties(exercise, evidence))
    verdict = partial(verdict, properties=properties)
    failed = [label for label, held in properties if not held]
    if not failed:
        return verdict(points=float(exercise.points), message="Right.")
    mistakes = [m for m in exercise.known_wrong if fits(exercise, m, evidence, seed)]
    if mistakes:
        message = explain.known(mistakes, evidence)
    else:
        message = explain.unknown(failed, evidence, observation.reads)
    steps = {m.step for m in mistakes}
    return verdict(
        points=_points(exercise, properties),
        misconception=mistakes[0].id if len(mistakes) == 1 else None,
        possible=tuple(m.id for m in mistakes),
        step=steps.pop() if len(steps) == 1 else "",
        message=message,
        hints=exercise.hints,
    )


def gather(exercise: Exercise, calls: tuple[Call, ...], seed: int) -> list[Evidence]:
    """Put each call beside its probe and what the reference does on it."""
    rows = zip(exercise.probes(seed), calls, expected(exercise, seed), strict=True)
    return [Evidence(exercise, probe, call, want) for probe, call, want in rows]


def fits(exercise: Exercise, mistake: Mistake, evidence: list[Evidence], seed: int) -> bool:
    """Whether the answer equals this known-wrong kernel.

    A module with other parameters is known by them. A kernel with wrong values of its own fits
    whoever has them too, whatever else goes wrong in other dtypes and layouts or at large scores.
    A kernel that is right on plain inputs must be equal on all of them, and one whose values are
    all right (it cuts the gradient, say) must also go wrong in the same manners.
    """
    pairs = _beside(exercise, mistake, evidence, seed, once=True)
    if any(e.wrong_parameters or w.wrong_parameters for e, w in pairs if e.probe.init):
        return all(e.parameters == w.parameters for e, w in pairs)
    core = [(e, w) for e, w in pairs if e.probe.shows not in BESIDES]
    if any(not (w.call.error or w.right) for _, w in core):
        seen = any(not (e.call.error or w.call.error or w.right) for e, w in core)
        return seen and all(e.same_as(w.call) or _only_crashes(e) for e, w in core)
    if not all(e.same_as(w.call) for e, w in pairs):
        return False
    if any(not (w.call.error or w.right) for _, w in pairs):
        return True
    pairs = _beside(exercise, mistake, evidence, seed, once=False)
    return all(e.right and e.faults == w.faults for e, w in pairs)


def _beside(
    exercise: Exercise, mistake: Mistake, evidence: list[Evidence], seed: int, once: bool
) -> list[tuple[Evidence, Evidence]]:
    """Each piece of evidence on the answer beside that on the known-wrong kernel."""
    wrong = gather(exercise, mistaken(exercise, mistake, seed, once), seed)
    return [(e, w) for e, w in zip(evidence, wrong, strict=True) if e.probe.compare]


def _only_crashes(evidence: Evidence) -> bool:
    """A crash away from the plain inputs, which is another matter than wrong values."""
    return bool(evidence.call.error) and evidence.probe.shows != VALUES


@lru_cache(maxsize=256)
def expected(exercise: Exercise, seed: int) -> tuple[Call, ...]:
    """What the reference does on the probes, in float64."""
    return observe(exercise.right, tuple(p.exact for p in exercise.probes(seed))).calls


@lru_cache(maxsize=2048)
def mistaken(exercise: Exercise, mistake: Mistake, seed: int, once: bool) -> tuple[Call, ...]:
    """What a known-wrong kernel does on the probes; its values alone with `once`."""
    return observe(mistake.kernel, exercise.probes(seed), once=once).calls


def _is_stub(call: Call) -> bool:
    """Raised by the stub itself, not by something that torch has not implemented."""
    return call.error == "NotImplementedError" or (
        call.error.startswith("NotImplementedError") and "raise NotImplementedError" in call.where
    )


def _properties(exercise: Exercise, evidence: list[Evidence]) -> Iterator[tuple[str, bool]]:
    """(label, held) for everything this exercise looks at, in the order of importance."""
    if any(e.probe.init for e in evidence):
        yield PARAMETERS, all(PARAMETERS not in e.faults for e in evidence)
    compared = [e for e in evidence if e.probe.compare]
    for label in dict.fromkeys(e.probe.shows for e in compared):
        yield label, all(e.right for e in compared if e.probe.shows == label)
    for label, (holds, _) in exercise.laws.items():
        outputs = {e.probe.label: e.call.output for e in evidence if e.well_formed}
        yield label, len(outputs) == len(evidence) and bool(holds(outputs))
    if any(e.is_precise is not None for e in compared):
        yield PRECISION, all(e.is_precise is not False for e in compared)
    for label in MANNERS:
        if any(label in e.looked_at for e in compared):
            yield label, all(label not in e.faults for e in compared)


def _points(exercise: Exercise, properties: tuple[tuple[str, bool], ...]) -> float:
    """Once the plain values are right, each property that fails costs a quarter of the points."""
    held = dict(properties)
    if not all(held.get(label, True) for label in (VALUES, PARAMETERS, BY_HAND, *exercise.laws)):
        return 0.0
    failed = sum(not holds for holds in held.values())
    return max(0.0, exercise.points * (1 - failed / 4))
