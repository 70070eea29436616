"""score_bytes"""

from grader.exercise import Exercise
from grader.probes import EDGES, Draw, Probe

#: counts are whole numbers; a result in other units is rounded by less
EXACT = {"rtol": 1e-12, "atol": 0.0}

exercise = Exercise(
    "score_bytes",
    "05-order-and-cost",
    place=3,
    points=1,
    signature="score_bytes(batch, n_heads, T, itemsize) -> int",
    hints=(
        "How many scores does one sentence make in one head, when every token meets every token?",
        "Each sentence of the batch, and each head, has a score matrix of its own.",
        "Count the numbers first, then multiply by the bytes of each.",
        "return batch * n_heads * T**2 * itemsize",
    ),
)


@exercise.probe
def _(draw: Draw):
    for batch, n_heads, T, itemsize in (
        (3, 5, 7, 2), (2, 12, 1000, 4), (16, 32, 8192, 2), (7, 1, 13, 8), (1, 6, 40, 4),
    ):  # fmt: skip
        label = f"batch {batch}, {n_heads} heads, T = {T}, {itemsize} bytes each"
        yield Probe(label, (batch, n_heads, T, itemsize), **EXACT)
    yield Probe("one token, one byte", (2, 3, 1, 1), EDGES, **EXACT)


@exercise.reference
def every_pair_of_tokens(batch: int, n_heads: int, T: int, itemsize: int) -> int:
    return batch * n_heads * T**2 * itemsize


@exercise.twin
def counted_one_by_one(batch: int, n_heads: int, T: int, itemsize: int) -> int:
    rows = 0
    for _ in range(batch):
        for _ in range(n_heads):
            rows += T
    return sum(T * itemsize for _ in range(rows))


@exercise.variant
def as_a_float(batch, n_heads, T, itemsize):
    return float(batch) * n_heads * T * T * itemsize


@exercise.variant
def row_by_row(batch, n_heads, T, itemsize):
    row = T * itemsize
    head = T * row
    return batch * (n_heads * head)


@exercise.variant
def with_pow(batch, n_heads, T, itemsize):
    return itemsize * pow(T, 2) * batch * n_heads


@exercise.wrong("batch · n_heads · T · itemsize")
def linear_in_T(batch, n_heads, T, itemsize):
    """You counted one score for each token. Each token has a score with every token. How many
    pairs of a query and a key are there?"""
    return batch * n_heads * T * itemsize


@exercise.wrong("batch · n_heads · 2T · itemsize")
def twice_T(batch, n_heads, T, itemsize):
    """You took two times T where T times T is meant. In Python T * 2 is not T**2. How many
    pairs of a query and a key are there?"""
    return batch * n_heads * T * 2 * itemsize


@exercise.wrong("batch · n_heads · (T XOR 2) · itemsize")
def caret(batch, n_heads, T, itemsize):
    """You wrote T ^ 2. In Python the caret compares bits and raises nothing to a power. How does
    Python write a square?"""
    return batch * n_heads * (T ^ 2) * itemsize


@exercise.wrong("(batch · n_heads · T) XOR (2 · itemsize)")
def caret_between_products(batch, n_heads, T, itemsize):
    """You wrote T^2. In Python the caret compares bits, and it waits until the products on both
    sides of it are done. How does Python write a square?"""
    return batch * n_heads * T ^ 2 * itemsize


@exercise.wrong("(batch · n_heads · itemsize · T) XOR 2")
def caret_at_the_end(batch, n_heads, T, itemsize):
    """You wrote T^2 at the end. In Python the caret compares bits, and it waits until the product
    before it is done. How does Python write a square?"""
    return batch * n_heads * itemsize * T ^ 2


@exercise.wrong("batch · T² · itemsize")
def without_heads(batch, n_heads, T, itemsize):
    """You counted one score matrix for each sentence, though every head makes its own. Do two
    heads give the same scores?"""
    return batch * T**2 * itemsize


@exercise.wrong("n_heads · T² · itemsize")
def without_batch(batch, n_heads, T, itemsize):
    """You counted one sentence. Every sentence of the batch has scores of its own. How many are
    worked on at once?"""
    return n_heads * T**2 * itemsize


@exercise.wrong("T² · itemsize")
def one_matrix(batch, n_heads, T, itemsize):
    """You counted the bytes of one score matrix. Every head of every sentence makes one. How many
    are there?"""
    return T**2 * itemsize


@exercise.wrong("batch · T² · itemsize / n_heads")
def shared_among_heads(batch, n_heads, T, itemsize):
    """You shared the scores out among the heads. Heads share the features among them, and each
    still compares all pairs of tokens. Which size does a head make smaller?"""
    return batch * T**2 * itemsize / n_heads


