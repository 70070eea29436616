"""What goes wrong in a module with heads around its attention: cut, joined, mixed, and told when.

Each replaces some of the module's `Parts`. Two that replace different ones can be made together,
and so can each of them with a slip of attention.
"""

from collections.abc import Callable

import torch

from grader.attention.heads import ROLES, Parts, by_role, heads_module, merge, split
from grader.exercise import Exercise

_DECLARED: list[tuple[Callable, str, str, dict]] = []


def add_head_mistakes(exercise: Exercise) -> None:
    for function, formula, step, replaced in _DECLARED:
        made = heads_module(Parts(**replaced))
        made.__name__, made.__doc__ = function.__name__, function.__doc__
        exercise.wrong(formula, step, _onto(replaced))(made)


def _onto(replaced: dict) -> Callable:
    last = _place(replaced)

    def onto(other: Callable) -> Callable | None:
        parts = getattr(other, "parts", None)
        if parts is None or parts.replaced.keys() & replaced.keys():
            return None
        each_pair_once = hasattr(other, "slip") or _place(parts.replaced) < last
        return heads_module(parts._replace(**replaced)) if each_pair_once else None

    return onto


def _place(replaced: dict) -> int:
    return min(Parts._fields.index(name) for name in replaced)


def instead_of(part: str, formula: str, step: str = "", **also: object) -> Callable:
    """Declare a mistake: the part that the function replaces, and others that go with it."""

    def register(function: Callable) -> Callable:
        _DECLARED.append((function, formula, step, {part: function, **also}))
        return function

    return register


# -- the cut --------------------------------------------------------------------------------------


