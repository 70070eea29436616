"""What goes wrong in a softmax written by hand: the shift, the axis, the exponential, the sum."""

import math

import torch
from torch import Tensor

from grader.exercise import Exercise


def add_softmax_mistakes(exercise: Exercise) -> None:
    """Give an exercise with `(scores)` what people write in place of a softmax."""

    @exercise.wrong("exp(scores) / sum of exp(scores), overflowing", "normalise")
    def overflows(scores):
        """The formula is right for small scores, but exp of a large one is infinite, and infinity
        over infinity is not a number. What can you subtract from a row without changing its
        softmax?

        Seen in pytorch/executorch#18407, mila-iqia/blocks#727."""
        exps = torch.exp(scores)
        return exps / exps.sum(dim=-1, keepdim=True)

    @exercise.wrong("exp(scores) / (sum of exp(scores) + a small number)", "normalise")
    def small_number_added(scores):
        """A small number in the denominator keeps it from being 0, but a row of very low scores
        gets no weight at all, and large ones overflow. What can you subtract from a row instead?"""
        exps = torch.exp(scores)
        return exps / (exps.sum(dim=-1, keepdim=True) + 1e-12)

    @exercise.wrong("shifted by the maximum of the whole tensor", "normalise")
    def shifted_by_the_global_maximum(scores):
        """You subtracted one maximum from all rows. A row far below it turns into zeros, and zero
        over zero is not a number. Whose maximum should be subtracted from a row?"""
        exps = torch.exp(scores - scores.max())
        return exps / exps.sum(dim=-1, keepdim=True)

    @exercise.on_top("exp(scores) / the sum over everything", "normalise")
    def over_everything(kernel, scores):
        """Your weights add up to 1 over the whole tensor, not row by row. Whose shares should add
        up to 1?

        Seen in rickwierenga/MLFundamentals#1, deeplearning4j/nd4j#44, uTensor/uTensor#171."""
        return kernel(scores.flatten()).reshape(scores.shape)

    @exercise.on_top("exp(scores) / the sum over axis -2", "normalise")
    def over_the_rows(kernel, scores):
        """Your columns add up to 1, not your rows. Along which axis do the scores of one query lie?

        Seen in Open-Deep-ML/DML-OpenProblem#424, nerdai/llms-from-scratch-rs#30."""
        return kernel(scores.transpose(-2, -1)).transpose(-2, -1)

    @exercise.on_top("exp(scores) / the sum over axis 0", "normalise")
    def over_axis_0(kernel, scores):
        """You normalised along axis 0. With a batch that is the batch, and its items mix. Which
        number means 'the last axis'?

        Seen in PetrochukM/PyTorch-NLP#2, jadore801120/attention-is-all-you-need-pytorch#52."""
        return kernel(scores.transpose(0, -1)).transpose(0, -1)

    @exercise.on_top("exp(scores) / the sum over axis 1", "normalise")
    def over_axis_1(kernel, scores):
        """You normalised along axis 1. Without a batch that is the last axis; with one it is not.
        Which number means 'the last axis' for any number of axes?

        Seen in labmlai/annotated_deep_learning_paper_implementations#146."""
        return kernel(scores.transpose(1, -1)).transpose(1, -1)

    @exercise.wrong("exp(scores) / sums laid along the columns", "normalise")
    def without_keepdim(scores):
        """Your row sums lost their axis, so they were laid along the columns. On a square matrix
        nothing crashes. What does keepdim=True keep?

        Seen in triton-lang/triton#11409, sahandsafizadeh/qeep#29."""
        exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return exps / exps.sum(dim=-1)

    @exercise.wrong("exp(scores) / sums laid along the columns, without a shift", "normalise")
    def without_keepdim_or_shift(scores):
        """Your row sums lost their axis, so they were laid along the columns, and exp had no shift.
        On a square matrix nothing crashes. What does keepdim=True keep?"""
        return torch.exp(scores) / torch.exp(scores).sum(dim=-1)

    @exercise.wrong("exp(scores - maxima laid along the columns) / the sum", "normalise")
    def maximum_without_keepdim(scores):
        """Your row maxima lost their axis, so they were laid along the columns: each score had the
        maximum of another row taken away. On a square matrix nothing crashes. What does
        keepdim=True keep?"""
        exps = torch.exp(scores - scores.amax(dim=-1))
        return exps / exps.sum(dim=-1, keepdim=True)

    @exercise.wrong("exp(scores - maxima) / sums, both laid along the columns", "normalise")
    def neither_with_keepdim(scores):
        """Your row maxima and your row sums both lost their axis, so they were laid along the
        columns. On a square matrix nothing crashes. What does keepdim=True keep?"""
        exps = torch.exp(scores - scores.amax(dim=-1))
        return exps / exps.sum(dim=-1)

    @exercise.wrong("scores / their sum", "normalise")
    def divided_by_the_sum(scores):
        """You divided the scores by their sum. With scores of both signs some weights are negative
        or above 1. What makes every number positive first?"""
        return scores / scores.sum(dim=-1, keepdim=True)

    @exercise.wrong("|scores| / the sum of |scores|", "normalise")
    def absolute_values(scores):
        """You made the scores positive by dropping their sign. Then -2 weighs as much as 2. Which
        function is positive and still grows with its argument?"""
        return scores.abs() / scores.abs().sum(dim=-1, keepdim=True)

    @exercise.wrong("exp(scores), not divided", "normalise")
    def exp_alone(scores):
        """You took the exponentials but did not divide. What turns positive numbers into shares?"""
        return torch.exp(scores)

    @exercise.wrong("exp(scores - maximum), not divided", "normalise")
    def shifted_exp_alone(scores):
        """You shifted and took the exponentials but did not divide by their sum, so the largest
        weight is always 1. What turns positive numbers into shares?"""
        return torch.exp(scores - scores.amax(dim=-1, keepdim=True))

    @exercise.wrong("sigmoid(scores)", "normalise")
    def sigmoid(scores):
        """You used a sigmoid: every weight lies between 0 and 1, but a row does not add up to 1.
        What should the tokens compete for?"""
        return torch.sigmoid(scores)

    @exercise.wrong("log of the softmax", "normalise")
    def logarithm_kept(scores):
        """These are the logarithms of the weights: all negative. What undoes a logarithm?"""
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    @exercise.on_top("softmax(softmax(scores))", "normalise")
    def softmax_twice(kernel, scores):
        """You took the softmax of the weights again, so they are nearly equal. How far apart can
        two numbers between 0 and 1 be?"""
        return kernel(kernel(scores))

    @exercise.on_top("2 to the power of scores, divided by the sum", "normalise")
    def base_two(kernel, scores):
        """You used powers of 2, which makes the weights too even. Which base does exp use?"""
        return kernel(scores * math.log(2))

    @exercise.wrong("powers of 2.718, divided by the sum", "normalise")
    def e_to_three_places(scores):
        """You used powers of 2.718, which is e rounded to three places: the further apart two
        scores are, the more digits of a weight are off. Which function of torch knows e in full?"""
        return powers_of(2.718, scores)

    @exercise.wrong("powers of 2.71828, divided by the sum", "normalise")
    def e_to_five_places(scores):
        """You used powers of 2.71828, which is e rounded to five places: the further apart two
        scores are, the more digits of a weight are off. Which function of torch knows e in full?"""
        return powers_of(2.71828, scores)

    @exercise.on_top("softmax(-scores)", "normalise")
    def sign_turned(kernel, scores):
        """Your largest score got the smallest weight: the sign was turned before exp. Should the
        maximum be subtracted from the scores, or the scores from the maximum?"""
        return kernel(-scores)

    @exercise.wrong("one-hot of the largest score", "normalise")
    def winner_takes_all(scores):
        """The largest score got everything. That is the hard choice; softmax is the soft one. How
        could the second largest keep a share?"""
        return torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)

    @exercise.wrong("the library's softmax", "normalise")
    def library_softmax(scores):
        """The numbers are right, but here the softmax is to be written by hand, with exp and a sum:
        that is the point of this exercise. Which three operations does it consist of?"""
        return torch.softmax(scores, dim=-1)


def powers_of(base: float, scores: Tensor) -> Tensor:
    """The softmax with another base than e."""
    return torch.softmax(scores * math.log(base), dim=-1)
