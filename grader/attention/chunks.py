"""What goes wrong when attention is taken block by block."""

from collections.abc import Callable

import torch
from torch import Tensor

from grader.attention.chunk_manners import add_chunk_manners
from grader.attention.kernels import attention
from grader.attention.online import Running, blocks, online_attention
from grader.exercise import Exercise

#: slips in what is given back, which here is the context alone; three of them come as mistakes
NOT_IN_BLOCKS = (
    "context_alone",
    "weights_alone",
    "other_order",
    "scores_as_weights",
    "scores_mixed",
    "gradient_cut",
    "turned_into_float32",
    "scaled_in_place",
)


def _running(
    total_fades: bool = True, context_fades: bool = True, fade: Callable | None = None
) -> Callable:
    """One more block, with parts of the rescaling left out or another factor in its place."""
    fade = fade or (lambda old, new: torch.exp(old - new))

    def add(so_far: Running, scores: Tensor, v: Tensor) -> Running:
        largest = torch.maximum(so_far.largest, scores.amax(dim=-1, keepdim=True))
        factor = fade(so_far.largest, largest)
        exps = torch.exp(scores - largest)
        total = so_far.total * (factor if total_fades else 1) + exps.sum(dim=-1, keepdim=True)
        return Running(largest, total, so_far.context * (factor if context_fades else 1) + exps @ v)

    return add


def _parts(q: Tensor, k: Tensor, v: Tensor, block: int) -> list[Tensor]:
    """The attention to each block by itself."""
    return [attention(q, keys, values)[0] for keys, values in blocks(k, v, block)]


def _from(largest: float) -> Callable:
    """A running maximum that starts at some number."""

    def start(q: Tensor, v: Tensor) -> Running:
        column = q.new_zeros(*q.shape[:-1], 1)
        return Running(column + largest, column, q.new_zeros(*q.shape[:-1], v.shape[-1]))

    return start


