"""leaks_future"""

import torch
from torch import Tensor

from grader.attention.leak_boxes import BOXES
from grader.attention.leak_tests import a_cut_shows, add_wrong_tests, at_random, differ
from grader.compare import describe, truth
from grader.exercise import Exercise, WrongForm
from grader.probes import VALUES, Draw, Probe

exercise = Exercise(
    "leaks_future",
    "06-causal-mask",
    place=3,
    points=4,
    signature="leaks_future(attention, x) -> bool",
    hints=(
        "You cannot look into the box, but you may call it again with another x. Which rows of x "
        "may you change without row 0 of the result noticing?",
        "Cut x after row t and replace the rows behind the cut. Which rows of the result must stay "
        "as they were, and which cuts are there?",
        "Replace the later rows by random numbers in a copy of x, and compare the earlier rows of "
        "the result up to rounding. One cut that shows a difference is enough for a leak.",
        "y = x.clone(); y[t + 1:] = torch.randn_like(y[t + 1:]); compare attention(y)[:t + 1] with "
        "attention(x)[:t + 1], for t = 0, 1, ..., T - 2",
    ),
)


@exercise.probe
def _(draw: Draw):
    for plain in (True, False):  # in an order that cannot be foreseen, the plainest two first
        boxes = [box for box in BOXES if (box.shows == VALUES) == plain]
        order = torch.randperm(len(boxes), generator=draw.generator).tolist()
        yield from (boxes[i].probe(draw) for i in order)


@exercise.compare_by
def what_was_said(probe: Probe, value: object) -> str:
    """The answer in words."""
    found = truth(value)
    if found is None:
        raise WrongForm(f"{describe(value)} came back where True or False is expected")
    return "you found a leak" if found else "you found no leak"


@exercise.reference
def replaced_after_every_cut(attention, x: Tensor) -> bool:
    return a_cut_shows(attention, x)


@exercise.twin
def one_number_at_a_time(attention, x: Tensor) -> bool:
    before = attention(x)
    for j in range(1, x.shape[0]):
        for feature in range(x.shape[1]):
            y = x.clone()
            y[j, feature] = y[j, feature] + 1
            after = attention(y)
            for i in range(j):
                for a, b in zip(after[i].tolist(), before[i].tolist(), strict=True):
                    if abs(a - b) > 1e-6 + 1e-5 * abs(b):
                        return True
    return False


@exercise.variant
def by_the_jacobian(attention, x):
    T = x.shape[0]
    slopes = torch.autograd.functional.jacobian(attention, x).abs().amax(dim=(1, 3))
    return bool((slopes > 1e-5)[torch.ones(T, T, dtype=torch.bool).triu(1)].any())


@exercise.variant
def one_later_row_at_a_time(attention, x):
    before = attention(x)
    for j in range(1, len(x)):
        y = x.clone()
        y[j] += 3 * torch.randn(x.shape[1])
        gap = (attention(y)[:j] - before[:j]).abs()
        if (gap > 1e-5 + 1e-5 * before[:j].abs()).any():
            return True
    return False


@exercise.variant
def each_row_by_itself(attention, x):
    T = x.shape[0]
    kept = torch.arange(T)[:, None]
    found = []
    for t in range(T):
        y = torch.where(kept <= t, x, torch.rand_like(x) - x)
        found.append(~torch.isclose(attention(y)[t], attention(x)[t], rtol=1e-4).all())
    return torch.stack(found).any()


@exercise.variant
def by_backward(attention, x):
    for i in range(x.shape[0]):
        y = x.detach().clone().requires_grad_()
        out = attention(y)[i]
        (out * torch.randn_like(out)).sum().backward()
        if y.grad is not None and y.grad[i + 1 :].abs().gt(1e-5).any():
            return True
    return False


@exercise.variant
def in_two_directions(attention, x):
    x, T = x.double(), len(x)
    shift = torch.linspace(1, 2, x.shape[1], dtype=x.dtype)
    for t in range(T - 1):
        later = (torch.arange(T) > t).unsqueeze(1)
        there, back = attention(x + later * shift), attention(x - later * shift)
        if (there - back)[: t + 1].abs().max() > 1e-6 * there.abs().max():
            return True
    return False


