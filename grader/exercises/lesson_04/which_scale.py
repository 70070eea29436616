"""which_scale"""

import math

import torch

from grader.attention.kernels import attention, attention_in_loops
from grader.compare import describe
from grader.exercise import Exercise, WrongForm
from grader.probes import BlackBox, Draw, Probe

SCALES = {
    "1/sqrt(d_k)": lambda d_k, T, d_v: d_k**-0.5,
    "1/d_k": lambda d_k, T, d_v: 1 / d_k,
    "1": lambda d_k, T, d_v: 1.0,
    "sqrt(d_k)": lambda d_k, T, d_v: d_k**0.5,
    "1/sqrt(T)": lambda d_k, T, d_v: T**-0.5,
    "1/sqrt(d_v)": lambda d_k, T, d_v: d_v**-0.5,
}

exercise = Exercise(
    "which_scale",
    "04-square-root-scaling",
    place=4,
    points=3,
    signature="which_scale(attention) -> str",
    hints=(
        "You may choose q, k and v, and their sizes. Which part of the answer shows the scale?",
        "The logarithm of the ratio of two weights in a row is the scale times the difference of "
        "their scores. Can you choose a difference of 1?",
        "Choose d_k, T and d_v so that all six scales are different numbers, read the scale off "
        "the weights, and look which candidate it is nearest to.",
        "Put 1 at q[0, 0] and at k[0, 0], zeros elsewhere: the scale is log(w[0, 0] / w[0, 1]).",
    ),
)


def box(name: str) -> BlackBox:
    """An attention that scales its scores in the named way."""

    def scale(scores, q, k, v):
        return scores * SCALES[name](k.shape[-1], k.shape[-2], v.shape[-1])

    return BlackBox(lambda q, k, v: attention(q, k, v, scale=scale))


@exercise.probe
def _(draw: Draw):
    order = torch.randperm(2 * len(SCALES), generator=draw.generator).tolist()
    names = list(SCALES) * 2
    for turn, i in enumerate(order, start=1):
        yield Probe(f"box {turn} (it scales by {names[i]})", (box(names[i]),))


@exercise.compare_by
def what_was_said(probe: Probe, value: object) -> str:
    """The answer in words."""
    if not isinstance(value, str):
        raise WrongForm(f"{describe(value)} came back where a string is expected")
    if value not in SCALES:
        raise WrongForm(f"{value!r} is none of the six names")
    return f"you said {value!r}"


def _measure(attention, T: int, d_k: int, d_v: int) -> float:
    """The scale itself, from the weights of one query that has score 1 with one key."""
    q, k = (torch.zeros(T, d_k, dtype=torch.float64) for _ in range(2))
    q[0, 0] = k[0, 0] = 1
    _, weights = attention(q, k, torch.zeros(T, d_v, dtype=torch.float64))
    return torch.log(weights[0, 0] / weights[0, 1]).item()


def _nearest(scale: float, T: int, d_k: int, d_v: int) -> str:
    return min(SCALES, key=lambda name: abs(math.log(SCALES[name](d_k, T, d_v) / scale)))


@exercise.reference
def read_off_the_weights(attention) -> str:
    return _nearest(_measure(attention, 5, 9, 3), 5, 9, 3)


@exercise.twin
def try_each_candidate(attention) -> str:
    q, k, v = Draw(3)(4, 7), Draw(4)(4, 7), Draw(5)(4, 2)
    _, got = attention(q, k, v)
    for name, scale in SCALES.items():
        _, weights = attention_in_loops(q, k, v, scale(7, 4, 2))
        if torch.allclose(got, weights):
            return name
    return "none"


@exercise.variant
def read_off_the_context(attention):
    T, d_k, d_v = 3, 8, 5
    q, k, v = torch.zeros(T, d_k), torch.zeros(T, d_k), torch.zeros(T, d_v)
    q[0, 0] = k[0, 0] = 1.0
    v[0] = 1.0
    context, _ = attention(q, k, v)
    share = context[0, 0].item()
    return _nearest(math.log(share * (T - 1) / (1 - share)), T, d_k, d_v)


