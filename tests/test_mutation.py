"""Every right answer with one operator, axis, argument or term changed: whatever gives other values
must not pass.

What gives other values is found out on inputs that the probes know nothing of: those written here,
or for an exercise that has none here, its own probes with other numbers.
"""

import math
from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest
import torch
from mutants import Mutant, mutants, sources
from torch import Tensor, nn

from grader import Exercise, exercises, grade
from grader.attention.leaks import KINDS
from grader.exercises import find
from grader.judge import judge
from grader.observe import observe
from grader.probes import VALUES, Models, Probe
from grader.tiny import Tiny

pytestmark = pytest.mark.filterwarnings("ignore")
LARGE = 50  # makes scores of some thousands, where an exponential overflows
WRONG_BY = 0.25  # a sample variance this far off is another number
OTHER_NUMBERS = 20240301  # a seed that nothing is graded with
generator = torch.Generator().manual_seed(20240229)


def n(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def shares(*shape: int) -> Tensor:
    return torch.softmax(n(*shape), dim=-1)


def qkv(lead: tuple, T_q: int, T_k: int, d_k: int, d_v: int) -> tuple[Tensor, Tensor, Tensor]:
    return n(*lead, T_q, d_k), n(*lead, T_k, d_k), n(*lead, T_k, d_v)


def matrices(d_in: int, *widths: int) -> tuple[Tensor, ...]:
    return tuple(n(d_in, width) for width in widths)


def module_case(lead: tuple, T: int, d_in: int, d_out: int, size: float = 1) -> tuple:
    return (d_in, d_out), [n(d_out, d_in) for _ in range(3)], size * n(*lead, T, d_in)


def heads_case(init: tuple, lead: tuple, T: int, size: float = 1) -> tuple:
    d_model = init[0]
    return init, [n(d_model, d_model) for _ in range(4)], size * n(*lead, T, d_model)


def box(scale: float):
    def attend(q, k, v):
        weights = torch.softmax(q @ k.mT * scale(k.shape[-1], k.shape[-2], v.shape[-1]), dim=-1)
        return weights @ v, weights

    return attend


def mixing(weights):
    return lambda x: weights(x) @ x


def hiding(diagonal: int, fill: float):
    def weights(x):
        hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(diagonal)
        return torch.softmax((x @ x.mT / 2).masked_fill(hidden, fill), dim=-1)

    return weights


def ids(vocabulary: int, *shape: int) -> Tensor:
    return torch.randint(vocabulary, shape, generator=generator)


def language_model(vocabulary: int, kind: str):
    words, out = n(vocabulary, 4), 2 * n(4, vocabulary)

    def logits(tokens):
        x = words[tokens]
        before = x.cumsum(-2) / (1 + torch.arange(x.shape[-2])).unsqueeze(-1) ** 0.5
        later = x.roll(-1, -2) * {"peeks": 2, "both ways": 0}.get(kind, 0)
        everywhere = x.mean(-2, keepdim=True) * (kind == "both ways")
        return (before + later + everywhere + x.shape[-2] * (kind == "length") * words[0]) @ out

    return logits


def models(kinds: list[str]) -> Models:
    def state() -> dict[str, Tensor]:
        bare = Tiny(KINDS["correct"], 12, 16, 16).state_dict()
        return {name: 0.4 * n(*value.shape).float() for name, value in bare.items()}

    return Models({f"model {i}": (state(), KINDS[kind]) for i, kind in enumerate(kinds)})


TOKENS = [(n(4, 6),), (n(9, 2),), (n(3, 3),), (n(2, 6, 4),), (n(2, 1, 3, 5),), (n(1, 4),)]
MODULES = ("SelfAttention", "Head", "MultiHeadAttention")
X = [
    module_case((), 5, 4, 7), module_case((), 3, 3, 3), module_case((2,), 4, 6, 3),
    module_case((2, 2), 3, 2, 5), module_case((), 4, 3, 2, size=LARGE),
]  # fmt: skip
INPUTS = {
    "average": TOKENS,
    "uniform_weights": [(T,) for T in (3, 4, 7, 11, 1)],
    "mix": [
        (n(4, 6), n(6, 2)), (n(3, 3), n(3, 3)), (n(2, 4, 3), n(2, 3, 5)),
        (n(2, 2, 3, 6), n(2, 2, 6, 4)), (n(1, 4), n(4, 3)),
    ],
    "running_average": TOKENS,
    "query_scores": [(n(4, 6), 2), (n(6, 4), 0), (n(3, 3), 1), (n(7, 2), 6)],
    "softmax": [(n(4, 6),), (n(3, 3),), (n(2, 5, 4),), (n(6),), (LARGE**2 * n(4, 3),)],
    "break_the_sum": [()],
    "dot_product_attention": [*TOKENS, (LARGE * n(5, 3),)],
    "project": [
        (n(4, 6), *matrices(6, 2, 3, 5)), (n(3, 3), *matrices(3, 3, 3, 3)),
        (n(2, 5, 4), *matrices(4, 3, 6, 2)), (n(2, 2, 1, 3), *matrices(3, 2, 2, 2)),
    ],
    "attention_scores": [
        qkv(lead, *sizes)[:2]
        for lead, sizes in (
            ((), (4, 3, 6, 1)), ((), (3, 3, 3, 1)), ((2,), (4, 5, 3, 1)), ((2, 1), (1, 3, 2, 1)),
        )
    ],
    "scaled_dot_product_attention": [
        qkv((), 4, 3, 6, 2), qkv((), 3, 3, 3, 3), qkv((2,), 4, 5, 3, 7), qkv((2, 3), 2, 3, 5, 2),
        qkv((), 1, 1, 2, 2), tuple(LARGE * each for each in qkv((), 4, 5, 3, 2)),
    ],
    "SelfAttention": X,
    "linear_to_matrix": [(n(4, 6),), (n(3, 3),), (n(7, 2),)],
    "look_left": [(T,) for T in (4, 6, 7, 11, 1)],
    "dot_product_variance": [(9, 300), (31, 250)],
    "scale_scores": [(n(4, 6), 5), (n(3, 3), 7), (n(2, 5, 4), 2), (n(6), 12), (n(2, 2), 1)],
    "softmax_jacobian": [(shares(6),), (shares(3, 3),), (shares(2, 5, 4),), (shares(2, 1, 3),)],
    "which_scale": [
        (box(lambda d_k, T, d_v: d_k**-0.5),), (box(lambda d_k, T, d_v: 1 / d_k),),
        (box(lambda d_k, T, d_v: 1),), (box(lambda d_k, T, d_v: d_k**0.5),),
        (box(lambda d_k, T, d_v: T**-0.5),), (box(lambda d_k, T, d_v: d_v**-0.5),),
    ],
    "Head": X,
    "split_heads": [
        (n(4, 10), 2), (n(3, 6), 3), (n(2, 5, 8), 4), (n(2, 3, 4, 6), 2), (n(1, 4), 1),
    ],
    "merge_heads": [
        (n(2, 4, 5),), (n(3, 3, 3),), (n(2, 4, 5, 3),), (n(3, 2, 2, 4, 3),), (n(4, 1, 2),),
        (n(2, 5, 4).mT,),
    ],
    "count_parameters": [(24, 4), (7, 1), (18, 6), (50, 25), (9, 9)],
    "MultiHeadAttention": [
        heads_case((6, 2), (), 4), heads_case((8, 4, True), (2,), 5),
        heads_case((6, 3, False), (), 6), heads_case((10, 2, False), (2, 3), 3),
        heads_case((4, 1, True), (), 5, size=LARGE),
    ],
    "is_equivariant": [
        (mixing(hiding(9, 0)), n(4, 3), torch.tensor([2, 0, 3, 1])),
        (mixing(hiding(1, -torch.inf)), n(4, 3), torch.tensor([2, 0, 3, 1])),
        (lambda x: x.flip(0), n(5, 2), torch.tensor([4, 3, 2, 1, 0])),
        (lambda x: x.flip(0), n(3, 3), torch.tensor([1, 2, 0])),
        (lambda x: x.mean(0).expand_as(x), n(4, 6), torch.tensor([3, 1, 0, 2])),
        (lambda x: x.sort(0).values, n(4, 2), torch.tensor([1, 3, 0, 2])),
        (lambda x: x + 0.01 * torch.arange(len(x)).unsqueeze(-1), n(3, 4), torch.tensor([1, 0, 2])),
        (lambda x: x + torch.arange(len(x)).unsqueeze(-1), n(3, 4), torch.tensor([0, 1, 2])),
    ],
    "add_positions": [
        (n(4, 6), n(7, 6)), (n(3, 3), n(3, 3)), (n(2, 5, 4), n(8, 4)), (n(2, 1, 3, 5), n(4, 5)),
        (n(1, 4), n(2, 4)),
    ],
    "score_bytes": [(2, 3, 5, 4), (1, 7, 10, 8), (6, 1, 4, 2), (1, 1, 1, 1)],
    "attention_flops": [(3, 4, 6), (10, 5, 2), (7, 7, 7), (1, 2, 3)],
    "cross_attention": [
        (*texts, *maps)
        for texts, maps in (
            ((n(4, 6), n(3, 2)), (n(6, 5), n(2, 5), n(2, 7))),
            ((n(3, 3), n(3, 3)), (n(3, 3), n(3, 3), n(3, 3))),
            ((n(2, 4, 3), n(2, 5, 3)), (n(3, 2), n(3, 2), n(3, 4))),
            ((n(2, 1, 1, 4), n(2, 1, 3, 5)), (n(4, 2), n(5, 2), n(5, 3))),
            ((LARGE * n(3, 2), n(4, 5)), (n(2, 3), n(5, 3), n(5, 2))),
        )
    ],
    "chunked_attention": [
        (*qkv((), 4, 7, 6, 2), 3), (*qkv((), 3, 3, 3, 3), 2), (*qkv((2,), 4, 5, 3, 7), 9),
        (*qkv((2, 1), 2, 4, 5, 2), 1), (*qkv((), 1, 1, 2, 2), 1), (*qkv((), 2, 6, 3, 4), 3),
        (*(LARGE * each for each in qkv((), 4, 7, 3, 2)), 2),
    ],
    "causal_mask": [(T,) for T in (3, 4, 7, 11, 1)],
    "causal_attention": [
        qkv((), 4, 4, 6, 2), qkv((), 3, 3, 3, 3), qkv((2,), 5, 5, 3, 7), qkv((2, 3), 3, 3, 5, 2),
        qkv((), 1, 1, 2, 2), tuple(LARGE * each for each in qkv((), 5, 5, 3, 2)),
    ],
    "leaks_future": [
        (mixing(hiding(1, -torch.inf)), n(4, 3)), (mixing(hiding(9, 0)), n(4, 3)),
        (mixing(hiding(2, -torch.inf)), n(6, 3)), (mixing(hiding(1, 0)), n(5, 2)),
        (mixing(lambda x: torch.softmax(x @ x.mT, dim=-1).tril()), n(4, 6)),
        (lambda x: x.cumsum(0) - 2 * x, n(4, 3)), (lambda x: x.flip(0).cumsum(0), n(3, 3)),
    ],
    "next_token_loss": [
        (n(4, 6), ids(6, 4)), (n(3, 3), ids(3, 3)), (n(2, 5, 4), ids(4, 2, 5)),
        (n(2, 3, 4, 5), ids(5, 2, 3, 4)), (n(2, 3), ids(3, 2)),
    ],
    "prefix_loss": [
        (language_model(V, kind), ids(V, *shape))
        for V, kind, shape in (
            (6, "causal", (2, 5)), (4, "peeks", (3, 6)), (5, "both ways", (1, 4)),
            (7, "length", (2, 7)), (3, "causal", (4, 2)),
        )
    ],
    "name_the_bug": [
        (models(kinds), ids(12, B, T))
        for kinds, B, T in (
            (list(KINDS), 2, 6), (["correct", "no mask"], 3, 9), (["scores times mask"], 1, 5),
        )
    ],
}  # fmt: skip
SOURCES = [
    (exercise.name, source)
    for exercise in exercises()
    for source in sources(exercise)
    # The loops of Head are those of SelfAttention under other names, and slow.
    if (exercise.name, source) != ("Head", "twin")
]
each_source = pytest.mark.parametrize(("name", "source"), SOURCES)


# --- which mutants give other values -------------------------------------------------------------


def value(name: str, answer, case: tuple, dtype: torch.dtype):
    """What an answer gives for one case, in the form in which answers are compared."""
    torch.manual_seed(1)
    if name in MODULES:
        init, weights, x = case
        module = answer(*init).to(dtype)
        module.load_state_dict(
            {**dict(module.named_buffers()), **dict(zip(roles(name), weights, strict=True))}
        )
        return module(x.to(dtype))
    if name == "dot_product_variance":
        draws = [torch.Generator().manual_seed(seed) for seed in range(10)]
        return fmean(float(answer(*case, draw)) for draw in draws)
    args = [a.make() if isinstance(a, Models) else a for a in case]
    args = [a.clone() if isinstance(a, Tensor) else a for a in args]  # a mutant may write into it
    args = [a.to(dtype) if isinstance(a, Tensor) and a.is_floating_point() else a for a in args]
    if name == "linear_to_matrix":
        args = [nn.Linear(*reversed(args[0].shape), bias=False, dtype=dtype)]
        args[0].weight.data.copy_(case[0])
    result = answer(*args)
    if name == "prefix_loss":  # a number of either kind
        return torch.as_tensor(result, dtype=torch.float64)
    exercise = find(name)
    return exercise.canonical(Probe("unseen", case), result) if exercise.compared else result


def roles(name: str) -> list[str]:
    return list(find(name).probes(0)[0].weights)


def same(name: str, got, want, dtype: torch.dtype) -> bool:
    if isinstance(want, tuple):
        alike = isinstance(got, tuple | list) and len(got) == len(want)
        return alike and all(same(name, g, w, dtype) for g, w in zip(got, want, strict=True))
    if isinstance(want, float):
        return math.isclose(got, want, rel_tol=WRONG_BY)
    if isinstance(want, Tensor):
        rounding = (1e-8, 1e-9) if dtype == torch.float64 else (1e-4, 1e-5)
        if name in MODULES:  # which may keep a constant in float32
            rounding = max(rounding, (1e-6, 1e-7))
        alike = isinstance(got, Tensor) and got.shape == want.shape
        return alike and torch.allclose(got.double(), want.double(), *rounding, equal_nan=True)
    return got == want


@cache
def inputs(name: str) -> list[tuple]:
    probes = find(name).probes(OTHER_NUMBERS) if name not in INPUTS else ()
    return INPUTS.get(name) or [probe.args for probe in probes if probe.compare]


@cache
def wanted(name: str) -> list:
    return [value(name, find(name).right, case, torch.float64) for case in inputs(name)]


def differs(name: str, answer) -> bool:
    """Whether an answer gives other values than the reference, or crashes, on unseen inputs."""
    for case, want in zip(inputs(name), wanted(name), strict=True):
        for dtype in dtypes(case):
            try:
                if not same(name, value(name, answer, case, dtype), want, dtype):
                    return True
            except Exception:
                return True
    return False


@cache
def compared(name: str, source: str) -> list[tuple[Mutant, bool]]:
    return [(m, differs(name, m.answer)) for m in mutants(find(name), source)]


def dtypes(case: tuple) -> tuple[torch.dtype, ...]:
    """Of scores in their thousands float32 keeps too few digits for a comparison."""
    tensors = [a for a in case if isinstance(a, Tensor) and a.is_floating_point()]
    ordinary = tensors and all(a.abs().max() < LARGE / 2 for a in tensors)
    return (torch.float64, torch.float32) if ordinary else (torch.float64,)


# --- what the grader makes of them ---------------------------------------------------------------


@cache
def in_short(name: str) -> tuple[Exercise, ...]:
    """The exercise with one probe alone, and with one for each property, the smallest there is.

    What fails on some of the probes fails on all of them, and most mutants do.
    """
    compared = [probe for probe in find(name).probes(0) if probe.compare]
    smallest = {p.shows: p for p in sorted(compared, key=numbers, reverse=True)}
    return tuple(
        with_probes(name, chosen) for chosen in ((smallest[VALUES],), tuple(smallest.values()))
    )


def with_probes(name: str, chosen: tuple[Probe, ...]) -> Exercise:
    """Without laws, which need several probes, and without mistakes, whose names take time."""
    short = replace(find(name), laws=())
    short.reference(find(name).right)
    short.compare_by(find(name).compared)
    short.probes = lambda seed: chosen
    return short


def numbers(probe: Probe) -> int:
    return sum(a.numel() for a in probe.args if isinstance(a, Tensor))


def passes(name: str, answer) -> bool:
    for short in in_short(name):
        if not judge(short, observe(answer, short.probes(0))).passed:
            return False
    return grade(name, answer).passed


@each_source
def test_what_gives_other_values_does_not_pass_and_the_same_gets_no_name(name, source):
    for mutant, different in compared(name, source):
        if different:
            assert not passes(name, mutant.answer), f"{mutant.change}\n\n{mutant.source}"
        elif source == "reference":
            verdict = grade(name, mutant.answer)
            assert not (verdict.passed and verdict.possible), mutant.source


@each_source
def test_a_right_answer_is_taken_for_no_mutant(name, source):
    assert not differs(name, sources(find(name))[source])


def test_there_are_many_mutants_and_most_of_them_give_other_values(record_property):
    found = {
        source: [d for _, d in compared(*source)] for source in SOURCES if "twin" not in source
    }
    different = sum(map(sum, found.values()))
    record_property("mutants", sum(map(len, found.values())))
    record_property("of other values", different)
    assert sum(sum(each) for source, each in found.items() if "reference" in source) >= 300
    assert different >= 2000
    assert different >= 2 / 3 * sum(map(len, found.values()))
