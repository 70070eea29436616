"""Tests for equivariance that shuffle well, and compare the wrong thing."""

import torch
from torch import Tensor

from grader.exercise import Exercise


def alike(first: Tensor, second: Tensor, tolerance: float = 1e-5) -> bool:
    """Up to rounding."""
    return torch.allclose(first, second, atol=tolerance)


def add_wrong_comparisons(exercise: Exercise) -> None:
    """Give an exercise the mistakes of tests that look at too little of f(x[p]) and f(x)[p]."""

    @exercise.wrong("sums over the tokens of f(x[p]) and f(x)")
    def sums_compared(attention, x, permutation):
        """You compared sums or means over the tokens. They stay the same when rows are mixed up.
        What else must hold than that nothing is lost?"""
        return alike(attention(x[permutation]).sum(0), attention(x).sum(0))

    @exercise.wrong("the sum of all numbers of f(x[p]) and of f(x)[p]")
    def one_sum_compared(attention, x, permutation):
        """You compared one number, the sum or the mean of them all; differences of both signs
        cancel in it. Should differences be added up, or looked at one by one?"""
        return alike(attention(x[permutation]).sum(), attention(x)[permutation].sum())

    @exercise.wrong("the rows of f(x[p]) are those of f(x), in any order")
    def sorted_columns_compared(attention, x, permutation):
        """You compared the rows whatever their order: they, or the numbers of each feature, were
        sorted or looked up, so it no longer counts which row is where. Does equivariance say which
        row a token's result stands in?"""
        return alike(attention(x[permutation]).sort(0).values, attention(x).sort(0).values)

    @exercise.wrong("f(x[p]) = f(x), all numbers sorted")
    def sorted_numbers_compared(attention, x, permutation):
        """You sorted all the numbers before comparing, so it no longer counts where they stand.
        Does equivariance say which row a token's result stands in?"""
        shuffled, straight = attention(x[permutation]), attention(x)
        return alike(shuffled.flatten().sort().values, straight.flatten().sort().values)

    @exercise.wrong("row 0 of f(x[p]) = row p[0] of f(x)")
    def first_row_only(attention, x, permutation):
        """You compared the first row alone. A function may be wrong in any of them. How many rows
        are there?"""
        return alike(attention(x[permutation])[0], attention(x)[permutation[0]])

    @exercise.wrong("the last row of f(x[p]) = row p[-1] of f(x)")
    def last_row_only(attention, x, permutation):
        """You compared the last row alone. A function may be wrong in any of them. How many rows
        are there?"""
        return alike(attention(x[permutation])[-1], attention(x)[permutation[-1]])

    @exercise.wrong("f(x[p]) = f(x)[p] in all rows but the first")
    def first_row_left_out(attention, x, permutation):
        """You compared every row but the first. A function may be wrong in that one alone. Where
        does a slice of all rows begin?"""
        return alike(attention(x[permutation])[1:], attention(x)[permutation][1:])

    @exercise.wrong("f(x[p]) = f(x)[p] in all rows but the last")
    def last_row_left_out(attention, x, permutation):
        """You compared every row but the last. A function may be wrong in that one alone. Does a
        slice or a range give you the place where it stops?"""
        return alike(attention(x[permutation])[:-1], attention(x)[permutation][:-1])

    @exercise.wrong("f(x[p]) = f(x)[p] in every second row")
    def every_second_row(attention, x, permutation):
        """You compared rows 0, 2, 4 and so on, and none between them. A function may be wrong in
        any of them. What does the number after the second colon of a slice say?"""
        return alike(attention(x[permutation])[::2], attention(x)[permutation][::2])

    @exercise.wrong("the sums of the rows of f(x[p]) and of f(x)[p]")
    def sums_of_rows_compared(attention, x, permutation):
        """You compared one number of each row, its sum or its mean. A row may hold the right
        numbers in the wrong features. How many numbers does a row have?"""
        return alike(attention(x[permutation]).sum(-1), attention(x)[permutation].sum(-1))

    @exercise.wrong("the lengths of the rows of f(x[p]) and of f(x)[p]")
    def lengths_of_rows_compared(attention, x, permutation):
        """You compared the lengths of the rows. Two rows may be equally long and point elsewhere.
        What else does a row have than a length?"""
        return alike(attention(x[permutation]).norm(dim=-1), attention(x)[permutation].norm(dim=-1))

    @exercise.wrong("f(x[p]) = f(x)[p] in some number")
    def any_instead_of_all(attention, x, permutation):
        """You asked whether any number agrees. One wrong number is enough to make a function depend
        on the order. Which is it, any or all?"""
        shuffled, straight = attention(x[permutation]), attention(x)[permutation]
        return bool(torch.isclose(shuffled, straight, atol=1e-5).any())

    @exercise.wrong("f(x[p]) = f(x)[p], both rounded first")
    def rounded_before_comparing(attention, x, permutation):
        """You rounded both results and asked for equal numbers. Two numbers that hardly differ are
        rounded apart where they lie on both sides of a border. Which is it that should be small,
        the number of decimals or the difference?"""
        shuffled, straight = attention(x[permutation]), attention(x)[permutation]
        return torch.equal(shuffled.round(decimals=3), straight.round(decimals=3))
