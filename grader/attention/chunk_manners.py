"""Attention in blocks with the right numbers, which goes wrong in how they are made or kept."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from grader.attention.kernels import attention
from grader.attention.online import online_attention
from grader.exercise import Exercise


def add_chunk_manners(exercise: Exercise) -> None:
    """Give an exercise these mistakes, `kernel(q, k, v, block)`."""

    @exercise.wrong("softmax(q kᵀ / √d_k) v, with T_q · T_k numbers at once, or more")
    def whole_matrix(q, k, v, block):
        """The values are right, but at some moment as many numbers were held as the whole score
        matrix has. That happens when it is there in one piece, when the pieces grow with T_k, or
        when blocks are all kept. What can be forgotten as soon as a block has been added up?"""
        return attention(q, k, v)[0]

    @exercise.wrong("softmax(q kᵀ / √d_k) v for some queries at a time")
    def blocks_of_queries(q, k, v, block):
        """The numbers are right, and you cut the work into blocks, but of queries: each block still
        meets all T_k keys at once, and that row grows with the text. Along which axis do the scores
        of one query lie?"""
        return torch.cat([attention(part, k, v)[0] for part in q.split(block, dim=-2)], dim=-2)

    @exercise.wrong("torch's own scaled_dot_product_attention")
    def torchs_own(q, k, v, block):
        """The numbers are right, but torch made them, and this exercise is about how it may do so.
        Which three running quantities does it need?"""
        return scaled_dot_product_attention(q, k, v)

    @exercise.wrong("(context, weights)")
    def weights_returned_too(q, k, v, block):
        """The weights came back as well. They are a whole matrix of T_q · T_k numbers, which is
        what this exercise avoids. Which of the two is asked for?"""
        return attention(q, k, v)

    @exercise.wrong("the context, cut off from the inputs")
    def gradient_cut(q, k, v, block):
        """The numbers are right, but no gradient finds its way back, so nothing could be trained.
        Is there a detach(), a no_grad(), a .data or a trip to numpy on the way?

        Seen in LunaBlack/KGAT-pytorch#15, bboylyg/NAD#8, kevinzakka/recurrent-visual-attention#4.
        """
        return online_attention(q, k, v, block).detach()

    @exercise.wrong("the context in float32")
    def turned_into_float32(q, k, v, block):
        """The numbers are right, but they came back in float32 although float64 went in. Which line
        names a dtype, or creates a tensor without one?"""
        return online_attention(q, k, v, block).float()

    @exercise.wrong("q is divided by √d_k in place", "scale")
    def scaled_in_place(q, k, v, block):
        """The numbers are right, but your function changed its own argument on the way: whoever
        called it finds another q than before. Which line writes into a tensor instead of making a
        new one?"""
        q /= q.shape[-1] ** 0.5
        return online_attention(q * q.shape[-1] ** 0.5, k, v, block)