def add_chunk_mistakes(exercise: Exercise) -> None:
    """Give an exercise the mistakes of attention in blocks, `kernel(q, k, v, block)`."""

    @exercise.wrong("the mean of the attention to each block", "normalise")
    def mean_of_the_blocks(q, k, v, block):
        """You took a softmax in each block and averaged the results, so a block of poor matches
        counts as much as one of good ones. What says how much a block should weigh?"""
        parts = _parts(q, k, v, block)
        return sum(parts) / len(parts)

    @exercise.wrong("the sum of the attention to each block", "normalise")
    def sum_of_the_blocks(q, k, v, block):
        """You took a softmax in each block and added the results, so the weights of a row add up to
        the number of blocks. Over how many keys does one softmax run?"""
        return sum(_parts(q, k, v, block))

    @exercise.wrong("attention to the first block alone", "normalise")
    def first_block_only(q, k, v, block):
        """Only the first block of keys was looked at. Is the return inside the loop, or the first
        slice taken every time?"""
        return _parts(q, k, v, block)[0]

    @exercise.wrong("attention to the last block alone", "normalise")
    def last_block_only(q, k, v, block):
        """Only the last block of keys counts: each one overwrites what was there. What has to be
        kept from one block to the next?"""
        return _parts(q, k, v, block)[-1]

    @exercise.wrong("attention without the last keys, where the last block is short", "score")
    def short_block_dropped(q, k, v, block):
        """Keys that do not fill a whole block were left out. How many blocks do 7 keys make, when a
        block has 3?"""
        whole = k.shape[-2] // block * block
        return online_attention(q, k[..., :whole, :], v[..., :whole, :], block)

    @exercise.wrong("the running sum is not rescaled, the running context is", "normalise")
    def sum_not_rescaled(q, k, v, block):
        """When the maximum moved you rescaled the context but not the sum it is divided by. From
        which maximum were the exponentials in that sum measured?"""
        return online_attention(q, k, v, block, add=_running(total_fades=False))

    @exercise.wrong("the running context is not rescaled, the running sum is", "normalise")
    def context_not_rescaled(q, k, v, block):
        """When the maximum moved you rescaled the sum but not the context. From which maximum were
        the exponentials in the context measured?"""
        return online_attention(q, k, v, block, add=_running(context_fades=False))

    @exercise.wrong("neither sum nor context is rescaled", "normalise")
    def nothing_rescaled(q, k, v, block):
        """The maximum moved from block to block, and what had been added up before stayed as it
        was. By which factor does exp(score - maximum) change when the maximum grows?"""
        add = _running(total_fades=False, context_fades=False)
        return online_attention(q, k, v, block, add=add)

    @exercise.wrong("sum and context are multiplied by exp(new - old)", "normalise")
    def rescaled_the_wrong_way(q, k, v, block):
        """You multiplied by exp(new - old), so what was added up before grows when the maximum
        does. Is exp(score - maximum) larger or smaller for a larger maximum?"""
        wrong_way = _running(fade=lambda old, new: torch.exp(new - old).nan_to_num(posinf=1.0))
        return online_attention(q, k, v, block, add=wrong_way)

    @exercise.wrong("each block is measured from its own maximum", "normalise")
    def a_maximum_for_each_block(q, k, v, block):
        """Each block was measured from its own maximum and then added to the others as if all were
        measured from the same. Which maximum do two blocks have in common?"""

        def add(so_far, scores, values):
            exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
            total = so_far.total + exps.sum(dim=-1, keepdim=True)
            return Running(so_far.largest, total, so_far.context + exps @ values)

        return online_attention(q, k, v, block, add=add)

    @exercise.wrong("the maximum of the last block in place of the running one", "normalise")
    def maximum_not_carried(q, k, v, block):
        """The formula is right for small scores, but your maximum is that of the newest block. When
        it falls, what was there before is multiplied by an exp that can overflow. Of which scores
        should it be the maximum?"""

        def add(so_far, scores, values):
            largest = scores.amax(dim=-1, keepdim=True)
            fade, exps = torch.exp(so_far.largest - largest), torch.exp(scores - largest)
            total = so_far.total * fade + exps.sum(dim=-1, keepdim=True)
            return Running(largest, total, so_far.context * fade + exps @ values)

        return online_attention(q, k, v, block, add=add)

    @exercise.wrong("the running maximum starts at 0", "normalise")
    def maximum_starts_at_0(q, k, v, block):
        """The formula is right for most scores, but your maximum starts at 0. Where all scores of a
        row are far below, every exp is 0, and zero over zero is not a number. Which number is
        smaller than any score?"""
        return online_attention(q, k, v, block, start=_from(0.0))

    @exercise.wrong("the running maximum starts at a number such as -10000", "normalise")
    def maximum_starts_too_high(q, k, v, block):
        """The formula is right for most scores, but your maximum starts at a number that scores can
        lie below. Where all scores of a row do, every exp is 0, and zero over zero is not a number.
        Which number is smaller than any score?"""
        return online_attention(q, k, v, block, start=_from(-1e4))

    @exercise.wrong("the context of all blocks over the sum of the last", "normalise")
    def sum_of_the_last_block(q, k, v, block):
        """The context was carried from block to block, but the sum started anew in each. Over which
        keys should the sum run that you divide by at the end?"""

        def add(so_far, scores, values):
            new = _running()(so_far, scores, values)
            return new._replace(total=torch.exp(scores - new.largest).sum(dim=-1, keepdim=True))

        return online_attention(q, k, v, block, add=add)

    @exercise.wrong("the context of the last block over the sum of all", "mix")
    def context_of_the_last_block(q, k, v, block):
        """The sum was carried from block to block, but the context started anew in each. What has
        become of the values of the first block?"""

        def add(so_far, scores, values):
            new = _running()(so_far, scores, values)
            return new._replace(context=torch.exp(scores - new.largest) @ values)

        return online_attention(q, k, v, block, add=add)

    @exercise.wrong("the context divided by the sum in every block", "normalise")
    def divided_in_every_block(q, k, v, block):
        """You divided the context by the sum in every block, so its first part was divided again
        and again. How often should a sum be divided out?"""

        def add(so_far, scores, values):
            new = _running()(so_far, scores, values)
            return new._replace(context=new.context / new.total)

        return online_attention(q, k, v, block, add=add, finish=lambda so_far: so_far.context)

    @exercise.wrong("the running context, not divided by the running sum", "normalise")
    def never_divided(q, k, v, block):
        """You gave back the running context, which was never divided by the running sum. What must
        the weights of a row add up to?"""
        return online_attention(q, k, v, block, finish=lambda so_far: so_far.context)

    @exercise.wrong("scores divided by the root of the length of a block", "scale")
    def scaled_by_the_block(q, k, v, block):
        """You divided the scores by the root of the number of keys in a block. A dot product adds
        over the features. How long is a key?"""

        def score(queries, keys):
            return queries @ keys.transpose(-2, -1) / keys.shape[-2] ** 0.5

        return online_attention(q, k, v, block, score=score)

    add_chunk_manners(exercise)
