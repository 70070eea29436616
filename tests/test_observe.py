"""Observing an answer: nothing gets out, nothing is changed, everything is written down."""

import contextlib
import logging
import os
import random
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy
import pytest
import torch
from torch import nn

from grader.observe import observe
from grader.probes import Draw, Generator, Linear, Probe, strided
from grader.record import Observation
from grader.wire import Other, pack, unpack

DRAW = Draw(1)


def draw(*shape):
    return DRAW(*shape).double()


TWO = (Probe("small", (draw(3, 2),)), Probe("large", (draw(5, 4),)))


def calls(answer, probes=TWO):
    return observe(answer, probes).calls


class Evil:
    def __eq__(self, other):
        return True

    def __repr__(self):
        raise RuntimeError("no picture of me")

    __hash__ = None


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def raise_unprintable(x):
    raise Unprintable


async def a_coroutine(x):
    return x


WEIRD = {
    "a generator": lambda x: (row for row in x),
    "a coroutine": a_coroutine,
    "an object that equals everything": lambda x: Evil(),
    "itself in a list": lambda x: [[[[[x]]]]],
    "a sparse tensor": lambda x: x.to_sparse(),
    "a complex tensor": lambda x: x + 1j,
    "a tensor without data": lambda x: x.to("meta"),
    "a numpy array": lambda x: x.numpy(),
    "a huge integer": lambda x: 10**400,
    "an exception without words": raise_unprintable,
    "SystemExit": lambda x: sys.exit("bye"),
    "endless recursion": lambda x: WEIRD["endless recursion"](x),
    "a function": lambda x: print,
    "a huge tuple": lambda x: (1,) * 10_000,
}


@pytest.mark.parametrize("answer", WEIRD.values(), ids=WEIRD)
def test_whatever_comes_back_becomes_a_plain_record_that_survives_the_wire(answer):
    observation = observe(answer, TWO)
    loaded = Observation.from_plain(unpack(pack(observation.to_plain())))
    for seen, read in zip(observation.calls, loaded.calls, strict=True):
        assert replace(seen, gradients=()) == replace(read, gradients=())
        assert str(seen.gradients) == str(read.gradients)
    assert all(call.error or isinstance(call.output, Other | tuple) for call in observation.calls)


def test_tensors_numbers_and_words_survive_the_wire():
    def answer(x):
        return {"tensor": x * 2, "numbers": (1, 0.1, float("inf"), True, None), "word": "é"}

    observation = observe(answer, TWO)
    loaded = Observation.from_plain(unpack(pack(observation.to_plain())))
    for seen, read in zip(observation.calls, loaded.calls, strict=True):
        torch.testing.assert_close(seen.output["tensor"], read.output["tensor"])
        assert seen.output["numbers"] == read.output["numbers"]
        assert seen.output["word"] == read.output["word"] == "é"


def test_what_is_on_the_wire_holds_no_pickle():
    content = pack(observe(torch.exp, TWO).to_plain())
    assert content[8:9] == b"{"
    assert b"torch" not in content


def test_the_inputs_of_a_probe_are_never_the_students_to_change():
    probes = (Probe("tensor", (draw(3, 2),)), Probe("linear", (Linear(draw(4, 2)),)))
    before = [probes[0].args[0].clone(), probes[1].args[0].weight.clone()]

    def writes(arg):
        (arg if isinstance(arg, torch.Tensor) else arg.weight.data).zero_()

    assert [list(call.changed) for call in calls(writes, probes)] == [["0"], ["0"]]
    assert torch.equal(probes[0].args[0], before[0])
    assert torch.equal(probes[1].args[0].weight, before[1])


def test_a_resized_input_counts_as_changed():
    assert list(calls(lambda x: x.unsqueeze_(0))[0].changed) == ["0"]


def test_the_memory_layout_of_an_input_is_kept():
    probe = Probe("strided", (strided(draw(2, 3, 4)),))
    assert not probe.args[0].is_contiguous()
    assert calls(lambda x: x.is_contiguous(), (probe,))[0].output is False


def test_a_second_call_is_made_after_all_first_ones():
    seen = []
    found = calls(lambda x: seen.append(len(x)) or len(seen))
    assert seen[:4] == [3, 5, 5, 3]
    assert [(c.output, c.again) for c in found] == [(1, 4), (2, 3)]


def test_the_same_answer_is_called_with_the_earlier_tensors_first():
    seen = []
    probe = Probe("later", (torch.ones(3, 2),), earlier=(torch.ones(5, 2),))
    observe(lambda x: seen.append(len(x)) or x, (probe,))
    assert seen[:2] == [5, 3]


def test_all_instances_are_made_before_the_first_is_called():
    made = []

    class Answer(nn.Module):
        def __init__(self, size):
            super().__init__()
            made.append(size)

        def forward(self, x):
            return len(made)

    probes = tuple(Probe(str(n), (draw(2, 3),), init=(n,)) for n in (4, 6, 7))
    assert [call.output for call in calls(Answer, probes)] == [3, 3, 3]


