"""What goes wrong between two sequences: the wrong one looks, or the wrong one is looked at."""

import torch

from grader.attention.kernels import attention
from grader.exercise import Exercise


def add_crossed_sequences(exercise: Exercise) -> None:
    """Give an exercise the mix-ups of x and source, `kernel(x, source, W_q, W_k, W_v)`."""

    @exercise.on_top("queries from source, keys and values from x", "score")
    def sequences_exchanged(kernel, x, source, W_q, W_k, W_v):
        """The two sequences are in each other's place: source looks, and x is looked at, so there
        is a row for each token of source. Which of the two should find something in the other?

        Seen in rexrex9/nlp_torchtext#2.
        """
        return kernel(source, x, W_q, W_k, W_v)

    @exercise.on_top("queries, keys and values from x", "score")
    def x_alone(kernel, x, source, W_q, W_k, W_v):
        """All three roles were made from x, so source is never looked at: this is self-attention.
        Which two roles belong to the sequence that is looked at?"""
        return kernel(x, x, W_q, W_k, W_v)

    @exercise.on_top("queries, keys and values from source", "score")
    def source_alone(kernel, x, source, W_q, W_k, W_v):
        """All three roles were made from source, so x never asks anything. Which role belongs to
        the sequence that looks?"""
        return kernel(source, source, W_q, W_k, W_v)

    @exercise.wrong("keys from x, values from source", "score")
    def keys_from_x(x, source, W_q, W_k, W_v):
        """Your keys were made from x, your values from source. It only runs when both have as many
        tokens, and then a token is found by one vector and hands over another. Whose keys should a
        query of x be held against?"""
        return attention(x @ W_q, x @ W_k, source @ W_v)

    @exercise.wrong("keys from source, values from x", "mix")
    def values_from_x(x, source, W_q, W_k, W_v):
        """Your values were made from x, your keys from source. It only runs when both have as many
        tokens, and then nothing of source is handed over. What should x take home?"""
        return attention(x @ W_q, source @ W_k, x @ W_v)

    @exercise.wrong("keys and values from x and source, one below the other", "score")
    def source_below_x(x, source, W_q, W_k, W_v):
        """You laid source below x and let every token look at both, so the weights have T_q + T_k
        columns. Which tokens should x look at here?"""
        both = torch.cat([x, source], dim=-2)
        return attention(x @ W_q, both @ W_k, both @ W_v)

    @exercise.wrong("keys and values from source and x, one below the other", "score")
    def x_below_source(x, source, W_q, W_k, W_v):
        """You laid x below source and let every token look at both, so the weights have T_k + T_q
        columns. Which tokens should x look at here?"""
        both = torch.cat([source, x], dim=-2)
        return attention(x @ W_q, both @ W_k, both @ W_v)

    @exercise.wrong("queries, keys and values from x and source together", "score")
    def one_long_sequence(x, source, W_q, W_k, W_v):
        """You made one sequence of the two and let all of it look at all of it, so the tokens of
        source have rows as well. How many rows should the context have?"""
        both = torch.cat([x, source], dim=-2)
        return attention(both @ W_q, both @ W_k, both @ W_v)
