"""The fixed shape of every message: what was computed or seen, how we know, one question.

Each line begins with its label and can be read by itself.
"""

from torch import Tensor

from grader.compare import all_finite, largest_difference
from grader.judge.evidence import (
    BY_HAND,
    DTYPE,
    GRADIENTS,
    INPUTS,
    MEMORY,
    PARAMETERS,
    PRECISION,
    REPEAT,
    WEIGHTS,
    Evidence,
)
from grader.probes import BATCHES, EDGES, EXTREMES, FLOAT64, LARGE, LAYOUT, SQUARE, VALUES

COMPUTED, MAYBE, SEEN = "What you computed", "What you may have computed", "What we see"
MAY_DO = "What your code may do"  # of code that was seen to answer, and not to compute
FIRST, SECOND = "First mistake", "Second mistake"
MEANS, KNOWN, BESIDES, HOLDS = "What it means", "How we know", "Besides", "What holds all the same"
ASK = "Think about"
LABELS = (COMPUTED, MAYBE, MAY_DO, FIRST, SECOND, SEEN, MEANS, KNOWN, BESIDES, HOLDS, ASK)

IN_PLACE = "inplace operation"  # as torch calls it

QUESTIONS = {
    PARAMETERS: "Which parameters does the task name, and with which shapes?",
    BATCHES: "Which of your axes are counted from the front? Counted from the back, -1 and -2 mean "
    "the same for any number of batch dimensions.",
    SQUARE: "Which line can only tell two axes apart while their lengths differ?",
    EDGES: "What does each line do when an axis has length 1, or a number is 0?",
    FLOAT64: "Which line creates a tensor, and with which dtype? torch.ones, zeros and tensor take "
    "dtype=x.dtype.",
    VALUES: "What should each step give on two or three small rows, worked by hand?",
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
    MEMORY: "How many scores exist at the same time, and which of them are no longer needed?",
}


def line(label: str, *texts: str) -> str:
    """`line(SEEN, "a", "", "b")` -> 'What we see: a b'; empty if there is no text."""
    said = " ".join(text for text in texts if text)
    return f"{label}: {said}" if said else ""


def message(*lines: str) -> str:
    return "\n".join(text for text in lines if text)


def difference(e: Evidence) -> float:
    return largest_difference(e.call.output, e.want.output)


def away(e: Evidence) -> str:
    """How far the numbers are off, for the middle of a sentence."""
    if not all_finite(e.call.output):
        return "some of them NaN or infinite"
    return f"up to {difference(e):.2g} away from the right ones"


def how_far(e: Evidence) -> str:
    """What came back on an input, beside what is right, in a sentence."""
    if e.is_one_number:
        got, want = written(e.call.output), written(e.want.output)
        return f"On {e.probe.label}, your number is {got}, and the right one {want}."
    return f"On {e.probe.label}, your numbers are {away(e)}."


def written(number: Tensor | float) -> str:
    """`written(128000.0)` -> '128,000', `written(0.12345)` -> '0.1234'."""
    value = float(number)
    return f"{int(value):,}" if value.is_integer() else f"{value:.4g}"


def detail(label: str, evidence: list[Evidence]) -> str:
    """What exactly fails about a manner, or an empty string."""
    if label == GRADIENTS:
        return _about_gradients(evidence)
    for e in evidence:
        if label == REPEAT and e.call.second_error:
            return f"The second call raised {e.call.second_error}."
        if label == REPEAT and not e.call.kept:
            return "What the first call returned was changed by a later one."
        if label == MEMORY and label in e.faults:
            return f"On {e.probe.label}, it held {e.call.peak:,} numbers at once."
        if label == INPUTS and e.call.changed:
            return f"It changes {' and '.join(_argument(int(i), e) for i in e.call.changed)}."
    return ""


def read_from_notebook(names: tuple[str, ...]) -> str:
    """What an answer takes from the notebook and not from its arguments; empty if nothing."""
    if not names:
        return ""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"your code reads {listed} from the notebook. Should that come from the arguments?"


def _argument(place: int, e: Evidence) -> str:
    return f"argument {place + 1}, {e.exercise.arguments[place]}"


def _about_gradients(evidence: list[Evidence]) -> str:
    for e in evidence:
        if IN_PLACE in e.call.gradient_error:
            return "A tensor that the gradient needs was written into after it had been used."
        if e.call.gradient_error:
            return f"With inputs that need a gradient your code raised {e.call.gradient_error}."
    looked = [e for e in evidence if GRADIENTS in e.looked_at]
    plain = [set(e.without_gradient) for e in looked if e.probe.shows == VALUES]
    if always := sorted(set.intersection(*plain) if plain else ()):
        return f"No gradient reaches {', '.join(always)}."
    for e in looked:
        if e.without_gradient:
            return f"On {e.probe.label}, no gradient reaches {', '.join(e.without_gradient)}."
        if e.right and GRADIENTS in e.faults:
            found = [g for each in e.call.gradients for g in each.values() if g is not None]
            finite = all(g.isfinite().all() for g in found)
            state = "is not the right one" if finite else "is NaN or infinite"
            return f"A gradient arrives, but on {e.probe.label} it {state}."
    return ""
