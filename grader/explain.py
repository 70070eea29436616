"""The words of a verdict: what was seen, one number, and a question to think about."""

from torch import Tensor

from grader.compare import all_finite, common_factor, largest_difference, near
from grader.evidence import (
    BY_HAND,
    DTYPE,
    GRADIENTS,
    INPUTS,
    PARAMETERS,
    PRECISION,
    REPEAT,
    WEIGHTS,
    Evidence,
)
from grader.exercise import Mistake
from grader.probes import BATCHES, BESIDES, EDGES, EXTREMES, FLOAT64, LARGE, LAYOUT, SQUARE, VALUES

QUESTIONS = {
    BATCHES: "Which of your axes are counted from the front? Counted from the back, -1 and -2 mean "
    "the same for any number of batch dimensions.",
    SQUARE: "Which line can only tell two axes apart while their lengths differ?",
    EDGES: "What does each line do when an axis has length 1, or a number is 0?",
    FLOAT64: "Which line creates a tensor, and with which dtype? torch.ones, zeros and tensor take "
    "dtype=x.dtype.",
    VALUES: "Try it on two or three small rows, with a value worked by hand for each step.",
    LARGE: "Is anything capped, clamped or rounded?",
    WEIGHTS: "Is a weight copied or combined before it is used? Does eval mode change anything?",
    LAYOUT: "view and as_strided depend on how a tensor lies in memory. Which function does not?",
    EXTREMES: "What is exp(1000), and what is exp(-1000)?",
    PRECISION: "Is anything turned into float32 on the way, or is a small constant added?",
    DTYPE: "Which line creates a new tensor, and with which dtype?",
    INPUTS: "Which line writes into an argument? Look for +=, *=, /=, an index on the left of =, "
    "and names that end in an underscore.",
    REPEAT: "What is kept, created at random, or shared from one call to the next?",
    GRADIENTS: "Is there a detach(), a no_grad(), a .data, an .item() or a trip to numpy on the "
    "way from the inputs to the output?",
    BY_HAND: "Can you write it with exp and sum alone?",
}


def known(mistakes: list[Mistake], evidence: list[Evidence]) -> str:
    """For an answer that equals one known mistake, or several that cannot be told apart."""
    if len(mistakes) == 1:
        parts = [f"{mistakes[0].text}\n\nWhat you computed: {mistakes[0].formula}"]
    else:
        parts = ["Your answer equals more than one known mistake: here they are all the same."]
        parts += [f"\nWhat you may have computed: {m.formula}\n{m.text}" for m in mistakes]
    compared = [e for e in evidence if e.probe.compare]
    off = [e for e in compared if e.well_formed and not e.right and e.has_numbers]
    plain = [e for e in off if e.probe.shows not in BESIDES]
    if off and PARAMETERS not in off[0].faults:
        worst = max(plain or off, key=_difference)
        label = worst.probe.label
        parts.append(
            f"How we know: on {label}, your numbers are those of this formula, and {_away(worst)}."
        )
    crashed = [e for e in compared if e.call.error]
    if crashed and (plain or not off):
        parts.append(f"Besides, on {crashed[0].probe.label}, it raised {crashed[0].call.error}.")
    endless = [e for e in off if e not in plain and not all_finite(e.call.output)]
    if plain and endless:
        parts.append(f"Besides, on {endless[0].probe.label}, NaN or infinity came back.")
    return "\n".join(parts)


def unknown(failed: list[str], evidence: list[Evidence], reads: tuple[str, ...]) -> str:
    """For an answer that equals nothing known: what keeps it from being right, plainest first."""
    compared = [e for e in evidence if e.probe.compare]
    if PARAMETERS in failed and (found := _parameters(compared)):
        return found
    if REPEAT in failed:
        first = "Two calls with the same input did not give the same."
        return _join(first, _detail(REPEAT, compared), QUESTIONS[REPEAT])
    wrong = next((e for e in compared if not e.right), None)
    if wrong is None:
        label = failed[0]
        question = QUESTIONS.get(label) or evidence[0].exercise.laws[label][1]
        return _join(
            f"The values are right, but this does not hold: {label}.",
            _detail(label, compared),
            question,
        )
    say = _crash if wrong.call.error else _structure if wrong.problem else _numbers
    fine = next((e for e in compared if e.right and e.probe.shows != EDGES), None)
    return _join(
        say(wrong, compared),
        f"On {fine.probe.label} it gives the right answer." if fine else "",
        _reads(reads),
        _question(wrong, compared) if fine or say is _numbers else "",
        "It also uses the library's softmax, which this exercise does without."
        if BY_HAND in failed
        else "",
    )


def _crash(wrong: Evidence, evidence: list[Evidence]) -> str:
    every = all(e.call.error for e in evidence)
    place = "on every input tried" if every else f"on {wrong.probe.label}"
    where = f"It happened in {wrong.call.where}" if wrong.call.where else ""
    return _join(f"Your code raised {wrong.call.error} ({place}).", where)


