"""dot_product_variance"""

import math
from statistics import stdev

import torch

from grader.exercise import Exercise
from grader.laws import Law
from grader.probes import Draw, Generator, Probe

SAMPLES, D_K, N = 24, 200, 50


def estimates_spread(found: dict) -> bool:
    """Estimates from 50 products spread by 20 %; from 50 × 50 pairs, or a fixed draw, far less."""
    values = [float(value) for label, (_, value) in found.items() if label.startswith("sample")]
    if not all(map(math.isfinite, values)) or values[0] == values[1]:
        return False
    return 0.1 * D_K < stdev(values) < 0.4 * D_K


exercise = Exercise(
    "dot_product_variance",
    "04-square-root-scaling",
    place=1,
    points=2,
    signature="dot_product_variance(d_k, n, generator) -> float",
    laws=(
        Law(
            "n independent products, drawn with the generator",
            "How many dot products does your code make, when each of the n pairs needs a query and "
            "a key of its own, and every draw needs generator=generator?",
            estimates_spread,
            decisive=True,
        ),
    ),
    hints=(
        "Draw n queries and n keys of size d_k. How many dot products do you get?",
        "One dot product is a sum of d_k products. Over which axis do you add before the variance?",
        "torch.randn takes generator=...; every draw needs it, or the result cannot be repeated.",
        "q and k are torch.randn(n, d_k, generator=generator); (q * k).sum(-1).var().item()",
    ),
)


@exercise.probe
def _(draw: Draw):
    # With n normal products the estimate spreads by a factor √((2 + 6/d_k) / n): 0.17 is 6 of that.
    for d_k, n, rtol in ((6, 4000, 0.17), (23, 3000, 0.17), (1, 4000, 0.27)):
        yield Probe(f"d_k = {d_k}, n = {n}", (d_k, n, Generator(draw.seed())), rtol=rtol)
    seeds = [draw.seed() for _ in range(SAMPLES)]
    # One more with the first seed, but from a generator that has been in use.
    for i, (seed, used) in enumerate([(seeds[0], 1000), *((seed, 0) for seed in seeds)]):
        yield Probe(f"sample {i}", (D_K, N, Generator(seed, used)), compare=False)


@exercise.reference
def variance_of_sums(d_k: int, n: int, generator: torch.Generator) -> float:
    q, k = (torch.randn(n, d_k, generator=generator, dtype=torch.float64) for _ in range(2))
    return (q * k).sum(dim=-1).var().item()


@exercise.twin
def one_product_at_a_time(d_k: int, n: int, generator: torch.Generator) -> float:
    products = []
    for _ in range(n):
        q, k = torch.randn(2, d_k, generator=generator).tolist()
        products.append(sum(a * b for a, b in zip(q, k, strict=True)))
    mean = sum(products) / n
    return sum((p - mean) ** 2 for p in products) / (n - 1)


@exercise.variant
def biased_estimate(d_k, n, generator):
    q = torch.randn((n, d_k), generator=generator)
    k = torch.randn((n, d_k), generator=generator)
    return torch.einsum("nd,nd->n", q, k).var(correction=0)


@exercise.variant
def known_mean_of_zero(d_k, n, generator):
    pairs = torch.empty(2, n, d_k).normal_(generator=generator)
    return float(pairs.prod(0).sum(-1).square().mean())


@exercise.variant
def columns_as_vectors(d_k, n, generator):
    q, k = torch.randn(2, d_k, n, generator=generator).double()
    return (q * k).sum(0).std().item() ** 2


@exercise.wrong("a variance of about 1, whatever d_k is", "scale")
def variance_of_one(d_k, n, generator):
    """Your variance is about 1 whatever d_k is. That happens when the products are not added up
    before the variance is taken, or are divided by a root. What is a dot product made of?"""
    q, k = torch.randn(2, n, d_k, generator=generator)
    return (q * k).var().item()


@exercise.wrong("a value of about √d_k", "scale")
def standard_deviation(d_k, n, generator):
    """Your value is about the root of d_k, as the standard deviation is. How do the standard
    deviation and the variance hang together?"""
    return variance_of_sums(d_k, n, generator) ** 0.5


@exercise.wrong("a variance of about 7/144 d_k", "score")
def evenly_drawn(d_k, n, generator):
    """Your numbers seem to lie evenly between 0 and 1: the variance is about 7/144 of d_k. Which
    function of torch draws normal numbers, with mean 0 and variance 1?"""
    q, k = torch.rand(2, n, d_k, generator=generator)
    return (q * k).sum(dim=-1).var().item()


@exercise.wrong("a variance of about d_k / 144", "score")
def evenly_drawn_around_zero(d_k, n, generator):
    """Your numbers seem to lie evenly within half a step around 0: the variance is about d_k/144.
    Which function of torch draws normal numbers, with mean 0 and variance 1?"""
    q, k = torch.rand(2, n, d_k, generator=generator) - 0.5
    return (q * k).sum(dim=-1).var().item()


@exercise.wrong("a variance of about 2 d_k", "score")
def vector_with_itself(d_k, n, generator):
    """Your variance is about twice d_k, as it is for a vector that meets itself. What is multiplied
    with what, and are the two drawn separately?"""
    q = torch.randn(n, d_k, generator=generator)
    return (q * q).sum(dim=-1).var().item()


@exercise.wrong("the variance of the mean of the products, about 1/d_k", "score")
def mean_instead_of_sum(d_k, n, generator):
    """Your variance is about 1/d_k: the products were averaged instead of added up. What does a
    dot product do with the products?"""
    q, k = torch.randn(2, n, d_k, generator=generator)
    return (q * k).mean(dim=-1).var().item()


@exercise.wrong("another value for the same generator", "score")
def without_the_generator(d_k, n, generator):
    """The same generator gave two different values: something is drawn without it, or kept from
    an earlier call. Which argument of torch.randn makes a draw repeatable?"""
    q, k = torch.randn(2, n, d_k)
    return (q * k).sum(dim=-1).var().item()
