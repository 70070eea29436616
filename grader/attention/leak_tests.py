"""Tests for leaks from the future, and what goes wrong in how they change and compare."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from grader.exercise import Exercise


def differ(got: Tensor, want: Tensor) -> bool:
    """Beyond rounding, which is as large as the numbers are."""
    return not torch.allclose(got, want, rtol=1e-5, atol=1e-6)


def at_random(later: Tensor) -> Tensor:
    """The same random numbers every time, so that a verdict does not depend on luck."""
    generator = torch.Generator().manual_seed(6)
    return 3 * torch.randn(later.shape, generator=generator, dtype=later.dtype)


def a_cut_shows(
    attention: Callable,
    x: Tensor,
    change: Callable = at_random,
    cuts: Iterable[int] | None = None,
    rows: Callable = lambda t: slice(0, t + 1),
    differ: Callable = differ,
) -> bool:
    """Whether `change` of all rows after row t shows in these rows of the result, for any t.

    Example: `a_cut_shows(attention, x, cuts=[0])` -> whether row 0 sees any later row
    """
    before = attention(x)
    for t in range(len(x) - 1) if cuts is None else cuts:
        y = x.clone()
        y[t + 1 :] = change(x[t + 1 :])
        if differ(attention(y)[rows(t)], before[rows(t)]):
            return True
    return False


def add_wrong_tests(exercise: Exercise) -> None:
    """Give an exercise the tests that cut well, and change or compare the wrong thing."""

    @exercise.wrong("row t is not compared when row t + 1 changes", "mask")
    def the_row_before_left_out(attention, x):
        """The row next to the changed ones is not compared, so that a glance at the very next token
        escapes you. May row t of the result change when row t + 1 of x does?"""
        return a_cut_shows(attention, x, rows=lambda t: slice(0, t))

    @exercise.wrong("rows that were changed are compared too", "mask")
    def changed_rows_compared(attention, x):
        """You found a leak wherever there are two tokens or more, also where each stays by itself.
        Among the rows that you compare there seem to be some whose own row of x you changed, and
        those may change. After a change from row t + 1 on, which rows must stay as they were?"""
        return a_cut_shows(attention, x, rows=lambda t: slice(None))

    @exercise.wrong("the later rows become NaN", "mask")
    def disturbed_with_nan(attention, x):
        """You put NaN or infinity into the later rows. A weight of exactly 0 cannot keep it out,
        for 0 times NaN is NaN, and so you call right boxes leaky. Which numbers does a weight of 0
        silence?

        Seen in pytorch/pytorch#101967.
        """
        return a_cut_shows(attention, x, lambda later: torch.full_like(later, torch.nan))

    @exercise.wrong("the later rows in another order", "mask")
    def later_rows_shuffled(attention, x):
        """You put the later rows in another order. A sum over tokens does not notice, and so you
        miss even a box without a mask. What else could you do with the later rows?"""
        return a_cut_shows(attention, x, lambda later: later.flip(0))

    @exercise.wrong("True where shuffled tokens give shuffled results", "mask")
    def shuffled_as_in_lesson_5(attention, x):
        """You shuffled the tokens and looked whether the results came out shuffled. A box may be
        equivariant and not leak, or leak and not be equivariant. What has to be left alone for a
        leak to show, and what has to change?"""
        return not differ(attention(x.roll(1, 0)), attention(x).roll(1, 0))

    @exercise.wrong("x is cut off after row t", "mask")
    def x_cut_short(attention, x):
        """You took the later rows away instead of changing them. That changes the number of rows
        too, and a layer may divide by it without knowing any later row. How can the later rows
        be different and still be there?"""
        before = attention(x)
        return any(differ(attention(x[:t])[:t], before[:t]) for t in range(1, len(x)))

    @exercise.wrong("equal to the last digit", "mask")
    def exactly_equal(attention, x):
        """You asked for equality to the last digit. Two right computations may differ by
        rounding, so you call right boxes leaky. How large may a difference be that is only
        rounding?"""
        return a_cut_shows(attention, x, differ=lambda got, want: not torch.equal(got, want))

    @exercise.wrong("equal up to a fixed number", "mask")
    def rounding_of_one_size(attention, x):
        """You allow for rounding, but always for the same amount. Among numbers of 100000
        rounding alone is of the size of 0.01. To what should a difference be compared?"""
        return a_cut_shows(
            attention, x, differ=lambda got, want: (got - want).abs().gt(1e-5).any().item()
        )

    @exercise.wrong("differences of 1 in 20 pass", "mask")
    def weak_leaks_missed(attention, x):
        """You find strong leaks and miss a weak one: the later rows change too little, or you
        let too large a difference pass. How much larger than rounding can you make a leak?"""
        return a_cut_shows(
            attention,
            x,
            differ=lambda got, want: not torch.allclose(got, want, rtol=0.05, atol=0.05),
        )

    @exercise.wrong("the later rows times 0", "mask")
    def later_rows_zeroed(attention, x):
        """Your change leaves rows of zeros as they are: you set the later rows to 0, turned their
        signs, or put their features in another order. A leak from such a row escapes you. Which
        change moves every row, whatever it holds?"""
        return a_cut_shows(attention, x, torch.zeros_like)

    @exercise.wrong("every number in the later rows becomes 1", "mask")
    def later_rows_flat(attention, x):
        """You put one and the same number into all features of the later rows. Where a row held
        equal numbers before, the differences between its features stay 0, and a leak of these
        alone escapes you. Which change moves every row in every direction?"""
        return a_cut_shows(attention, x, torch.ones_like)

    @exercise.wrong("the later rows become copies of row 0", "mask")
    def later_rows_copied(attention, x):
        """You put rows of x itself, or their mean, in place of the later ones. Where all rows are
        equal that changes nothing, and so you miss even a box without a mask. Which new rows
        differ from the old ones whatever x holds?"""
        return a_cut_shows(attention, x, lambda later: x[:1].expand_as(later))

    @exercise.wrong("the later rows times 2", "mask")
    def later_rows_stretched(attention, x):
        """You multiplied the later rows by a number. Rows of zeros stay as they are, and a layer
        norm takes the factor out again. Which change moves every row in every direction?"""
        return a_cut_shows(attention, x, lambda later: 3 * later)

    @exercise.wrong("the later rows plus a number", "mask")
    def later_rows_shifted(attention, x):
        """You added the same number to all features of the later rows. A layer norm takes it out
        again, so a leak behind one escapes you. Which change moves every row in every direction?"""
        return a_cut_shows(attention, x, lambda later: later + 3)

    @exercise.wrong("only feature 0 of the later rows is changed", "mask")
    def only_the_first_feature_changed(attention, x):
        """You only changed the first feature of the later rows. Where values are read off it and
        keys are not, a leak through the keys escapes you. Which features may a key depend on?"""
        return a_cut_shows(attention, x, lambda later: _with_a_feature_changed(later, 0))

    @exercise.wrong("only the last feature of the later rows is changed", "mask")
    def only_the_last_feature_changed(attention, x):
        """You only changed the last feature of the later rows. Where keys are read off it and
        values are not, a leak through the values escapes you. Which features may a value depend
        on?"""
        return a_cut_shows(attention, x, lambda later: _with_a_feature_changed(later, -1))

    @exercise.wrong("only larger results count as different", "mask")
    def only_rises_seen(attention, x):
        """You subtracted one result from the other and left the sign on the difference. A leak that
        only lowers the result escapes you. What makes a fall count as much as a rise?"""
        return _either_way(attention, x, lambda got, want: _rises(want, got))

    @exercise.wrong("only smaller results count as different", "mask")
    def only_falls_seen(attention, x):
        """You subtracted one result from the other and left the sign on the difference. A leak that
        only raises the result escapes you. What makes a rise count as much as a fall?"""
        return _either_way(attention, x, _rises)

    @exercise.wrong("sums of the results are compared", "mask")
    def sums_compared(attention, x):
        """You compared sums, means or the gradients of sums. Where every row adds up to 0
        anyway, the numbers change and their sum does not. What should be compared with what?"""
        return a_cut_shows(attention, x, differ=lambda got, want: differ(got.sum(-1), want.sum(-1)))

    @exercise.wrong("x itself is changed", "mask")
    def x_changed(attention, x):
        """Your answers are right, but you wrote into x itself: whoever called you finds another
        x than before. What makes a copy of a tensor?"""
        before = attention(x)
        for t in reversed(range(len(x) - 1)):
            x[t + 1 :] += torch.arange(1, x.shape[1] + 1)
            if differ(attention(x)[: t + 1], before[: t + 1]):
                return True
        return False


def _rises(before: Tensor, after: Tensor) -> bool:
    return ((after - before).max() > 1e-5 * before.abs().max()).item()


def _either_way(attention: Callable, x: Tensor, differ: Callable) -> bool:
    """Two changes that are opposites: most leaks raise the result in one of them."""
    there = a_cut_shows(attention, x, differ=differ)
    return there or a_cut_shows(attention, x, lambda later: -at_random(later), differ=differ)


def _with_a_feature_changed(later: Tensor, feature: int) -> Tensor:
    later = later.clone()
    later[:, feature] += 3
    return later
