"""Slips in the mix: what is added up."""

from grader.attention.slips.slip import slip


@slip("mix", "softmax({s})ᵀ {v}")
def weights_transposed(weights, q, k, v):
    """You mixed with the weights transposed: each token collects what the others give away. Which
    index of the weights says who is looking?

    Seen in heykeetae/Self-Attention-GAN#11.
    """
    return weights.transpose(-2, -1) @ v


@slip("mix", "{v} softmax({s})")
def values_on_the_left(weights, q, k, v):
    """You put the values to the left of the weights, so features were mixed and not tokens. It
    only runs when everything is square. Over which axis of the values should the weights add?"""
    return v @ weights


@slip("mix", "softmax({s}) {k}")
def keys_as_values(weights, q, k, v):
    """You mixed the keys. A key is there to be found; what is handed over is something else.
    Which role holds what a token contributes?

    Seen in yflyzhang/AnnotatedTransformer#1.
    """
    return weights @ k


@slip("mix", "softmax({s}) {q}")
def queries_as_values(weights, q, k, v):
    """You mixed the queries. A query says what a token looks for, not what it hands over. Which
    role holds what a token contributes?"""
    return weights @ q
