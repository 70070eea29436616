"""The heads cut in a wrong way, alone or undone by a join that is wrong in the same way."""

from grader.attention.heads import merge, split
from grader.attention.parts.part import instead_of


def read_on(x):
    *lead, n_heads, T, size = x.shape
    return x.reshape(*lead, T, n_heads * size)


def collected(x):
    return x.movedim(-3, -1).flatten(-2)


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


@instead_of("cut", "the heads cut and joined by reading on, without a transpose", join=read_on)
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


@instead_of("cut", "every n_heads-th feature to a head, and back in the same way", join=collected)
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


@instead_of(
    "cut", "in each token the heads attend to each other", "score", join=lambda x: x.flatten(-2)
)
def heads_attend_to_each_other(x, n_heads):
    """Your heads stand behind the tokens, so the scores are those of the heads of one token with
    each other, and no token hears of another. What do the last two axes of the queries have to be
    for a matrix product?

    Seen in kyegomez/FlashMHA#1.
    """
    return x.unflatten(-1, (n_heads, -1))


def _tokens_first(x):
    return x.transpose(0, -2) if x.dim() > 3 else x


@instead_of(
    "cut",
    "with a batch, the items attend to each other",
    "score",
    join=lambda x: merge(_tokens_first(x)),
)
def items_attend_to_each_other(x, n_heads):
    """With a batch, it is the items that attend to each other, token by token: axis 0 was taken for
    the tokens. Which axis do the scores of one query run along?

    Seen in om-ai-lab/OmDet#19, aipixel/AEMatter#3, kyegomez/movie-gen#8.
    """
    return _tokens_first(split(x, n_heads))
