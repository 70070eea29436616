"""query_scores"""

import torch
from torch import Tensor

from grader.exercise import Exercise
from grader.probes import EDGES, FLOAT64, LARGE, LAYOUT, SQUARE, Draw, Probe, strided

exercise = Exercise(
    "query_scores",
    "02-dot-product-weights",
    place=1,
    points=1,
    signature="query_scores(x, i) -> (T,)",
    hints=(
        "Row i of x is the query. With which rows is it compared?",
        "A dot product multiplies number by number and adds up. How many sums are there?",
        "Step score: the matrix x times one of its own rows gives all T dot products.",
        "x @ x[i]",
    ),
)


@exercise.probe
def _(draw: Draw):
    yield Probe("5×3, query 1", (draw(5, 3), 1))
    yield Probe("other 5×3, query 1", (draw(5, 3), 1))
    yield Probe("5×3, query 0", (draw(5, 3), 0))
    yield Probe("67×2, the last query", (draw(67, 2), 66))
    yield Probe("6×8, query 3, float64", (draw(6, 8), 3), FLOAT64).exact
    yield Probe("7×2, query 4, not contiguous", (strided(draw(7, 2)), 4), LAYOUT)
    yield Probe("4×4, query 2", (draw(4, 4), 2), SQUARE)
    yield Probe("one token", (draw(1, 3), 0), EDGES)
    yield Probe("one feature", (draw(6, 1), 5), EDGES)
    yield Probe("values near 1e5", (1e5 * draw(5, 3).double(), 2), LARGE)


@exercise.reference
def rows_times_query(x: Tensor, i: int) -> Tensor:
    return x @ x[i]


@exercise.twin
def products_added_up(x: Tensor, i: int) -> Tensor:
    return torch.stack([sum(a * b for a, b in zip(row, x[i], strict=True)) for row in x])


@exercise.variant
def one_row_of_all_scores(x, i):
    return (x @ x.T)[i]


@exercise.variant
def scores_by_einsum(x, i):
    return torch.einsum("td,d->t", x, x[i])


@exercise.variant
def scores_by_broadcasting(x, i):
    return (x * x[i]).sum(dim=1)


@exercise.wrong("x * x[i], not added up", "score")
def products_not_added(x, i):
    """You multiplied number by number but did not add up, so each token has d scores instead of
    one. What turns d products into one dot product?"""
    return x * x[i]


@exercise.wrong("x * x[i], added up over the tokens", "score")
def added_up_over_the_tokens(x, i):
    """You added the products up over the tokens, so there is one number for each feature. Which
    axis of the products belongs to one token?"""
    return (x * x[i]).sum(dim=0)


@exercise.wrong("x * x[i], all added up", "score")
def one_number(x, i):
    """You added up all products, so one number is left for all tokens. Over which axis must the
    products be added, so that each token keeps a score of its own?"""
    return (x * x[i]).sum()


@exercise.on_top("the cosine of each row and row i", "score")
def cosine(kernel, x, i):
    """You divided by the lengths of the vectors, which makes cosines of the dot products. Does
    the formula mention lengths?"""
    return kernel(torch.nn.functional.normalize(x, dim=-1), i)


@exercise.wrong("-(x - x[i])², added up", "score")
def negative_distance(x, i):
    """You measured how far each token is from the query. A dot product also grows with length.
    Which two numbers are multiplied in a dot product?"""
    return -(x - x[i]).pow(2).sum(dim=-1)


@exercise.wrong("the squared distance of each row to row i", "score")
def squared_distance(x, i):
    """You squared the differences to the query and added them up: the squared distance, which is 0
    for the query itself. Which two numbers are multiplied in a dot product?"""
    return (x - x[i]).pow(2).sum(dim=-1)


@exercise.wrong("the distance of each row to row i", "score")
def distance(x, i):
    """You measured the distance of each token to the query, so close tokens score low. Should a
    token that points the same way have a high score or a low one?"""
    return (x - x[i]).norm(dim=-1)


@exercise.wrong("x @ x[:, i]", "score")
def column_as_query(x, i):
    """You took column i as the query: one feature of all tokens. It only runs when x is square.
    Where does the vector of token i stand?"""
    return x @ x[:, i]


@exercise.wrong("xᵀ @ x[i]", "score")
def x_transposed(x, i):
    """Features met features: x[i] met the columns of x, not its rows. It only runs when x is
    square. Over which axis should the products be added?"""
    return x.T @ x[i]


@exercise.on_top("x @ x[i] / √d", "scale")
def scores_scaled(kernel, x, i):
    """You divided by the root of d. That step comes in lesson 3; here the plain dot product is
    asked. Which step of the five is this one?"""
    return kernel(x, i) / x.shape[-1] ** 0.5


@exercise.on_top("x @ x[i] / d", "scale")
def mean_of_products(kernel, x, i):
    """You took the mean of the products instead of their sum. What does a dot product do with the
    products?"""
    return kernel(x, i) / x.shape[-1]


@exercise.on_top("|x @ x[i]|", "score")
def sign_dropped(kernel, x, i):
    """You dropped the sign of the scores. Then a token that points the other way scores as high as
    one that points the same way. What does a negative dot product say?"""
    return kernel(x, i).abs()


@exercise.on_top("x @ x[i], with a 0 at place i", "mask")
def own_score_zeroed(kernel, x, i):
    """The query's score with itself is 0 in your result. The query is compared with every row of x.
    Is row i one of them?"""
    return kernel(x, i) * (torch.arange(len(x)) != i)


@exercise.on_top("x @ x[i], without place i", "mask")
def own_score_left_out(kernel, x, i):
    """You left the query out, so one score is missing. The query is compared with every row of x.
    Is row i one of them?"""
    return kernel(x, i)[torch.arange(len(x)) != i]


@exercise.on_top("softmax(x @ x[i])", "normalise")
def weights_not_scores(kernel, x, i):
    """You went one step too far: these are weights already. Scores come before the softmax. Which
    step of the five is this one?"""
    return torch.softmax(kernel(x, i), dim=-1)


@exercise.on_top("x @ x[0], whatever i is", "score")
def always_the_first(kernel, x, i):
    """You always used token 0 as the query. Where does i come in?"""
    return kernel(x, 0)


@exercise.on_top("x @ x[1], whatever i is", "score")
def always_the_second(kernel, x, i):
    """You always used token 1, as the example in the text does. Where does i come in?"""
    return kernel(x, 1)


@exercise.on_top("x @ x[i - 1]", "score")
def counted_from_one(kernel, x, i):
    """You used token i - 1 as the query, as if the tokens were counted from 1. Which row is it that
    x calls its first?"""
    return kernel(x, i - 1)


@exercise.on_top("x @ x[i], as a column", "score")
def as_a_column(kernel, x, i):
    """The numbers are right, but they stand in a column: there is an axis of length 1 too many. How
    many axes have T scores of one query?"""
    return kernel(x, i).unsqueeze(-1)


@exercise.wrong("x @ xᵀ, all queries", "score")
def all_queries(x, i):
    """You computed the scores of all queries at once. Only those of query i are asked for. Which
    row of your matrix is it?"""
    return x @ x.T


@exercise.on_top("x @ x[-1], whatever i is", "score")
def always_the_last(kernel, x, i):
    """You always used the last token as the query. Where does i come in?"""
    return kernel(x, len(x) - 1)