def _structure(wrong: Evidence, evidence: list[Evidence]) -> str:
    asks = {
        "None": "Is the return line missing, or inside a branch that was not taken?",
        "a generator": "A yield, or a for in round brackets, makes a generator. Return the values.",
    }
    ask = next((text for start, text in asks.items() if wrong.problem.startswith(start)), "")
    return _join(f"On {wrong.probe.label}: {wrong.problem}.", ask)


def _numbers(wrong: Evidence, evidence: list[Evidence]) -> str:
    label = wrong.probe.label
    if wrong.exercise.compared:
        return f"On {label}: {wrong.exercise.compared(wrong.probe, wrong.call.output)}."
    if not all_finite(wrong.call.output):
        return f"On {label}, NaN or infinity came back."
    return _join(f"On {label}, your numbers are {_away(wrong)}.", _part(wrong))


def _part(wrong: Evidence) -> str:
    """Which part of the output is right, or by which factor all of it is off."""
    got, want = wrong.call.output, wrong.want.output
    if isinstance(want, tuple):
        right = [i for i, (g, w) in enumerate(zip(got, want, strict=True), 1) if near(g, w)]
        return f"Output {right[0]} is right by itself." if len(right) == 1 else ""
    if not isinstance(want, Tensor):
        return ""
    factor = common_factor(got, want)
    if factor is not None and 0.01 < abs(factor) < 1000 and abs(factor - 1) > 0.01:
        return f"Every number is {factor:.3g} times the right one."
    if want.dim() > 1 and len(want) > 2:
        for name, index in ("first", 0), ("last", -1):
            if near(got[..., index, :], want[..., index, :]):
                return f"The {name} row is right."
    return ""


def _question(wrong: Evidence, evidence: list[Evidence]) -> str:
    """What to think about, from the property that the first wrong input shows."""
    others = [e for e in evidence if e is not wrong and e.right and e.has_numbers]
    asked = wrong.probe.shows == VALUES and not wrong.call.error
    given = next((e for e in others if asked and e.same_as(wrong.call)), None)
    if given:
        return f"It is the right answer for {given.probe.label}. {QUESTIONS[REPEAT]}"
    if "view size is not compatible" in wrong.call.error:
        return QUESTIONS[LAYOUT]
    return QUESTIONS.get(wrong.probe.shows, "")


def _reads(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"Your code reads {listed} from the notebook. Should that come from the arguments?"


def _parameters(evidence: list[Evidence]) -> str:
    for e in evidence:
        if PARAMETERS not in e.faults or e.call.parameters is None:
            continue
        got, want = e.call.parameters, e.want.parameters
        notes = [f"{name} is missing" for name in want if name not in got]
        notes += [f"{name} is not expected" for name in got if name not in want]
        notes += [
            f"{name} has shape {tuple(got[name])} instead of {tuple(want[name])}"
            for name in want
            if name in got and got[name] != want[name]
        ]
        notes += [f"{name} is the same tensor as another parameter" for name in e.call.shared]
        made = f"{e.exercise.name}({', '.join(map(str, e.probe.init))})"
        return f"{made} has other parameters than the task names: {'; '.join(notes)}."
    return ""


def _detail(label: str, evidence: list[Evidence]) -> str:
    if label == GRADIENTS:
        return _about_gradients(evidence)
    for e in evidence:
        if label == REPEAT and e.call.second_error:
            return f"The second call raised {e.call.second_error}."
        if label == REPEAT and not e.call.kept:
            return "What the first call returned was changed by a later one."
        if label == INPUTS and e.call.changed:
            names = " and ".join(f"argument {int(i) + 1}" for i in e.call.changed)
            return f"It changes {names}."
    return ""


def _about_gradients(evidence: list[Evidence]) -> str:
    for e in evidence:
        if e.call.gradient_error:
            return f"With inputs that need a gradient your code raised {e.call.gradient_error}."
    plain = [set(e.without_gradient) for e in evidence if e.right and e.probe.shows == VALUES]
    if always := sorted(set.intersection(*plain) if plain else ()):
        return f"No gradient reaches {', '.join(always)}."
    for e in evidence:
        if GRADIENTS in e.faults:
            found = [g for each in e.call.gradients for g in each.values() if g is not None]
            finite = all(g.isfinite().all() for g in found)
            state = "is not the right one" if finite else "is NaN or infinite"
            return f"A gradient arrives, but on {e.probe.label} it {state}."
    return ""


def _difference(e: Evidence) -> float:
    return largest_difference(e.call.output, e.want.output)


def _away(e: Evidence) -> str:
    if not all_finite(e.call.output):
        return "some of them NaN or infinite"
    return f"up to {_difference(e):.2g} away from the right ones"


def _join(*sentences: str) -> str:
    return "\n".join(s for s in sentences if s)
