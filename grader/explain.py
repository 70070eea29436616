"""The words of a verdict: what was seen, one number, and a question to think about."""

from torch import Tensor

from grader.compare import all_finite, largest_difference
from grader.evidence import (
    BY_HAND,
    DTYPE,
    GRADIENTS,
    INPUTS,
    PARAMETERS,
    PRECISION,
    REPEAT,
    Evidence,
)
from grader.exercise import Mistake
from grader.probes import BATCHES, EDGES, EXTREMES, FLOAT32, LAYOUT, SQUARE, VALUES

QUESTIONS = {
    BATCHES: "Which of your axes are counted from the front? Counted from the back, -1 and -2 mean "
    "the same for any number of batch dimensions.",
    SQUARE: "Which line can only tell two axes apart while their lengths differ?",
    EDGES: "What does each line do when an axis has length 1, or a number is 0?",
    FLOAT32: "What is different in float32: the precision, or the largest number it can hold?",
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
        start = f"{mistakes[0].text}\n\nWhat you computed: {mistakes[0].formula}"
    else:
        start = "\n\n".join(
            [
                "Your answer equals more than one known mistake: here they are all the same.",
                *(f"What you may have computed: {m.formula}\n{m.text}" for m in mistakes),
            ]
        )
    off = [
        e
        for e in evidence
        if e.probe.compare
        and e.well_formed
        and not e.right
        and isinstance(e.want.output, Tensor | tuple)
        and not e.exercise.compared
    ]
    if not off:
        return start
    worst = max(off, key=_difference)
    return (
        f"{start}\nHow we know: on {worst.probe.label} your numbers are those of this formula, "
        f"and {_away(worst)}."
    )


def unknown(failed: list[str], evidence: list[Evidence]) -> str:
    """For an answer that equals nothing known: the first fact that keeps it from being right."""
    compared = [e for e in evidence if e.probe.compare]
    for find in (_crash, _parameters, _structure):
        if found := find(compared):
            return found
    if REPEAT in failed:
        first = "Two calls with the same input did not give the same."
        return _join(first, _detail(REPEAT, compared), QUESTIONS[REPEAT])
    question = QUESTIONS.get(failed[0], "")
    wrong = [e for e in compared if not e.right and e.probe.shows == failed[0]]
    if wrong:
        return _join(_numbers(wrong[0]), _mixed_up(wrong[0], compared) or question)
    return _join(
        f"The values are right, but this does not hold: {failed[0]}.",
        question,
        _detail(failed[0], compared),
    )


def _crash(evidence: list[Evidence]) -> str:
    crashed = [e for e in evidence if e.call.error]
    if not crashed:
        return ""
    first = crashed[0]
    every = "on every input" if len(crashed) == len(evidence) else f"on {first.probe.label}"
    fine = [e for e in evidence if e.right]
    return _join(
        f"Your code raised {first.call.error} ({every}).",
        f"It happened in {first.call.where}" if first.call.where else "",
        f"On {fine[0].probe.label} it gives the right answer." if fine else "",
        QUESTIONS.get(first.probe.shows, "") if fine else "",
    )


def _parameters(evidence: list[Evidence]) -> str:
    for e in evidence:
        if PARAMETERS not in e.faults:
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
        made = f"For {', '.join(map(str, e.probe.init))} the parameters are not the ones named"
        return f"{made}: " + "; ".join(notes) + "."
    return ""


def _structure(evidence: list[Evidence]) -> str:
    wrong = next((e for e in evidence if e.problem), None)
    if wrong is None:
        return ""
    asks = {
        "None": "Is the return line missing, or inside a branch that was not taken?",
        "a generator": "A yield, or a for in round brackets, makes a generator. Return the values.",
    }
    ask = next((text for start, text in asks.items() if wrong.problem.startswith(start)), "")
    return _join(f"On {wrong.probe.label}: {wrong.problem}.", ask)


def _numbers(wrong: Evidence) -> str:
    label = wrong.probe.label
    if wrong.exercise.compared:
        return f"On {label}: {wrong.exercise.compared(wrong.probe, wrong.call.output)}."
    if not all_finite(wrong.call.output):
        return f"On {label}, NaN or infinity came back."
    return f"On {label} your numbers are {_away(wrong)}."


def _mixed_up(wrong: Evidence, evidence: list[Evidence]) -> str:
    """Whether the answer to one input is the right one to another."""
    others = [e for e in evidence if e is not wrong and e.same_as(wrong.call)]
    given = next((e for e in others if e.right and wrong.call.output is not None), None)
    if (
        given is None
        or wrong.exercise.compared
        or not isinstance(wrong.want.output, Tensor | tuple)
    ):
        return ""
    return f"It is the right answer for {given.probe.label}. {QUESTIONS[REPEAT]}"


def _detail(label: str, evidence: list[Evidence]) -> str:
    if label == GRADIENTS:
        plain = [e for e in evidence if e.right and e.probe.shows == VALUES]
        asked = [set(e.without_gradient) for e in plain]
        if always := sorted(set.intersection(*asked) if asked else ()):
            return f"No gradient reaches {', '.join(always)}."
    for e in evidence:
        if label == GRADIENTS and e.call.gradient_error:
            return f"With inputs that need a gradient your code raised {e.call.gradient_error}."
        if label == REPEAT and e.call.second_error:
            return f"The second call raised {e.call.second_error}."
        if label == REPEAT and not e.call.kept:
            return "What the first call returned was changed by a later one."
        if label == INPUTS and e.call.changed:
            names = " and ".join(f"argument {int(i) + 1}" for i in e.call.changed)
            return f"It changes {names}."
    return ""


def _difference(e: Evidence) -> float:
    return largest_difference(e.call.output, e.want.output)


def _away(e: Evidence) -> str:
    if not all_finite(e.call.output):
        return "some of them NaN or infinite"
    return f"up to {_difference(e):.2g} away from the right ones"


def _join(*sentences: str) -> str:
    return "\n".join(s for s in sentences if s)
