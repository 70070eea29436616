"""The message for an answer that equals a known mistake, two at once, or several alike."""

import re
from collections.abc import Iterator

from grader.compare import all_finite
from grader.exercise import Mistake
from grader.judge.evidence import (
    BY_HAND,
    DTYPE,
    GRADIENTS,
    INPUTS,
    MEMORY,
    PARAMETERS,
    REPEAT,
    Evidence,
)
from grader.judge.panel import Panel
from grader.judge.words import (
    ASK,
    BESIDES,
    COMPUTED,
    FIRST,
    KNOWN,
    MAY_DO,
    MAYBE,
    SECOND,
    away,
    detail,
    difference,
    line,
    message,
    read_from_notebook,
    written,
)


def known(
    mistakes: tuple[Mistake, ...],
    properties: Panel,
    evidence: list[Evidence],
    reads: tuple[str, ...],
) -> str:
    """What was computed, how we know, what goes wrong besides, and one question."""
    compared = [e for e in evidence if e.probe.compare]
    off = [e for e in compared if e.well_formed and not e.right and e.has_numbers]
    plain = [e for e in off if e.is_core]
    box = next((e for e in compared if e.is_box and not (e.right or e.call.error)), None)
    whose = "these two together" if mistakes[0].parts else "this formula"
    return message(
        *_computed(mistakes, MAY_DO if box else COMPUTED),
        _what_was_said(box) if box else _how_we_know(plain or off, whose),
        *(line(BESIDES, text) for text in _besides(compared, off, plain, dict(properties))),
        line(BESIDES, read_from_notebook(reads)),
        line(ASK, mistakes[0].question),
    )


def _computed(mistakes: tuple[Mistake, ...], label: str) -> Iterator[str]:
    first = mistakes[0]
    if len(mistakes) > 1:
        yield "Your answer equals more than one known mistake: here they come to the same."
        for mistake in mistakes:
            yield line(MAYBE, mistake.formula)
            yield mistake.what
    elif first.parts:
        yield "Two mistakes at once."
        for which, mistake in zip((FIRST, SECOND), first.parts, strict=True):
            alone = f"alone it computes {mistake.formula}"
            yield line(which, f"at the step {mistake.step}; {alone}" if mistake.step else alone)
            yield _without_praise(mistake.what)
    else:
        yield line(label, first.formula)
        yield first.what


def _without_praise(what: str) -> str:
    """The sentences that stay true when another mistake is made as well."""
    sentences = re.split(r"(?<=[.]) ", what)
    return " ".join(s for s in sentences if " right" not in s)


def _how_we_know(off: list[Evidence], whose: str) -> str:
    if not off or PARAMETERS in off[0].faults:
        return ""
    worst = max(off, key=difference)
    if worst.is_one_number:
        got, want = written(worst.call.output), written(worst.want.output)
        said = f"On {worst.probe.label}, your number is that of {whose}, {got}; right is {want}."
        return line(KNOWN, said)
    said = f"On {worst.probe.label}, your numbers are those of {whose}, and {away(worst)}."
    return line(KNOWN, said)


def _what_was_said(box: Evidence) -> str:
    """Answers about boxes do not show how they were found: another test may give the same."""
    said = box.exercise.canonical(box.probe, box.call.output)
    return line(KNOWN, f"On {box.probe.label}: {said}.", "All your answers are those of such code.")


def _besides(
    compared: list[Evidence], off: list[Evidence], plain: list[Evidence], held: dict[str, bool]
) -> Iterator[str]:
    """What goes wrong apart from the mistake that is named."""
    crashed = [e for e in compared if e.call.error]
    if crashed and (plain or not off):
        yield f"on {crashed[0].probe.label}, it raised {crashed[0].call.error}."
    endless = [e for e in off if e not in plain and not all_finite(e.call.output)]
    if plain and endless:
        yield f"on {endless[0].probe.label}, NaN or infinity came back."
    if PARAMETERS in compared[0].faults:  # then it did not have the weights that were meant
        return
    for label in (REPEAT, INPUTS, DTYPE, GRADIENTS, BY_HAND, MEMORY):
        if plain and not held.get(label, True):
            yield f"this does not hold: {label}. {detail(label, compared)}".strip()
