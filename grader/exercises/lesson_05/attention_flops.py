"""attention_flops"""

from grader.exercise import Exercise
from grader.probes import EDGES, Draw, Probe

#: counts are whole numbers; a float that holds one is as good
EXACT = {"rtol": 1e-12, "atol": 0.0}

exercise = Exercise(
    "attention_flops",
    "05-order-and-cost",
    place=4,
    points=1,
    signature="attention_flops(T, d_k, d_v) -> int",
    hints=(
        "There are two matrix products, one for the scores and one for the context. How many "
        "numbers come out of each?",
        "One score is a dot product of d_k numbers: d_k multiplications and about as many "
        "additions. What is one number of the context?",
        "Step score: T² numbers of 2 d_k operations. Step mix: T · d_v numbers of 2 T operations.",
        "return 2 * T**2 * d_k + 2 * T**2 * d_v",
    ),
)


@exercise.probe
def _(draw: Draw):
    for T, d_k, d_v in ((5, 7, 3), (12, 2, 6), (1000, 64, 48), (9, 17, 31), (40, 5, 40)):
        yield Probe(f"T = {T}, d_k = {d_k}, d_v = {d_v}", (T, d_k, d_v), **EXACT)
    yield Probe("one token of one feature", (1, 1, 1), EDGES, **EXACT)


@exercise.reference
def two_products(T: int, d_k: int, d_v: int) -> int:
    return 2 * T**2 * d_k + 2 * T**2 * d_v


@exercise.twin
def counted_in_loops(T: int, d_k: int, d_v: int) -> int:
    operations = 0
    for _ in range(T):  # each query
        operations += sum(d_k + d_k for _ in range(T))  # meets each key
        operations += sum(T + T for _ in range(d_v))  # and each feature of its context
    return operations


@exercise.variant
def factored(T, d_k, d_v):
    return 2 * T * T * (d_k + d_v)


@exercise.variant
def as_a_float(T, d_k, d_v):
    return 2.0 * T**2 * (d_v + d_k)


@exercise.variant
def product_by_product(T, d_k, d_v):
    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    return product(T, d_k, T) + product(T, T, d_v)


@exercise.wrong("T² d_k + T² d_v")
def half_of_it(T, d_k, d_v):
    """You counted half: a multiplication with its addition as one, or half of the matrix alone.
    Here each of the two operations counts, and every token sees every token. How many operations
    has a dot product of d_k numbers?"""
    return T**2 * d_k + T**2 * d_v


@exercise.wrong("2 T² d_k")
def scores_only(T, d_k, d_v):
    """You counted the product that makes the scores. There is one more. Which step multiplies the
    weights with something?"""
    return 2 * T**2 * d_k


@exercise.wrong("2 T² d_v")
def mix_only(T, d_k, d_v):
    """You counted the product that makes the context. There is one before it. Which step
    multiplies queries with keys?"""
    return 2 * T**2 * d_v


@exercise.wrong("2 T² d_k + T² d_v")
def first_product_doubled(T, d_k, d_v):
    """You counted additions in the scores, but not in the mix. How is one number of the context
    made?"""
    return 2 * T**2 * d_k + T**2 * d_v


@exercise.wrong("T² d_k + 2 T² d_v")
def second_product_doubled(T, d_k, d_v):
    """You counted additions in the mix, but not in the scores. How is one score made?"""
    return T**2 * d_k + 2 * T**2 * d_v


@exercise.wrong("4 T² d_k")
def d_k_for_both(T, d_k, d_v):
    """Both products were counted with d_k. The second one mixes values. How long is a value?"""
    return 4 * T**2 * d_k


@exercise.wrong("4 T² d_v")
def d_v_for_both(T, d_k, d_v):
    """Both products were counted with d_v. The first one compares queries and keys. How long are
    they?"""
    return 4 * T**2 * d_v


@exercise.wrong("2 T d_k + 2 T d_v")
def linear_in_T(T, d_k, d_v):
    """You counted one key for each query. Every query meets all T keys. How many pairs are
    there?"""
    return 2 * T * d_k + 2 * T * d_v


