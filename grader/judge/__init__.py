"""Knows the right answers and the known mistakes; sees only what `observe` wrote down.

The order of a verdict: crash or shape, right, one known mistake, two of them, the part that is
right, the properties that hold.

    evidence   what the answer did beside what is right        panel    properties and points
    suspects   the known mistakes that it equals               slices   which part is right
    known, unknown, crash, words   the message                 exhibit  numbers to look at
"""

from functools import lru_cache, partial

from grader.exercise import Exercise
from grader.judge.evidence import Evidence, drawn
from grader.judge.exhibit import exhibit
from grader.judge.known import known
from grader.judge.panel import panel, points
from grader.judge.slices import finding
from grader.judge.suspects import matches
from grader.judge.unknown import unknown
from grader.observe import observe
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
    properties = panel(exercise, evidence)
    verdict = partial(verdict, properties=properties)
    if all(held for _, held in properties):
        return verdict(points=float(exercise.points), message="Right.")
    mistakes = matches(exercise, evidence, seed)
    if mistakes:
        message = known(mistakes, properties, evidence, observation.reads)
        steps = {mistake.step for mistake in mistakes}
    else:
        found = finding(evidence)
        message = unknown(exercise, properties, evidence, observation.reads, found)
        steps = {found[0].step if found else ""}
    earned, because = points(exercise, properties, evidence)
    return verdict(
        points=earned,
        because=because,
        misconception=mistakes[0].id if len(mistakes) == 1 else None,
        possible=tuple(mistake.id for mistake in mistakes),
        step=steps.pop() if len(steps) == 1 else "",
        message=message,
        comparison=exhibit(evidence),
        hints=exercise.hints,
    )


def gather(exercise: Exercise, calls: tuple[Call, ...], seed: int) -> list[Evidence]:
    """Put each call beside its probe and what the reference does on it."""
    rows = zip(drawn(exercise, seed), calls, expected(exercise, seed), strict=True)
    return [Evidence(exercise, probe, call, want) for probe, call, want in rows]


@lru_cache(maxsize=256)
def expected(exercise: Exercise, seed: int) -> tuple[Call, ...]:
    """What the reference does on the probes, in float64."""
    return observe(exercise.right, tuple(p.exact for p in drawn(exercise, seed))).calls


def _is_stub(call: Call) -> bool:
    """Raised by the stub itself, not by something that torch has not implemented."""
    return call.error == "NotImplementedError" or (
        call.error.startswith("NotImplementedError") and "raise NotImplementedError" in call.where
    )
