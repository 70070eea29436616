"""The heads joined in a wrong way, or not mixed afterwards."""

from grader.attention.heads import merge
from grader.attention.parts.cut import collected, read_on
from grader.attention.parts.part import instead_of


@instead_of("join", "the heads joined by reading on, without a transpose")
def view_merge(x):
    """You joined the heads by reading on in memory order, so a row of the result holds several
    tokens of one head. Which two axes must change places before the last two become one?

    Seen in jsbaan/transformer-from-scratch#4, ajhalthor/Transformer-Neural-Network#1,
    hackiey/QAnet-pytorch#2, jadore801120/attention-is-all-you-need-pytorch#7.
    """
    return read_on(x)


@instead_of("join", "the heads joined by reading on, axes 1 and 2 exchanged before")
def axes_1_and_2_joined(x):
    """You exchanged axes 1 and 2 before you joined the heads. With one batch axis those are heads
    and tokens; without one, or with two, they are others. Which numbers mean the same two axes
    however many stand in front?"""
    *lead, n_heads, T, size = x.shape
    return x.transpose(1, 2).reshape(*lead, T, n_heads * size)


@instead_of("join", "feature 0 of all heads, then feature 1 of all heads, ...")
def interleaved_merge(x):
    """You joined the heads feature by feature, shuffled like cards. Each head should stay together.
    Which varies faster in a row of the result, the heads or the features?"""
    return collected(x)


@instead_of("join", "the heads side by side, the last one first")
def heads_reversed(x):
    """The heads stand side by side in reverse order, so W_o mixes others than it was made for.
    Which features of a row belong to head 0?"""
    return merge(x.flip(-3))


@instead_of("join", "the heads averaged, without W_o", finish=lambda merged, W_o: merged)
def mean_of_heads(x):
    """You averaged the heads, and what one of them found is blurred by the others. What keeps all
    of it, and which matrix mixes it afterwards?"""
    return x.mean(dim=-3)


@instead_of("join", "the heads added up, without W_o", finish=lambda merged, W_o: merged)
def sum_of_heads(x):
    """You added the heads up, and what one of them found can no longer be told from the others.
    What keeps all of it, and which matrix mixes it afterwards?"""
    return x.sum(dim=-3)


@instead_of("join", "the largest of the heads, without W_o", finish=lambda merged, W_o: merged)
def largest_of_heads(x):
    """You took the largest value of all heads, feature by feature. The others are lost. What keeps
    all of it, and which matrix mixes it afterwards?

    Seen in broadinstitute/CellCap#40.
    """
    return x.amax(dim=-3)


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