@exercise.wrong("2 T d_k² + 2 T d_v²")
def square_of_the_features(T, d_k, d_v):
    """You squared the features and not the tokens, as one counts a linear map of each token. What
    meets what in attention, features or tokens?"""
    return 2 * T * d_k**2 + 2 * T * d_v**2


@exercise.wrong("4T d_k + 4T d_v")
def twice_T(T, d_k, d_v):
    """You took two times T where T times T is meant. In Python T * 2 is not T**2. How many pairs
    of a query and a key are there?"""
    return 2 * (T * 2) * d_k + 2 * (T * 2) * d_v


@exercise.wrong("2 (T XOR 2) d_k + 2 (T XOR 2) d_v")
def caret(T, d_k, d_v):
    """You wrote T ^ 2. In Python the caret compares bits and raises nothing to a power. How does
    Python write a square?"""
    return 2 * (T ^ 2) * (d_k + d_v)


@exercise.wrong("2T XOR 2 (d_k + d_v)")
def caret_between_products(T, d_k, d_v):
    """You wrote T^2. In Python the caret compares bits, and it waits until the products on both
    sides of it are done. How does Python write a square?"""
    return 2 * T ^ 2 * (d_k + d_v)


@exercise.wrong("2 (d_k + d_v) T XOR 2")
def caret_at_the_end(T, d_k, d_v):
    """You wrote T^2 at the end. In Python the caret compares bits, and it waits until the product
    before it is done. How does Python write a square?"""
    return 2 * (d_k + d_v) * T ^ 2


@exercise.wrong("2T XOR (2 d_k + 2T) XOR 2 d_v")
def caret_between_sums(T, d_k, d_v):
    """You wrote T^2 twice. In Python the caret compares bits, and it waits until the products and
    sums on both sides of it are done. How does Python write a square?"""
    return 2 * T ^ 2 * d_k + 2 * T ^ 2 * d_v


@exercise.wrong("2 T³ d_k + 2 T³ d_v")
def cubed(T, d_k, d_v):
    """You counted T once too often. One score is a dot product of d_k numbers, and there are T²
    scores. Which of your factors stands for nothing?"""
    return 2 * T**3 * (d_k + d_v)


@exercise.wrong("2 T² d_k d_v")
def sizes_multiplied(T, d_k, d_v):
    """You multiplied the sizes of the two products. They are done one after the other, not one
    within the other. What does one do with the costs of two steps?"""
    return 2 * T**2 * d_k * d_v


@exercise.wrong("2 T² d_k · 2 T² d_v")
def products_multiplied(T, d_k, d_v):
    """You multiplied the costs of the two products. They are done one after the other, not one
    within the other. What does one do with the costs of two steps?"""
    return (2 * T**2 * d_k) * (2 * T**2 * d_v)


@exercise.wrong("T² (2 d_k - 1) + T d_v (2T - 1)")
def one_addition_less(T, d_k, d_v):
    """You counted one addition less than multiplications in each sum, which is what a dot product
    needs at least. Here each multiplication comes with one addition, as is usual. By how much do
    the two counts differ?"""
    return T**2 * (2 * d_k - 1) + T * d_v * (2 * T - 1)


@exercise.wrong("2 T² d_k + 2 T² d_v + 3 T²")
def softmax_counted(T, d_k, d_v):
    """You counted the softmax as well, with three operations for each score. The task leaves it
    out. How much does it add to 2 d_k + 2 d_v operations for each pair?"""
    return 2 * T**2 * (d_k + d_v) + 3 * T**2


@exercise.wrong("2 T² d_k + 2 T² d_v + T²")
def scale_counted(T, d_k, d_v):
    """You counted one more operation for each score, such as the division by √d_k. The task counts
    the two products alone. How much does it add to 2 d_k + 2 d_v operations for each pair?"""
    return 2 * T**2 * (d_k + d_v) + T**2


@exercise.wrong("T² + T d_v")
def results_counted(T, d_k, d_v):
    """You counted the numbers that come out of the two products, not the operations that make
    them. How many operations does one score take?"""
    return T**2 + T * d_v


@exercise.wrong("T (T + 1) d_k + T (T + 1) d_v")
def lower_triangle(T, d_k, d_v):
    """You counted the pairs on and below the diagonal. Without a mask, which keys does the first
    query meet?"""
    return T * (T + 1) * (d_k + d_v)
