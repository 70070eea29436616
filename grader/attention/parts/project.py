"""The maps to queries, keys and values used in a wrong way."""

import torch

from grader.attention.heads import ROLES, by_role
from grader.attention.parts.part import instead_of


@instead_of("project", "q, k and v = x times the stored weight, not transposed", "score")
def weights_not_transposed(module, x):
    """You multiplied by the weights of queries, keys and values as they are stored. They are
    square, so nothing crashes and the numbers are silently others. What does nn.Linear do with
    its weight before it multiplies?

    Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2, the PyTorch forum, "Understanding
    nn.MultiheadAttention".
    """
    return tuple(x @ getattr(module, name).weight for name in ROLES)


@instead_of("project", "v = x", "mix")
def values_not_projected(module, x):
    """You mixed x itself: W_v is never used. What does a token hand over once it is picked?

    Seen in hmdolatabadi/denoising_diffusion#1.
    """
    return (*by_role(module, x)[:2], x)


@instead_of("project", "q = x W_v and v = x W_q", "score")
def queries_and_values_exchanged(module, x):
    """Queries and values have changed places: W_v made the vectors that ask, and W_q those that
    are handed over. Which map makes which role?"""
    q, k, v = by_role(module, x)
    return v, k, q


@instead_of("project", "q, k and v side by side, read as (n_heads, 3 head_size)", "score")
def fused_in_another_layout(module, x):
    """You laid queries, keys and values side by side, and then cut all of it into heads before you
    told them apart, so heads get queries for keys. Which cut comes first, that into three roles
    or that into heads?

    Seen in awslabs/slapo#46, Oneflow-Inc/libai#146.
    """
    fused = torch.cat(by_role(module, x), dim=-1)
    heads = fused.unflatten(-1, (module.n_heads, 3, -1))
    return tuple(role.flatten(-2) for role in heads.unbind(-2))


@instead_of("project", "W_o on the values, before the heads", finish=lambda merged, W_o: merged)
def output_map_before_the_heads(module, x):
    """You applied W_o before the heads had attended. Then it mixes the features of one token, and
    never what the heads have found. What stands side by side when W_o comes?"""
    q, k, v = by_role(module, x)
    return q, k, module.W_o(v)
