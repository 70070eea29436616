"""What holds and what does not, and the points that follow from it."""

from collections.abc import Iterator

from torch import Tensor

from grader.compare import all_finite, near
from grader.exercise import Exercise
from grader.judge.evidence import (
    BY_HAND,
    GRADIENTS,
    MANNERS,
    MEMORY,
    PARAMETERS,
    PRECISION,
    Evidence,
)
from grader.probes import VALUES

Panel = tuple[tuple[str, bool], ...]


def panel(exercise: Exercise, evidence: list[Evidence]) -> Panel:
    """(label, held) for everything this exercise looks at, in the order of importance."""
    return tuple(_properties(exercise, evidence))


def _properties(exercise: Exercise, evidence: list[Evidence]) -> Iterator[tuple[str, bool]]:
    if any(e.probe.init for e in evidence):
        yield PARAMETERS, all(PARAMETERS not in e.faults for e in evidence)
    compared = [e for e in evidence if e.probe.compare]
    for label in dict.fromkeys(e.probe.shows for e in compared):
        yield label, all(e.right for e in compared if e.probe.shows == label)
    fine = [e for e in evidence if e.well_formed and all_finite(e.call.output)]
    outputs = {e.probe.label: (e.probe, e.call.output) for e in fine}
    plain = all(e.probe.label in outputs for e in evidence if e.probe.shows == VALUES)
    for law in exercise.laws:
        held = law.holds(outputs) if plain else None
        if held is not None or law.decisive:
            yield law.label, bool(held)
    if any(e.is_precise is not None for e in compared):
        yield PRECISION, all(e.is_precise is not False for e in compared)
    right = all(e.right for e in compared if e.probe.shows == VALUES)
    for label in MANNERS:
        looked = [e for e in compared if label in e.looked_at]
        if label == GRADIENTS and not right:  # a value may be right by chance, its gradient not
            looked = [e for e in looked if e.probe.shows == VALUES]
            if looked:
                yield label, not any(e.call.gradient_error or e.without_gradient for e in looked)
        elif looked:
            yield label, all(label not in e.faults for e in looked)


def points(exercise: Exercise, properties: Panel, evidence: list[Evidence]) -> tuple[float, str]:
    """The points, and how they come about in a sentence.

    Once the plain values are right, each property that fails costs a quarter. While they are
    wrong, half of the points are left for the laws, and each law or manner that fails costs a
    quarter: there must be laws, the result must depend on every input, and be more than an input
    given back.
    """
    held = dict(properties)
    laws = [law.label for law in exercise.laws if not law.decisive]
    musts = [PARAMETERS, BY_HAND, MEMORY, *(law.label for law in exercise.laws if law.decisive)]
    if missed := [label for label in musts if not held.get(label, True)]:
        return 0.0, f"Nothing is earned until this holds: {missed[0]}."
    if held.get(VALUES, True):
        failed = [label for label in held if not held[label] and label not in laws]
        share, start = max(0.0, 1 - len(failed) / 4), "The plain values are right"
    elif not laws:
        return 0.0, f"Nothing is earned until this holds: {VALUES}."
    elif not held.get(GRADIENTS, True):
        return 0.0, f"Nothing is earned until this holds: {GRADIENTS}."
    elif nothing := _says_nothing(evidence):
        return 0.0, nothing
    else:
        failed = [label for label in laws if not held.get(label)]
        failed += [label for label in MANNERS if not held.get(label, True)]
        share, start = max(0.0, 0.5 - len(failed) / 4), "Half is left for what holds all the same"
    if share == 1:
        return float(exercise.points), ""
    if not failed:
        return share * exercise.points, f"{start}."
    costs = f"{start}, less a quarter for each that fails: {'; '.join(failed)}."
    return share * exercise.points, costs


def _says_nothing(evidence: list[Evidence]) -> str:
    """Why wrong values say nothing, whatever laws they keep to; empty if they may."""
    plain = [e for e in evidence if e.probe.shows == VALUES]
    if not all(e.well_formed and all_finite(e.call.output) for e in plain):
        return "Nothing is earned until numbers in the right form come back on every plain input."
    if len({number for e in plain for number in _extremes(_first(e.call.output))}) == 1:
        return "Nothing is earned for one and the same number everywhere, whatever came in."
    for i, name in enumerate(plain[0].exercise.arguments):
        if all(near(_first(e.call.output), e.probe.args[i]) for e in plain):
            return f"Nothing is earned for giving {name} back as it was."
    return ""


def _extremes(value: object) -> tuple:
    if not isinstance(value, Tensor) or not value.numel():
        return (value,)
    return value.double().min().item(), value.double().max().item()


def _first(output: object) -> object:
    return output[0] if isinstance(output, tuple) else output
