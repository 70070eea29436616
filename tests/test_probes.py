"""No probe is idle: whoever is wrong on one alone fails, and passes once it is not there.

An answer knows a probe by the very values of its arguments.
"""

import copy
from dataclasses import replace
from functools import cache, partial

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from grader import Exercise, Verdict, exercises
from grader.attention.kernels import attention
from grader.exercises import find
from grader.judge import drawn, judge
from grader.observe import observe
from grader.probes import BlackBox, Generator, Linear, Models, Probe

WHICH = "which of the boxes are you?"


@cache
def told_apart(name: str) -> Exercise:
    """The exercise, with boxes that say which one they are: two of them may do the same.

    It knows no mistakes: what is looked at here is who passes, and names take time.
    """
    exercise = replace(find(name))
    exercise.reference(find(name).right)
    exercise.compare_by(find(name).compared)
    probes = tuple(
        replace(p, args=tuple(marked(a, i) if isinstance(a, BlackBox) else a for a in p.args))
        for i, p in enumerate(drawn(find(name), 0))
    )
    exercise.probes = lambda seed: probes
    return exercise


def marked(box: BlackBox, number: int) -> BlackBox:
    return BlackBox(lambda *args: number if args == (WHICH,) else box.kernel(*args))


def without(exercise: Exercise, missing: Probe) -> Exercise:
    """The exercise lacking one probe, and the laws that need it for a comparison of two calls."""
    probes = exercise.probes(0)
    own = tuple(p for p in probes if not p.base)
    made = [(law, law.change(own)) for law in exercise.laws if law.change]
    needing = [law for law, second in made if missing.label in (second.label, second.base)]
    lacking = copy.copy(exercise)
    lacking.laws = tuple(law for law in exercise.laws if law not in needing)
    lacking.probes = lambda seed: tuple(p for p in probes if p is not missing)
    return lacking


def verdict_on(exercise: Exercise, answer) -> Verdict:
    return judge(exercise, observe(answer, exercise.probes(0)))


def with_and_without(exercise: Exercise, i: int, answer) -> tuple[Verdict, Verdict]:
    """The verdict on an answer, and the one on the same calls but that of probe `i`."""
    probes = exercise.probes(0)
    seen = observe(answer, probes)
    fewer = replace(seen, calls=seen.calls[:i] + seen.calls[i + 1 :])
    return judge(exercise, seen), judge(without(exercise, probes[i]), fewer)


def is_given(arg, given) -> bool:
    """Whether an argument of a call is the one that a probe hands over."""
    match given:
        case Linear():
            return torch.equal(arg.weight, given.weight)
        case Generator():
            return torch.equal(arg.get_state(), given.make().get_state())
        case Models():
            first = {name: state["token.weight"] for name, (state, _) in given.held.items()}
            return arg.keys() == first.keys() and all(
                torch.equal(arg[name].token.weight, weight) for name, weight in first.items()
            )
        case BlackBox():
            return arg(WHICH) == given.kernel(WHICH)
        case Tensor():
            same_kind = (arg.shape, arg.dtype) == (given.shape, given.dtype)
            return same_kind and torch.equal(arg, given)
    return arg == given


def is_call_of(probe: Probe, args: tuple) -> bool:
    return all(map(is_given, args, probe.args))


def right_but_on(exercise: Exercise, probe: Probe, spoil):
    """The right answer, whose value is spoiled on this probe alone."""
    if probe.init is not None:

        class Spoiled(exercise.right):
            def forward(self, x):
                value = super().forward(x)
                return spoil(value) if is_call_of(probe, (x,)) else value

        return Spoiled

    def answer(*args):
        hit = is_call_of(probe, args)  # before a generator among them is used
        value = exercise.right(*args)
        return spoil(value, *args) if hit else value

    return answer


def spoiled(exercise: Exercise, probe: Probe, value, *args):
    """Something wrong in the form that is asked for; no form at all where words are compared."""
    if exercise.compared:
        return None
    if not probe.compare:  # a law needs it, which no single number breaks
        return float("nan")
    if isinstance(value, tuple):
        return (moved(value[0]), *value[1:])
    return moved(value)


def moved(number):
    """Far off, however large or small the number is."""
    return number + abs(number) + 1


LIBRARY = {
    "softmax": lambda scores: torch.softmax(scores, dim=-1),
    "chunked_attention": lambda q, k, v, _: scaled_dot_product_attention(q, k, v),
}
# Probes are not drawn before a test needs them: some hold models that are trained first.
each_exercise = pytest.mark.parametrize("name", [exercise.name for exercise in exercises()])


@each_exercise
def test_no_two_probes_are_the_same_call(name):
    exercise = told_apart(name)
    probes = exercise.probes(0)
    for probe in probes:
        args = [a.make() if hasattr(a, "make") else a for a in probe.args]
        alike = [p.label for p in probes if p.init == probe.init and is_call_of(p, args)]
        assert alike == [probe.label]


@each_exercise
def test_whoever_is_wrong_on_one_probe_alone_fails_because_of_it(name):
    exercise = told_apart(name)
    probes = exercise.probes(0)
    for i, probe in enumerate(probes):
        answer = right_but_on(exercise, probe, partial(spoiled, exercise, probe))
        if len(probes) == 1:  # no probe, no verdict
            assert not verdict_on(exercise, answer).passed
            continue
        verdict, spared = with_and_without(exercise, i, answer)
        assert not verdict.passed, probe.label
        assert spared.passed, f"{probe.label}\n{spared.message}"


@each_exercise
def test_whoever_uses_the_library_on_one_probe_alone_fails_because_of_it(name):
    exercise = told_apart(name)
    watched = [(i, probe) for i, probe in enumerate(exercise.probes(0)) if probe.watched]
    assert bool(watched) == (name in LIBRARY)
    for i, probe in watched:
        answer = right_but_on(exercise, probe, lambda _, *args: LIBRARY[name](*args))
        verdict, spared = with_and_without(exercise, i, answer)
        assert ("written by hand", False) in verdict.properties, probe.label
        assert verdict.points == 0
        assert spared.passed, f"{probe.label}\n{spared.message}"


def test_whoever_holds_the_whole_matrix_on_one_probe_alone_fails_because_of_it():
    exercise = told_apart("chunked_attention")
    limited = [(i, p) for i, p in enumerate(exercise.probes(0)) if p.most is not None]
    assert limited
    for i, probe in limited:
        answer = right_but_on(exercise, probe, lambda _, q, k, v, block: attention(q, k, v)[0])
        verdict, spared = with_and_without(exercise, i, answer)
        assert ("never holds the whole score matrix", False) in verdict.properties, probe.label
        assert verdict.points == 0
        assert spared.passed, f"{probe.label}\n{spared.message}"


# --- the probes that only a law looks at: each by itself could be spared ------------------------


def samples() -> tuple[Probe, ...]:
    return tuple(p for p in find("dot_product_variance").probes(0) if not p.compare)


def test_samples_that_do_not_spread_fail_though_all_else_is_right():
    exercise = find("dot_product_variance")

    def answer(d_k, n, generator):
        sampled = (d_k, n) == samples()[0].args[:2]
        return float(d_k) if sampled else exercise.right(d_k, n, generator)

    assert not verdict_on(exercise, answer).passed


def test_a_used_generator_must_go_on_from_where_it_is():
    exercise = find("dot_product_variance")
    used = samples()[0].args[2]

    def answer(d_k, n, generator):
        if is_given(generator, used):
            generator = torch.Generator().manual_seed(used.seed)
        return exercise.right(d_k, n, generator)

    assert not verdict_on(exercise, answer).passed