@exercise.wrong("batch · n_heads · T² · itemsize / 2")
def half_of_the_matrix(batch, n_heads, T, itemsize):
    """You counted half of the score matrix. Without a mask every token sees every token, and even
    with one the whole matrix is stored. How many entries has it?"""
    return batch * n_heads * T**2 * itemsize // 2


@exercise.wrong("batch · n_heads · T (T + 1) / 2 · itemsize")
def lower_triangle(batch, n_heads, T, itemsize):
    """You counted the entries on and below the diagonal. Without a mask every token sees every
    token, and even with one the whole matrix is stored. How many entries has it?"""
    return batch * n_heads * T * (T + 1) // 2 * itemsize


@exercise.wrong("batch · n_heads · T (T - 1) · itemsize")
def without_itself(batch, n_heads, T, itemsize):
    """You left out the score of each token with itself. Does a token take part in its own
    average?"""
    return batch * n_heads * T * (T - 1) * itemsize


@exercise.wrong("batch · n_heads · T²")
def numbers_not_bytes(batch, n_heads, T, itemsize):
    """You counted the scores and not their bytes. How many bytes does one number take?"""
    return batch * n_heads * T**2


@exercise.wrong("batch · n_heads · T² · 4")
def always_float32(batch, n_heads, T, itemsize):
    """You counted 4 bytes for each score whatever its type. That is right for float32 alone. Which
    argument says how many bytes one takes?"""
    return batch * n_heads * T**2 * 4


@exercise.wrong("batch · n_heads · T² · itemsize · 8")
def bits(batch, n_heads, T, itemsize):
    """You counted bits, eight for each byte. In which unit is itemsize given, and in which should
    the answer be?"""
    return batch * n_heads * T**2 * itemsize * 8


@exercise.wrong("batch · n_heads · T² · itemsize / 8")
def itemsize_in_bits(batch, n_heads, T, itemsize):
    """You divided by 8, as if itemsize were given in bits. In which unit is it given?"""
    return batch * n_heads * T**2 * itemsize / 8


@exercise.wrong("batch · n_heads · T² · itemsize / 1024")
def kibibytes(batch, n_heads, T, itemsize):
    """You went on to units of 1024 bytes. In which unit should the answer be?"""
    return batch * n_heads * T**2 * itemsize / 1024


@exercise.wrong("batch · n_heads · T² · itemsize / 1024²")
def mebibytes(batch, n_heads, T, itemsize):
    """You went on to units of 1024 · 1024 bytes. In which unit should the answer be?"""
    return batch * n_heads * T**2 * itemsize / 1024**2


@exercise.wrong("batch · n_heads · T² · itemsize / 1024³")
def gibibytes(batch, n_heads, T, itemsize):
    """You went on to units of 1024 · 1024 · 1024 bytes. In which unit should the answer be?"""
    return batch * n_heads * T**2 * itemsize / 1024**3


@exercise.wrong("batch · n_heads · T² · itemsize / 10⁹")
def gigabytes(batch, n_heads, T, itemsize):
    """You went on to units of a thousand million bytes. In which unit should the answer be?"""
    return batch * n_heads * T**2 * itemsize / 10**9


@exercise.wrong("2 · batch · n_heads · T² · itemsize")
def weights_as_well(batch, n_heads, T, itemsize):
    """You counted two such tensors, as if the weights were meant as well. How many tensors does
    the task ask about?"""
    return 2 * batch * n_heads * T**2 * itemsize


@exercise.wrong("batch · (n_heads · T)² · itemsize")
def heads_squared(batch, n_heads, T, itemsize):
    """You squared the number of heads along with T, as if the tokens of one head met those of
    every other. Which tokens does a query meet?"""
    return batch * (n_heads * T) ** 2 * itemsize


@exercise.wrong("n_heads · (batch · T)² · itemsize")
def batch_squared(batch, n_heads, T, itemsize):
    """You squared the batch along with T, as if the tokens of one sentence met those of every
    other. Which tokens does a query meet?"""
    return n_heads * (batch * T) ** 2 * itemsize


@exercise.wrong("(batch · n_heads · T)² · itemsize")
def everything_squared(batch, n_heads, T, itemsize):
    """You squared the batch and the heads along with T. Which tokens does a query meet?"""
    return (batch * n_heads * T) ** 2 * itemsize


@exercise.wrong("(batch + n_heads + T²) · itemsize")
def added_up(batch, n_heads, T, itemsize):
    """You added the sizes where they multiply: each sentence has all the heads, and each head a
    whole matrix. How many numbers has a tensor of shape (2, 3, 4)?"""
    return (batch + n_heads + T**2) * itemsize
