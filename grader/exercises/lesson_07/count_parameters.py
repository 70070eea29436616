"""count_parameters"""

from grader.exercise import Exercise
from grader.probes import EDGES, SQUARE, Draw, Probe

exercise = Exercise(
    "count_parameters",
    "07-multi-head",
    place=3,
    points=1,
    signature="count_parameters(d_model, n_heads) -> int",
    hints=(
        "Name the matrices of one layer. Which of them makes no query, key or value?",
        "All heads together: how many columns has W_q, when each head gets head_size of them?",
        "W_q is (d_model, n_heads · head_size). What is n_heads · head_size?",
        "4 * d_model**2",
    ),
)


@exercise.probe
def _(draw: Draw):
    for d_model, n_heads in ((12, 3), (12, 4), (20, 5), (96, 8), (128, 4), (30, 15), (27, 9)):
        yield _exactly(d_model, n_heads)
    yield _exactly(7, 7, SQUARE)
    yield _exactly(10, 1, EDGES)
    yield _exactly(1, 1, EDGES)


def _exactly(d_model: int, n_heads: int, *shows: str) -> Probe:
    """A count is exact: one too many is not rounding."""
    label = f"d_model = {d_model}, n_heads = {n_heads}"
    return Probe(label, (d_model, n_heads), *shows, rtol=0.0, atol=0.0)


@exercise.reference
def four_squares(d_model: int, n_heads: int) -> int:
    return 4 * d_model**2


@exercise.twin
def head_by_head(d_model: int, n_heads: int) -> int:
    count = 0
    for _ in range(n_heads):
        for _ in ("W_q", "W_k", "W_v"):
            count += d_model * (d_model // n_heads)
    for _ in range(d_model):  # the rows of W_o
        count += d_model
    return count


@exercise.variant
def three_and_one(d_model, n_heads):
    return 3 * d_model * d_model + d_model * d_model


@exercise.variant
def by_head_size(d_model, n_heads):
    head_size = d_model / n_heads
    return round(n_heads * head_size * d_model * 3 + n_heads * head_size * d_model)


@exercise.variant
def square_of_the_double(d_model, n_heads):
    return float((2 * d_model) ** 2)


@exercise.wrong("3 d_model²")
def output_map_forgotten(d_model, n_heads):
    """You counted the maps to queries, keys and values. There is a fourth, after the heads stand
    side by side again. Which one?"""
    return 3 * d_model**2


@exercise.wrong("4 d_model² · n_heads")
def times_the_heads(d_model, n_heads):
    """You gave every head maps of the full size, d_model by d_model. The heads share the features
    out among themselves. How many features does one head make?"""
    return 4 * d_model**2 * n_heads


@exercise.wrong("3 d_model² · n_heads + d_model²")
def full_maps_for_every_head(d_model, n_heads):
    """You gave every head its own maps to queries, keys and values, each of the full size d_model
    by d_model. The heads share the features out among themselves. How many features does one
    head make?"""
    return 3 * d_model**2 * n_heads + d_model**2


@exercise.wrong("4 d_model² / n_heads")
def divided_by_the_heads(d_model, n_heads):
    """You counted four maps of the size d_model by head_size: those of one head, or of heads that
    see nothing but their own features. From how many features of a token does a head make its
    query, and how many heads are there?"""
    return 4 * d_model**2 // n_heads


@exercise.wrong("3 d_model · head_size + d_model²")
def one_head_and_the_output_map(d_model, n_heads):
    """You counted the output map, and three maps of the size d_model by head_size: those of one
    head, or of heads that see nothing but their own features. From how many features of a token
    does a head make its query, and how many heads are there?"""
    return 3 * d_model * (d_model // n_heads) + d_model**2


@exercise.wrong("3 d_model · head_size")
def one_head_alone(d_model, n_heads):
    """You counted three maps of the size d_model by head_size: those of one head, or of heads that
    see nothing but their own features. From how many features of a token does a head make its
    query, how many heads are there, and what comes after them?"""
    return 3 * d_model * (d_model // n_heads)


@exercise.wrong("4 head_size²")
def four_maps_of_one_slice(d_model, n_heads):
    """You counted four maps of the size head_size by head_size. From how many features of a token
    does a head make its query, and how many heads are there?"""
    return 4 * (d_model // n_heads) ** 2


@exercise.wrong("4 · d_model ^ 2, which is 4 d_model + 2")
def xor_for_a_power(d_model, n_heads):
    """In Python ^ is no power: it compares two numbers bit by bit, after the product has been
    taken. Which operator raises a number to a power?"""
    return 4 * d_model ^ 2


@exercise.wrong("3 d_model² · n_heads")
def full_maps_and_no_output_map(d_model, n_heads):
    """You gave every head three maps of the full size, and forgot the map after the heads. How
    many features does one head make?"""
    return 3 * d_model**2 * n_heads


@exercise.wrong("4 d_model² + 4 d_model")
def with_biases(d_model, n_heads):
    """You counted a bias for each of the four maps. The maps of this course have none. What is left
    when it is taken away?

    Seen in neetcode-gh/leetcode#5219, karpathy/minGPT#93.
    """
    return 4 * d_model**2 + 4 * d_model


@exercise.wrong("4 d_model² + d_model")
def with_a_bias_at_the_end(d_model, n_heads):
    """You counted a bias for the output map. The maps of this course have none. What is left when
    it is taken away?"""
    return 4 * d_model**2 + d_model


@exercise.wrong("d_model²")
def one_map(d_model, n_heads):
    """You counted one map. A token plays three roles, and the heads are mixed at the end. How many
    maps are that?"""
    return d_model**2


@exercise.wrong("2 d_model²")
def two_maps(d_model, n_heads):
    """You counted two maps. A token plays three roles, and the heads are mixed at the end. How many
    maps are that?"""
    return 2 * d_model**2


@exercise.wrong("4 d_model")
def vectors_in_place_of_matrices(d_model, n_heads):
    """You counted d_model numbers for each map. A linear map has a number for each pair of an
    input and an output. How many pairs are that?"""
    return 4 * d_model


@exercise.wrong("d_model · n_heads")
def width_times_heads(d_model, n_heads):
    """You multiplied the two arguments. Which matrix has d_model rows and n_heads columns?"""
    return d_model * n_heads
