"""Which part of a wrong output is right, and what that says about the step that went wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from grader.compare import common_factor, near
from grader.judge.evidence import Evidence
from grader.probes import VALUES


@dataclass(frozen=True)
class Finding:
    """What is right about it, a question that follows, and the step if that is clear."""

    kind: str
    text: str
    question: str = ""
    step: str = ""


def finding(evidence: list[Evidence]) -> tuple[Finding, Evidence] | None:
    """The first finding that is true of every plain input with wrong numbers, and one of those."""
    wrong = [e for e in evidence if _has_wrong_numbers(e) and e.probe.shows == VALUES]
    wrong = wrong or [e for e in evidence if e.is_core and _has_wrong_numbers(e)][:1]
    if not wrong:
        return None
    names = wrong[0].exercise.outputs
    each = [{f.kind: f for f in findings(e.call.output, e.want.output, names)} for e in wrong]
    shared = (kind for kind in each[0] if all(kind in found for found in each))
    kind = next(shared, None)
    return (each[0][kind], wrong[0]) if kind else None


def _has_wrong_numbers(e: Evidence) -> bool:
    return e.well_formed and not e.right and e.has_numbers and not e.exercise.compared


def findings(got: Any, want: Any, names: list[str]) -> Iterator[Finding]:
    """Everything that can be said for certain, the most telling first."""
    if isinstance(want, tuple):
        yield from _of_several(got, want, names)
    elif isinstance(want, Tensor) and want.dim() and got.isfinite().all():
        for look in (_factor, _shift, _row_factors, _transposed, _rows, _items, _columns, _order):
            yield from look(got.double(), want.double())


def _of_several(got: tuple, want: tuple, names: list[str]) -> Iterator[Finding]:
    """Which outputs are right, and what can be said of the first that is not."""
    right = [near(g, w) for g, w in zip(got, want, strict=True)]
    fine = [name for name, held in zip(names, right, strict=True) if held]
    at = right.index(False) if False in right else 0
    start = f"Right by itself: {' and '.join(fine)}. " if fine else ""
    for found in findings(got[at], want[at], []):
        said = found.text[0].lower() + found.text[1:]
        said = f"Of {names[at]}: {said}"
        yield replace(found, kind=start + found.kind, text=start + said)
    if fine:
        yield Finding(start, start.strip(), f"What comes back as {names[at]}?")


def _factor(got: Tensor, want: Tensor) -> Iterator[Finding]:
    factor = common_factor(got, want)
    if factor is not None and 0.01 < abs(factor) < 1000 and abs(factor - 1) > 0.01:
        yield Finding(
            "factor",
            f"Every number is {factor:.3g} times the right one.",
            "Which factor is there too often, or not at all?",
        )


def _shift(got: Tensor, want: Tensor) -> Iterator[Finding]:
    shift = (got - want).mean()
    if abs(shift) > 1e-3 and near(got, want + shift):
        yield Finding(
            "shift",
            f"Every number is {abs(shift):.3g} too {'large' if shift > 0 else 'small'}.",
            "What is added that should not be, or left out?",
        )


def _row_factors(got: Tensor, want: Tensor) -> Iterator[Finding]:
    if want.dim() < 2 or want.shape[-1] < 2:
        return
    places = want.abs().argmax(dim=-1, keepdim=True)
    factors = (got.gather(-1, places) / want.gather(-1, places)).nan_to_num(nan=1.0)
    sane = factors.isfinite().all() and (factors.abs() > 1e-3).all()
    if sane and (factors - 1).abs().max() > 0.01 and near(got, factors * want):
        listed = ", ".join(f"{f:.2g}" for f in factors.flatten()[:4].tolist())
        yield Finding(
            "row factors",
            f"Each row is right up to a factor of its own: {listed}, ...",
            "What is each row divided by, and over which axis is that sum taken?",
            "normalise",
        )


def _transposed(got: Tensor, want: Tensor) -> Iterator[Finding]:
    if want.dim() > 1 and got.shape[-1] == got.shape[-2] and near(got.mT, want):
        yield Finding(
            "transposed",
            "The numbers are right, with rows and columns in each other's place.",
            "Who should the rows stand for, and who the columns?",
        )


def _rows(got: Tensor, want: Tensor) -> Iterator[Finding]:
    if want.dim() < 2 or want.shape[-2] < 3:
        return
    T = want.shape[-2]
    right = [i for i in range(T) if near(got[..., i, :], want[..., i, :])]
    if right == [T - 1]:
        yield Finding(
            "last row",
            "The last row alone is right, the one that has every token before it.",
            "What do the other rows see of the tokens after them, and should they?",
            "mask",
        )
    elif right == [0]:
        yield Finding(
            "first row",
            "The first row alone is right.",
            "What do the rows after it use that they should not, or leave out?",
        )
    elif right:
        yield Finding(
            "some rows",
            f"Only these rows are right: {', '.join(map(str, right))}.",
            "What sets them apart from the others?",
        )


def _items(got: Tensor, want: Tensor) -> Iterator[Finding]:
    for axis in range(want.dim() - 2):
        right = [
            i for i in range(want.shape[axis]) if near(got.select(axis, i), want.select(axis, i))
        ]
        if right and len(right) < want.shape[axis]:
            yield Finding(
                f"items of axis {axis}",
                f"Along axis {axis} only these are right: {', '.join(map(str, right))}.",
                "Which index, or which size, is used for all of them?",
            )


def _columns(got: Tensor, want: Tensor) -> Iterator[Finding]:
    d = want.shape[-1]
    right = [j for j in range(d) if near(got[..., j], want[..., j])]
    listed = ", ".join(map(str, right))
    said = f"Only these columns are right: {listed}."
    if want.dim() == 1:
        said = f"Only these numbers are right: {listed}."
    if right and right == list(range(len(right))) and d > 2:
        asked = "Where does a loop or a slice over the last axis of yours end?"
        yield Finding("first columns", said, asked)
    elif right:
        yield Finding("some columns", said, "What sets them apart from the others?")


def _order(got: Tensor, want: Tensor) -> Iterator[Finding]:
    """The right columns or rows, or the numbers of a single row, in another order."""
    for axis, noun in ((-1, "column" if want.dim() > 1 else "number"), (-2, "row")):
        if want.dim() + axis < 0 or want.shape[axis] < 2:
            continue
        places = _matched(got.movedim(axis, 0), want.movedim(axis, 0))
        if places and places != sorted(places):
            yield Finding(
                f"order of {noun}s",
                f"The {noun}s are right but stand in another order: {noun} 0 of the right result "
                f"is your {noun} {places[0]}.",
                f"In which order are the {noun}s laid side by side, or read?",
            )


def _matched(got: Tensor, want: Tensor) -> list[int]:
    """For each slice of `want` the one slice of `got` that equals it; empty if one has none."""
    places = []
    for slice_ in want:
        found = [i for i, g in enumerate(got) if i not in places and near(g, slice_)]
        if len(found) != 1:
            return []
        places += found
    return places
