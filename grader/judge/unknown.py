"""The message for an answer that equals nothing known: what keeps it from being right."""

from torch import Tensor

from grader.compare import all_finite
from grader.exercise import Exercise, WrongForm
from grader.judge.crash import meaning
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
from grader.judge.slices import Finding
from grader.judge.words import (
    ASK,
    BESIDES,
    HOLDS,
    IN_PLACE,
    KNOWN,
    MEANS,
    QUESTIONS,
    SEEN,
    detail,
    how_far,
    line,
    message,
    read_from_notebook,
)
from grader.probes import EDGES, EXTREMES, LAYOUT, VALUES

FORM = "What should come back, and in which form?"
ELSEWHERE = "What sets this case apart from those where your answer is right?"
COMMA = "Is there a comma after what you return, or a bracket around it?"
STACK = "Which function of torch makes one tensor of several?"
ONE_OF_THEM = "Which one of them is asked for?"
FORMS = {
    "None": "Is the return line missing, or inside a branch that was not taken?",
    "a generator": "A yield, or a for in round brackets, makes a generator. What returns values?",
}


def unknown(
    exercise: Exercise,
    properties: Panel,
    evidence: list[Evidence],
    reads: tuple[str, ...],
    found: tuple[Finding, Evidence] | None,
) -> str:
    """The plainest thing that is wrong, how we know, what holds all the same, one question."""
    compared = [e for e in evidence if e.probe.compare]
    failed = [label for label, held in properties if not held]
    if PARAMETERS in failed and (text := _parameters(compared)):
        return message(line(SEEN, text), line(ASK, QUESTIONS[PARAMETERS]))
    if REPEAT in failed:
        seen = "Two calls with the same input did not give the same."
        return _manner(seen, REPEAT, compared)
    wrong = next((e for e in compared if not e.right), None)
    if wrong is None:
        seen = f"The values are right, but this does not hold: {failed[0]}."
        return _manner(seen, failed[0], compared)
    fine = _is_fine(compared)
    has_form = not (wrong.call.error or wrong.problem)
    if wrong.call.error:
        seen, means, known, question = _crash(wrong, evidence)
    elif wrong.problem:
        seen, means, known, question = _structure(wrong)
    else:
        seen, means, known, question = _numbers(wrong, found, compared)
    by_library = "it leaves to the library what this exercise is about."
    laws = {law.label for law in exercise.laws}
    held = [label for label, holds in properties if holds and label in laws]
    return message(
        line(SEEN, seen),
        line(MEANS, means),
        line(KNOWN, f"On {fine.probe.label} it gives the right answer." if fine else "", known),
        line(BESIDES, by_library if BY_HAND in failed else ""),
        *(
            line(BESIDES, f"this does not hold: {label}.", detail(label, compared))
            for label in (INPUTS, DTYPE, MEMORY)
            if label in failed and has_form
        ),
        line(BESIDES, read_from_notebook(reads)),
        line(HOLDS, f"{'; '.join(held)}." if held and has_form else ""),
        line(ASK, question or (_question(wrong, compared) if fine or has_form else "")),
    )


def _is_fine(evidence: list[Evidence]) -> Evidence | None:
    """A right output for an input that is neither too small nor too large to say something."""
    return next((e for e in evidence if e.right and e.probe.shows not in (EDGES, EXTREMES)), None)


def _manner(seen: str, label: str, evidence: list[Evidence]) -> str:
    laws = {law.label: law.question for law in evidence[0].exercise.laws}
    known = detail(label, evidence)
    question = QUESTIONS.get(label) or laws[label]
    if label == GRADIENTS and "NaN" in known:
        question = QUESTIONS[EXTREMES]
    elif label == GRADIENTS and any(IN_PLACE in e.call.gradient_error for e in evidence):
        question = "Which line writes into a tensor? Look for +=, -=, *=, /= and a trailing _."
    elif label == GRADIENTS and "arrives" in known:
        question = "Which paths lead from the input to the result, and is one of them cut off?"
    return message(line(SEEN, seen), line(KNOWN, known), line(ASK, question))


def _crash(wrong: Evidence, evidence: list[Evidence]) -> tuple[str, str, str, str]:
    every = all(e.call.error for e in evidence)
    place = "on every input tried" if every else f"on {wrong.probe.label}"
    number, _, code = wrong.call.where.removeprefix("line ").partition(": ")
    where = f"It happened in line {number}: {code}" if wrong.call.where else ""
    means, question = meaning(wrong)
    seen = f"Your code raised {wrong.call.error} ({place})."
    fine = _is_fine(evidence)
    if fine and wrong.probe.shows != VALUES:  # then that property asks the better question
        question = ""
    elif fine and _axes(fine) > _axes(wrong):
        question = "How many axes has the input when there is no batch?"
    elif fine and _axes(fine) < _axes(wrong):
        question = "What does that line do when the input has one axis more?"
    return seen, means, where, question


def _axes(e: Evidence) -> int:
    return max((arg.dim() for arg in e.probe.args if isinstance(arg, Tensor)), default=0)


def _structure(wrong: Evidence) -> tuple[str, str, str, str]:
    return f"On {wrong.probe.label}: {wrong.problem}.", "", "", _about_form(wrong, wrong.problem)


def _about_form(wrong: Evidence, problem: str) -> str:
    got, want = wrong.call.output, wrong.want.output
    if isinstance(got, tuple) and not isinstance(want, tuple):
        rows = isinstance(want, Tensor) and want.dim() and len(got) == len(want)
        return COMMA if len(got) == 1 else STACK if rows else ONE_OF_THEM
    return next((text for start, text in FORMS.items() if problem.startswith(start)), FORM)


def _numbers(
    wrong: Evidence, found: tuple[Finding, Evidence] | None, compared: list[Evidence]
) -> tuple[str, str, str, str]:
    label, canonical = wrong.probe.label, wrong.exercise.compared
    if canonical:
        try:
            said = canonical(wrong.probe, wrong.call.output)
            question = ELSEWHERE if _is_fine(compared) else ""
        except WrongForm as problem:
            said, question = problem, _about_form(wrong, str(problem))
            if wrong.call.output is None:
                said, question = "None came back", FORMS["None"]
        return f"On {label}: {said}.", "", "", question
    if not all_finite(wrong.call.output):
        return f"On {label}, NaN or infinity came back.", "", "", ""
    if found is None:
        seen = "Numbers that are not right, and equal no mistake we know."
        if wrong.is_one_number:
            seen = "A number that is not right, and equals no mistake we know."
        return seen, "", how_far(wrong), ""
    part, shown = found
    known = how_far(shown)
    return part.text, "", known, part.question


def _question(wrong: Evidence, evidence: list[Evidence]) -> str:
    """What to think about, from the property that the first wrong input shows."""
    others = [e for e in evidence if e is not wrong and e.right and e.has_numbers]
    asked = wrong.probe.shows == VALUES and not (wrong.call.error or wrong.is_one_number)
    given = next((e for e in others if asked and e.same_as(wrong.call)), None)
    if given:
        return f"It is the right answer for {given.probe.label}. {QUESTIONS[REPEAT]}"
    if "view size is not compatible" in wrong.call.error:
        return QUESTIONS[LAYOUT]
    if wrong.probe.shows == VALUES and not _axes(wrong):
        return "What should come out for the smallest numbers, counted by hand?"
    return QUESTIONS.get(wrong.probe.shows) or (ELSEWHERE if _is_fine(evidence) else "")


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