@exercise.wrong("False for every box", "mask")
def no_leak_anywhere(attention, x):
    """You found no leak in any box, not even where there is no mask. Shapes cannot show one, and
    neither can a copy that is x itself, or a change as small as rounding. By how much does
    row 0 of the result change where there is no mask, once your test has changed the last row?"""
    return False


@exercise.wrong("always True", "mask")
def a_leak_everywhere(attention, x):
    """You found a leak in every box, also where each token stays by itself. A row of the result may
    change when that row of x or an earlier one does. Which rows does your test compare, and
    which did it change?"""
    return True


@exercise.wrong("True where no row changed", "mask")
def upside_down(attention, x):
    """You say True where there is no leak and False where there is one. Does True mean that all is
    well, or that the future leaks?"""
    return not a_cut_shows(attention, x)


@exercise.wrong("the earlier rows are changed, the later ones compared", "mask")
def past_changed(attention, x):
    """You changed earlier rows and looked at later ones. Those may change: a token knows its past.
    Which side of the cut has to be replaced, and which has to stay?"""
    before = attention(x)
    for t in range(1, len(x)):
        y = x.clone()
        y[:t] = at_random(x[:t])
        if differ(attention(y)[t:], before[t:]):
            return True
    return False


@exercise.wrong("only row 0 of the result is compared", "mask")
def only_row_0(attention, x):
    """You only looked at row 0 of the result. A leak into a later row escapes you. For which rows
    of the result is there a later row of x?"""
    return a_cut_shows(attention, x, cuts=range(min(1, len(x) - 1)))


@exercise.wrong("only the last row is changed", "mask")
def only_the_last_row_changed(attention, x):
    """You only changed the last row. A leak from any other row escapes you. From which rows could
    row 0 hear something that it must not know?"""
    return a_cut_shows(attention, x, cuts=range(len(x) - 1)[-1:])


@exercise.wrong("only the cut in the middle", "mask")
def only_one_cut(attention, x):
    """You cut x in one place alone. A leak between two rows on the same side of it escapes you. How
    many places are there to cut T rows in two?"""
    return a_cut_shows(attention, x, cuts=range(len(x) - 1)[len(x) // 2 - 1 :][:1])


@exercise.wrong("the first cut left out", "mask")
def first_cut_left_out(attention, x):
    """You began with the cut after row 1, so that a leak from row 1 into row 0 escapes you. Which
    is the first row that has a later one?"""
    return a_cut_shows(attention, x, cuts=range(1, len(x) - 1))


@exercise.wrong("the last cut left out", "mask")
def last_cut_left_out(attention, x):
    """Your last cut is one too early, so that a leak from the last row into the one before escapes
    you. Which is the last row that has a later one?"""
    return a_cut_shows(attention, x, cuts=range(len(x) - 2))


@exercise.wrong("as many cuts as a row has features", "mask")
def as_many_cuts_as_features(attention, x):
    """A leak between the last rows of x escapes you: your cuts seem to end too early, as they do
    when features are counted and not tokens. Which axis of x counts the tokens?"""
    return a_cut_shows(attention, x, cuts=range(min(x.shape[1], len(x) - 1)))


@exercise.wrong("a fixed number of cuts", "mask")
def a_fixed_number_of_cuts(attention, x):
    """A leak between the last rows of a longer x escapes you: your cuts seem to end at a fixed
    place, whatever the length of x. How many cuts are there for T rows?"""
    return a_cut_shows(attention, x, cuts=range(min(5, len(x) - 1)))


@exercise.wrong("row t is compared, row t + 1 changed", "mask")
def only_the_next_row_changed(attention, x):
    """For each row you changed the next one alone. A leak from a token further on escapes you. How
    many later tokens has row 0?"""
    before = attention(x)
    for t in range(len(x) - 1):
        y = x.clone()
        y[t + 1] = at_random(x[t + 1])
        if differ(attention(y)[t], before[t]):
            return True
    return False


add_wrong_tests(exercise)