def test_the_weights_of_a_probe_are_loaded_whatever_the_instance_started_with():
    class Answer(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.map = nn.Linear(d_in, d_out, bias=False)

        def forward(self, x):
            return self.map(x)

    weight, x = draw(5, 3), draw(2, 3)
    (call,) = calls(Answer, (Probe("one", (x,), init=(3, 5), weights={"map.weight": weight}),))
    torch.testing.assert_close(call.output, x @ weight.T)
    assert call.parameters == {"map.weight": [5, 3]}


def test_parameters_that_are_one_and_the_same_are_noticed():
    class Answer(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.a = self.b = nn.Linear(size, size, bias=False)

    (call,) = calls(Answer, (Probe("one", (draw(2, 3),), init=(3,)),))
    assert call.shared == ("b.weight",)


def test_gradients_are_those_of_a_slow_finite_difference():
    x = draw(3, 2)
    (call,) = calls(lambda x: x**3, (Probe("cube", (x,)),))
    direction = torch.cos(torch.arange(6, dtype=torch.float64)).reshape(3, 2)
    step = 1e-6
    slope = ((x + step) ** 3 - (x - step) ** 3) / (2 * step) * direction
    torch.testing.assert_close(call.gradients[0]["0"], slope, rtol=1e-6, atol=1e-6)


def test_a_cut_gradient_is_none():
    assert calls(lambda x: x.detach() * 2)[0].gradients == ({"0": None},)


def test_the_line_that_raised_is_quoted():
    def answer(x):
        return x @ x

    call = calls(answer)[0]
    assert call.error.startswith("RuntimeError")
    assert call.where.endswith("return x @ x")


def test_the_stop_button_ends_the_observation():
    def interrupted(x):
        raise KeyboardInterrupt

    assert "interrupted" in observe(interrupted, TWO).refused


@pytest.mark.parametrize("answer", [None, 3.0, torch.ones(2), "softmax"])
def test_what_cannot_be_called_is_refused(answer):
    assert "function" in observe(answer, TWO).refused


def test_an_instance_in_place_of_a_class_is_refused():
    probe = Probe("one", (draw(2, 3),), init=(3,))
    assert "class itself" in observe(nn.Identity(), (probe,)).refused


def test_each_call_gets_a_fresh_generator():
    probe = Probe("seeded", (Generator(4),))
    (call,) = calls(lambda g: torch.randn(3, generator=g), (probe,))
    assert torch.equal(call.output, call.again)


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (lambda x: x + 1, 6),
        (lambda x: (x + 1) * 2, 12),  # the sum is still there while the product is made
        (lambda x: x.T[:1], 0),  # a view of what came in
        (lambda x: (x + 1)[:1], 6),  # a view keeps all of what it is a view of
        (lambda x: sum([x.exp() for _ in range(5)]), 42),  # five, and two sums
        (lambda x: [x.exp().sum() for _ in range(5)][-1], 11),  # one after the other
        (lambda x: x.expand(7, 3, 2).sum(), 1),
        (lambda x: x.clone().add_(1), 6),
    ],
)
def test_the_peak_counts_the_numbers_that_are_held_at_once(answer, most):
    (call,) = calls(answer, (Probe("w", (draw(3, 2),), watched=True),))
    assert not call.error
    assert call.peak == most


def test_what_is_not_watched_has_no_peak():
    assert all(call.peak == 0 for call in calls(torch.exp))


def test_the_operations_are_listed_whichever_way_they_are_called():
    ways = (torch.softmax, nn.functional.softmax, lambda x, dim: nn.Softmax(dim)(x),
            lambda x, dim: x.softmax(dim))  # fmt: skip
    for way in ways:
        (call,) = calls(
            lambda x, way=way: way(x, dim=-1), (Probe("w", (draw(2, 3),), watched=True),)
        )
        assert "_softmax" in call.operations


# --- silence -------------------------------------------------------------------------------------

real_stderr = sys.stderr
handler = logging.StreamHandler(sys.stderr)


def log_with_an_old_handler(x):
    logger = logging.getLogger("student")
    logger.addHandler(handler)
    logger.warning("noise")
    logger.removeHandler(handler)


NOISE = {
    "print": lambda x: print("noise"),
    "print to stderr": lambda x: print("noise", file=sys.stderr),
    "a stream kept from before": lambda x: print("noise", file=real_stderr),
    "the first stderr of all": lambda x: print("noise", file=sys.__stderr__),
    "below Python": lambda x: os.write(2, b"noise"),
    "a child process": lambda x: subprocess.run([sys.executable, "-c", "1/0"]),
    "a warning": lambda x: warnings.warn("noise", stacklevel=1),
    "a log": log_with_an_old_handler,
    "a coroutine": a_coroutine,
}


@pytest.mark.parametrize("answer", NOISE.values(), ids=NOISE)
def test_nothing_a_student_says_gets_out(answer, capfd):
    observe(answer, TWO)
    with contextlib.suppress(AttributeError):
        sys.stderr.flush()
    assert capfd.readouterr() == ("", "")


def test_printing_works_again_afterwards(capfd):
    observe(NOISE["print"], TWO)
    print("still here")
    os.write(2, b"and here")
    assert capfd.readouterr() == ("still here\n", "and here")


def test_the_callers_world_is_as_it_was():
    def meddles(x):
        torch.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.set_num_threads(3)
        warnings.simplefilter("error")
        sys.stdout = None
        return x

    def world():
        return (
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(),
            len(warnings.filters), sys.stdout, random.getstate(),
            torch.random.get_rng_state().tolist(), numpy.random.get_state()[1].tolist(),
        )  # fmt: skip

    before = world()
    observe(meddles, TWO)
    assert world() == before


def test_torch_starts_from_its_defaults_whatever_the_notebook_did():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            (call, _) = calls(lambda x: (torch.ones(2), x * 2))
    finally:
        torch.set_default_dtype(torch.float32)
    assert call.output[0].dtype == torch.float32
    assert call.gradients[1]["0"] is not None
