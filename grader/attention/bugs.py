"""What the weights of a trained model give away about its mask and softmax, and who misses what."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from grader.attention.leaks import KINDS
from grader.attention.losses import loss
from grader.exercise import Exercise

RIGHT, NO_MASK, AFTER, TIMES, QUERIES = KINDS


class Seen(NamedTuple):
    """What can be read off weights (B, T, T)."""

    later: bool  # a token looks at later ones
    even: bool  # at all of them alike
    rows: bool  # add up to 1
    columns: bool  # add up to 1
    last_row: bool  # adds up to 1

    @classmethod
    def of(cls, weights: Tensor) -> "Seen":
        T = weights.shape[-1]
        tails = [weights[..., i, i + 1 :] for i in range(T - 1)]
        rows = weights.sum(dim=-1)
        return cls(
            later=any(bool((tail > 0).any()) for tail in tails),
            even=all(bool((tail - tail[..., :1]).abs().max() < 1e-4) for tail in tails),
            rows=_is_1(rows),
            columns=_is_1(weights.sum(dim=-2)),
            last_row=_is_1(rows[..., -1]),
        )


def _is_1(sums: Tensor) -> bool:
    return bool((sums - 1).abs().max() < 1e-3)


def told_by(seen: Seen) -> str:
    if seen.later:
        return TIMES if seen.even else NO_MASK
    return RIGHT if seen.rows else QUERIES if seen.columns else AFTER


def add_kind_mistakes(exercise: Exercise, weights_inside: Callable) -> None:
    """Give the exercise with `(models, tokens)` what one may take for what."""

    def each(models: dict[str, nn.Module], tokens: Tensor, tell: Callable) -> dict[str, str]:
        seen = {name: Seen.of(weights_inside(model, tokens)) for name, model in models.items()}
        return {name: tell(each) for name, each in seen.items()}

    def taking(**instead: str) -> Callable[[Seen], str]:
        """Right, but for some kinds that are taken for others."""
        swapped = {globals()[kind]: other for kind, other in instead.items()}
        return lambda seen: swapped.get(told_by(seen), told_by(seen))

    @exercise.wrong("all models are called correct", "mask")
    def all_correct(models, tokens):
        """You called every model correct. A test that always says the same tests nothing. What
        may never change when a later token does?

        Seen in lucidrains/flamingo-pytorch#10.
        """
        return dict.fromkeys(models, RIGHT)

    @exercise.wrong("the model with the lowest loss has no mask, the others are correct", "mask")
    def by_the_loss(models, tokens):
        """You went by the loss: the lowest one for a leak, the others for correct. There may be
        several leaks, or none, and some hardly change the loss. What does a leak do to the
        weights themselves?

        Seen in tensorflow/text#894.
        """
        losses = {name: loss(model(tokens), tokens).item() for name, model in models.items()}
        lowest = min(losses, key=losses.get)
        return {name: NO_MASK if name == lowest else RIGHT for name in models}

    @exercise.wrong("the kinds are given out in the order of the dict")
    def in_the_order_of_the_dict(models, tokens):
        """You gave out the five kinds in the order in which the models come. That order says
        nothing. What do the weights say?"""
        return dict(zip(models, [*KINDS, *KINDS], strict=False))

    @exercise.wrong("what the first model is, all are called")
    def first_for_all(models, tokens):
        """You looked at one model and called all of them by its kind; a name that the loop
        overwrites can do that. Which line of your loop depends on the model?"""
        kind, *_ = each(models, tokens, told_by).values()
        return dict.fromkeys(models, kind)

    @exercise.wrong("whatever lets a later token change an earlier output has no mask", "mask")
    def whatever_leaks(models, tokens):
        """You call everything that leaks a missing mask. All four bugs leak, the two that hide
        later tokens as well: through what they divide by. What do the weights show that the
        outputs do not?"""
        return each(models, tokens, lambda seen: RIGHT if told_by(seen) == RIGHT else NO_MASK)

    @exercise.wrong("zeros above the diagonal are taken for correct, the rest for no mask", "mask")
    def zeros_above_the_diagonal(models, tokens):
        """You look whether the weights above the diagonal are zero, and no further. Zeros there
        are needed but not enough. What else must hold for each row?

        Seen in huggingface/pytorch-image-models#2236.
        """
        return each(models, tokens, lambda seen: NO_MASK if seen.later else RIGHT)

    @exercise.wrong("rows that add up to 1 are taken for correct, others for masked late", "mask")
    def rows_alone(models, tokens):
        """You look whether the rows add up to 1, and no further. They also do without any mask.
        What else must hold for each row?"""
        return each(models, tokens, lambda seen: RIGHT if seen.rows else AFTER)

    @exercise.wrong("the last row alone: it adds up to 1, or the softmax is over the queries")
    def last_row_alone(models, tokens):
        """You look at the last row. The last token may see everybody, so a mask has nothing to
        hide from it. In which row does a mask hide most?"""
        return each(models, tokens, lambda seen: RIGHT if seen.last_row else QUERIES)

    @exercise.wrong("scores times mask is taken for no mask", "mask")
    def times_taken_for_no_mask(models, tokens):
        """You take scores times mask for no mask at all. Both give weight to later tokens, but a
        score that was multiplied by 0 is 0. How do the weights of a row above the diagonal differ
        in the two?

        Seen in georg-wolflein/good-features#1, jadore801120/attention-is-all-you-need-pytorch#16.
        """
        return each(models, tokens, taking(TIMES=NO_MASK))

    @exercise.wrong("no mask is taken for scores times mask", "mask")
    def no_mask_taken_for_times(models, tokens):
        """You take a missing mask for scores times mask. Both give weight to later tokens. In
        which of the two do all later tokens get the same?"""
        return each(models, tokens, taking(NO_MASK=TIMES))

    @exercise.wrong("no mask and scores times mask are taken for one another", "mask")
    def times_and_no_mask_exchanged(models, tokens):
        """You have no mask and scores times mask the wrong way round. What becomes of a score that
        is multiplied by 0, and of its weight?"""
        return each(models, tokens, taking(NO_MASK=TIMES, TIMES=NO_MASK))

    @exercise.wrong("scores times mask is taken for correct", "mask")
    def times_taken_for_correct(models, tokens):
        """You take scores times mask for correct. A score of 0 is a score like any other: the
        softmax gives it a weight. Which weight has a score of 0 beside one of −1?"""
        return each(models, tokens, taking(TIMES=RIGHT))

    @exercise.wrong("a mask after the softmax is taken for correct", "mask")
    def after_taken_for_correct(models, tokens):
        """You take a mask after the softmax for correct. Later tokens get weight 0, and yet they
        were part of the sum that was divided by. What do its rows add up to?"""
        return each(models, tokens, taking(AFTER=RIGHT))

    @exercise.wrong("a softmax over the queries is taken for correct", "normalise")
    def queries_taken_for_correct(models, tokens):
        """You take a softmax over the queries for correct. Its columns add up to 1, and all looks
        tidy. Whose shares have to add up to 1, those of one query or those of one key?

        Seen in labmlai/annotated_deep_learning_paper_implementations#146.
        """
        return each(models, tokens, taking(QUERIES=RIGHT))

    @exercise.wrong("a softmax over the queries is taken for a mask after the softmax", "normalise")
    def queries_taken_for_after(models, tokens):
        """You take a softmax over the queries for a mask after the softmax. In both the rows do
        not add up to 1. What do the columns add up to?"""
        return each(models, tokens, taking(QUERIES=AFTER))

    @exercise.wrong("a mask after the softmax is taken for a softmax over the queries", "normalise")
    def after_taken_for_queries(models, tokens):
        """You take a mask after the softmax for a softmax over the queries. In both the rows do
        not add up to 1. What do the columns add up to?"""
        return each(models, tokens, taking(AFTER=QUERIES))

    @exercise.wrong("the two whose rows do not add up to 1 are exchanged", "normalise")
    def after_and_queries_exchanged(models, tokens):
        """You have the mask after the softmax and the softmax over the queries the wrong way
        round. Over which axis are the sums equal to 1 if the softmax ran over the queries?"""
        return each(models, tokens, taking(AFTER=QUERIES, QUERIES=AFTER))