@exercise.variant
def fitted_on_random_numbers(attention):
    q, k, v = torch.randn(6, 11), torch.randn(6, 11), torch.randn(6, 2)
    _, weights = attention(q * 0.1, k, v)
    logs = weights.double().log()
    scores = (0.1 * q @ k.T).double()
    logs, scores = logs - logs.mean(-1, keepdim=True), scores - scores.mean(-1, keepdim=True)
    return _nearest(((logs * scores).sum() / scores.square().sum()).item(), 6, 11, 2)


@exercise.variant
def changing_one_size_at_a_time(attention):
    base = _measure(attention, 4, 4, 4)
    if abs(_measure(attention, 9, 4, 4) - base) > 1e-6:
        return "1/sqrt(T)"
    if abs(_measure(attention, 4, 4, 9) - base) > 1e-6:
        return "1/sqrt(d_v)"
    return {0.5: "1/sqrt(d_k)", 0.25: "1/d_k", 1.0: "1", 2.0: "sqrt(d_k)"}[round(base, 4)]


@exercise.wrong("always 1/sqrt(d_k)", "scale")
def always_the_textbook(attention):
    """You said 1/sqrt(d_k) to every box. A test that always says the same tests nothing. What
    does a box with no scale do differently?"""
    return "1/sqrt(d_k)"


@exercise.wrong("1/sqrt(d_k), 1/sqrt(T) and 1/sqrt(d_v) are taken for one another", "scale")
def all_sizes_equal(attention):
    """Your test takes the roots of d_k, T and d_v for one another. With which sizes must that
    happen, and with which are the six scales six different numbers?"""
    return _nearest(_measure(attention, 4, 4, 4), 4, 4, 4)


@exercise.wrong("1/sqrt(T) is taken for 1/sqrt(d_k)", "scale")
def as_many_tokens_as_features(attention):
    """Your test takes 1/sqrt(T) for 1/sqrt(d_k). With which sizes must that happen, and with
    which can the two be told apart?"""
    return _nearest(_measure(attention, 4, 4, 9), 4, 4, 9)


@exercise.wrong("1/sqrt(d_v) is taken for 1/sqrt(d_k)", "scale")
def values_as_large_as_keys(attention):
    """Your test takes 1/sqrt(d_v) for 1/sqrt(d_k). With which sizes must that happen, and with
    which can the two be told apart?"""
    return _nearest(_measure(attention, 9, 4, 4), 9, 4, 4)


@exercise.wrong("1, d_k and its root are taken for one another", "scale")
def one_feature(attention):
    """Your test takes 1, d_k and its root for one another. For which d_k are they all the same
    number?"""
    return _nearest(_measure(attention, 4, 1, 9), 4, 1, 9)


@exercise.wrong("the scale read upside down", "scale")
def upside_down(attention):
    """You take a division for a multiplication: where the box divides by the root, you say it
    multiplies. Does a larger scale make the weights more even, or less?"""
    found = read_off_the_weights(attention)
    return {"1/sqrt(d_k)": "sqrt(d_k)", "sqrt(d_k)": "1/sqrt(d_k)"}.get(found, found)


@exercise.wrong("1/sqrt(d_v) is taken for 1", "scale")
def values_of_one_number(attention):
    """Your test takes 1/sqrt(d_v) for 1. For which size of the values are they the same
    number?"""
    return _nearest(_measure(attention, 5, 9, 1), 5, 9, 1)


@exercise.wrong("1/sqrt(T) is taken for 1/d_k", "scale")
def tokens_as_many_as_the_square(attention):
    """Your test takes 1/sqrt(T) for 1/d_k. With which sizes must that happen, and with which can
    the two be told apart?"""
    return _nearest(_measure(attention, 4, 2, 3), 4, 2, 3)


@exercise.wrong("1/sqrt(d_v) is taken for 1/d_k", "scale")
def values_as_large_as_the_square(attention):
    """Your test takes 1/sqrt(d_v) for 1/d_k. With which sizes must that happen, and with which can
    the two be told apart?"""
    return _nearest(_measure(attention, 3, 2, 4), 3, 2, 4)