@instead_of("cut", "the heads cut by reading on, x as (n_heads, T, head_size)")
def view_split(x, n_heads):
    """Your heads have the right shape and the wrong numbers: the projections were read on in
    memory order, so the first head gets the first tokens whole, cut into pieces. Which axis should
    be cut in two, and which two axes change places after that?

    Seen in reczoo/FuxiCTR#30, hyunwoongko/transformer#15,
    649453932/Chinese-Text-Classification-Pytorch#10.
    """
    *lead, T, d_model = x.shape
    return x.reshape(*lead, n_heads, T, d_model // n_heads)


def _read_on(x):
    *lead, n_heads, T, size = x.shape
    return x.reshape(*lead, T, n_heads * size)


@instead_of("cut", "the heads cut and joined by reading on, without a transpose", join=_read_on)
def view_both_ways(x, n_heads):
    """You cut the heads by reading on in memory order, and joined them in the same way. The second
    undoes the first, so a test that goes there and back is content. But what did the heads
    attend to in between?

    Seen in reczoo/FuxiCTR#30, 649453932/Chinese-Text-Classification-Pytorch#53.
    """
    return view_split(x, n_heads)


def _dealt(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).movedim(-1, -3)


@instead_of("cut", "head h made of the features h, h + n_heads, h + 2 n_heads, ...")
def interleaved_split(x, n_heads):
    """You dealt the features out to the heads like cards. A head is a block of neighbouring
    features. Which of the two new axes should come first when the last axis is cut?"""
    return _dealt(x, n_heads)


def _collected(x):
    return x.movedim(-3, -1).flatten(-2)


@instead_of("cut", "every n_heads-th feature to a head, and back in the same way", join=_collected)
def interleaved_both_ways(x, n_heads):
    """You dealt the features out to the heads like cards, and collected them in the same way. The
    second undoes the first, so a test that goes there and back is content. Which features should
    meet in one head?"""
    return _dealt(x, n_heads)


@instead_of("cut", "head_size heads of n_heads features each")
def number_and_size_exchanged(x, n_heads):
    """You made as many heads as a head should have features, and gave each as many features as
    there should be heads. In which order do the two new sizes stand in your cut?"""
    return split(x, x.shape[-1] // n_heads)


@instead_of("cut", "one head of d_model features, whatever n_heads is")
def one_big_head(x, n_heads):
    """Your attention never was cut into heads: one softmax over all features, whatever n_heads
    says. Where in forward does n_heads come in?"""
    return split(x, 1)


# -- the maps -------------------------------------------------------------------------------------


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


# -- joined and mixed -----------------------------------------------------------------------------


@instead_of("join", "the heads joined by reading on, without a transpose")
def view_merge(x):
    """You joined the heads by reading on in memory order, so a row of the result holds several
    tokens of one head. Which two axes must change places before the last two become one?

    Seen in jsbaan/transformer-from-scratch#4, ajhalthor/Transformer-Neural-Network#1,
    hackiey/QAnet-pytorch#2, jadore801120/attention-is-all-you-need-pytorch#7.
    """
    return _read_on(x)


@instead_of("join", "feature 0 of all heads, then feature 1 of all heads, ...")
def interleaved_merge(x):
    """You joined the heads feature by feature, shuffled like cards. Each head should stay together.
    Which varies faster in a row of the result, the heads or the features?"""
    return _collected(x)


@instead_of("join", "the heads side by side, the last one first")
def heads_reversed(x):
    """The heads stand side by side in reverse order, so W_o mixes others than it was made for.
    Which features of a row belong to head 0?"""
    return merge(x.flip(-3))


@instead_of("join", "the heads averaged, without W_o", finish=lambda merged, W_o: merged)
def mean_of_heads(x):
    """You averaged the heads, and what one of them found is blurred by the others. What keeps all
    of it, and which matrix mixes it afterwards?

    Seen in broadinstitute/CellCap#40.
    """
    return x.mean(dim=-3)


@instead_of("join", "the heads added up, without W_o", finish=lambda merged, W_o: merged)
def sum_of_heads(x):
    """You added the heads up, and what one of them found can no longer be told from the others.
    What keeps all of it, and which matrix mixes it afterwards?"""
    return x.sum(dim=-3)


@instead_of("join", "1/n_heads of the right result")
def divided_by_the_heads(x):
    """You took the mean over the heads where their sum is meant: every number is too small by the
    number of heads. Does a product with W_o add up or average?"""
    return merge(x) / x.shape[-3]


@instead_of("finish", "the heads side by side, without W_o")
def no_output_map(merged, W_o):
    """You gave back the heads side by side. W_o is there but never used, so what one head found
    never meets what another found. Which step is missing?

    Seen in ethen8181/machine-learning#13, Kyubyong/transformer#17, jwallbridge/translob#4.
    """
    return merged


@instead_of("finish", "W_o not transposed")
def output_map_not_transposed(merged, W_o):
    """You multiplied by the weight of W_o as it is stored. It is square, so nothing crashes. What
    does nn.Linear do with its weight before it multiplies?

    Seen in rasbt/LLMs-from-scratch#857, AaltoML/SUQ#2.
    """
    return merged @ W_o


@instead_of("project", "W_o on the values, before the heads", finish=lambda merged, W_o: merged)
def output_map_before_the_heads(module, x):
    """You applied W_o before the heads had attended. Then it mixes the features of one token, and
    never what the heads have found. What stands side by side when W_o comes?"""
    q, k, v = by_role(module, x)
    return q, k, module.W_o(v)


# -- told when to mask ----------------------------------------------------------------------------


@instead_of("flag", "masked always, whatever causal is", "mask")
def flag_ignored(causal):
    """Later keys are hidden even with causal=False. Where in your code is the flag looked at, and
    was it kept in __init__?"""
    return True


@instead_of("flag", "masked when causal is False, and not when it is True", "mask")
def flag_inverted(causal):
    """You hide the later keys when causal is False, and show them when it is True. Which of the two
    does 'causal' mean?"""
    return not causal


@instead_of("flag", "masked only if causal=True is said", "mask", default=False)
def not_causal_by_default(causal):
    """Without the third argument your module hides nothing. Which value does the task give causal
    when nothing is said?"""
    return causal
