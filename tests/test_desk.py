"""The desk hands out inputs and takes in what came back, and gives away nothing else."""

import contextlib
import os
import runpy
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import grader
from grader.attention.leaks import KINDS
from grader.exercises import exercises, find
from grader.judge import drawn, judge
from grader.observe import observe
from grader.probes import BlackBox, Probe
from grader.runtime.desk import Desk
from grader.runtime.questions import asked, read_questions
from grader.wire import pack, receive, send, unpack

SEED = 11
#: the part of a black box that is in the cage, where the package is put together otherwise
Boxes = runpy.run_path(Path(grader.__file__).parent / "runtime" / "inside" / "boxes.py")["Boxes"]


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path / "desk")
    yield desk
    desk.shut()


@contextlib.contextmanager
def line_to(desk):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(desk._listener.getsockname())
        yield line


def ask(desk, request):
    with line_to(desk) as line:
        send(line, request)
        return receive(line)


def hand_in(desk, exercise, answer):
    """What the caged `check` does."""
    with line_to(desk) as line:
        send(line, {"exercise": exercise.name})
        observation = observe(answer, read_questions(receive(line), Boxes(line)))
        send(line, {"observation": observation.to_plain()})
        receive(line)


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.name)
def test_the_right_answer_is_right_and_every_mistake_keeps_its_name_over_the_wire(desk, exercise):
    """The verdict over the wire is the verdict in one process, for each kernel we know."""
    answers = [exercise.right, *(m.kernel for m in exercise.known_wrong[:3])]
    for answer in answers:
        desk.open(exercise.name, drawn(exercise, SEED))
        hand_in(desk, exercise, answer)
        away = judge(exercise, desk.close(), SEED)
        here = judge(exercise, observe(answer, drawn(exercise, SEED)), SEED)
        assert replace(away, comparison=None) == replace(here, comparison=None)


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise.name)
def test_what_is_sent_holds_no_label_and_no_property_of_a_probe(exercise):
    probes = drawn(exercise, SEED)
    sent = pack(asked(probes))
    for probe in probes:
        assert len(probe.label) < 3 or probe.label.encode() not in sent
        assert probe.shows.encode() not in sent


def test_inputs_arrive_as_they_are():
    for exercise in exercises():
        probes = drawn(exercise, SEED)
        arrived = read_questions(unpack(pack(asked(probes))), lambda *args: None)
        for probe, other in zip(probes, arrived, strict=True):
            tensors = [arg for arg in probe.args if isinstance(arg, torch.Tensor)]
            others = [arg for arg in other.args if isinstance(arg, torch.Tensor)]
            tensors, others = [*tensors, *probe.earlier], [*others, *other.earlier]
            for tensor, same in zip(tensors, others, strict=True):
                assert torch.equal(tensor, same)
                assert tensor.stride() == same.stride()
            assert (other.init, other.watched) == (probe.init, probe.watched)


def test_nothing_is_handed_out_while_no_check_is_open(desk):
    for _ in range(2):  # before the first check, and after it
        with pytest.raises((ValueError, OSError)):
            ask(desk, {"exercise": "mix"})
        desk.open("mix", drawn(find("mix"), SEED))
        desk.close()


@pytest.mark.parametrize("request_", [{"exercise": "average"}, {}, 5, None, ["exercise"]])
def test_nothing_is_handed_out_for_another_exercise_or_a_silly_request(desk, request_):
    desk.open("mix", drawn(find("mix"), SEED))
    assert ask(desk, request_) is None


def test_the_first_observation_counts(desk):
    mix = find("mix")
    desk.open("mix", drawn(mix, SEED))
    hand_in(desk, mix, lambda weights, x: x)
    hand_in(desk, mix, mix.right)
    assert judge(mix, desk.close(), SEED).points < mix.points


def test_an_observation_of_an_earlier_check_does_not_count(desk):
    mix = find("mix")
    desk.open("mix", drawn(mix, SEED))
    with line_to(desk) as line:
        send(line, {"exercise": "mix"})
        right = observe(mix.right, read_questions(receive(line), None))
        desk.close()
        desk.open("mix", drawn(mix, SEED + 1))
        with contextlib.suppress(ValueError, OSError):
            send(line, {"observation": right.to_plain()})
            receive(line)
    assert desk.close() is None


GARBAGE = {
    "noise": os.urandom(500),
    "a frame of terabytes": b"\xff" * 8,
    "an empty frame": b"\0" * 8,
    "half a frame": b"\x40\0\0\0\0\0\0\0{",
    "nothing": b"",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_garbage_harms_nobody_and_the_next_one_is_served(desk, data):
    mix = find("mix")
    desk.open("mix", drawn(mix, SEED))
    with line_to(desk) as line:
        line.sendall(data)
    hand_in(desk, mix, mix.right)
    assert judge(mix, desk.close(), SEED).passed


def test_more_lines_than_are_served_at_once_are_turned_away(desk):
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(line_to(desk))
    mix = find("mix")
    desk.open("mix", drawn(mix, SEED))
    hand_in(desk, mix, mix.right)
    assert judge(mix, desk.close(), SEED).passed


SILLY = {
    "another number": {"box": 99, "args": (torch.ones(2, 3),) * 3},
    "a negative number": {"box": -1, "args": (torch.ones(2, 3),) * 3},
    "a word": {"box": "0", "args": (torch.ones(2, 3),) * 3},
    "two tensors": {"box": 0, "args": (torch.ones(2, 3),) * 2},
    "no tensors": {"box": 0, "args": (1, 2, 3)},
    "shapes that do not fit": {"box": 0, "args": (torch.ones(2, 3), *[torch.ones(2, 4)] * 2)},
    "whole numbers": {"box": 0, "args": (torch.ones(2, 3, dtype=torch.int64),) * 3},
    "too many pairs": {"box": 0, "args": (torch.ones(3_000, 1),) * 3},
    "many rows without features": {"box": 0, "args": (torch.ones(9_000, 0),) * 3},
    "a batch of values alone": {
        "box": 0,
        "args": (torch.ones(2**15, 1), torch.ones(1, 1), torch.ones(400, 1, 1)),
    },
    "many axes": {"box": 0, "args": (torch.ones([1] * 8),) * 3},
    "no arguments": {"box": 0},
}  # fmt: skip


@pytest.mark.parametrize("request_", SILLY.values(), ids=SILLY)
def test_a_box_makes_nothing_of_silly_input_and_does_not_say_why(desk, request_):
    desk.open("which_scale", drawn(find("which_scale"), SEED))
    with line_to(desk) as line:
        send(line, {"exercise": "which_scale"})
        receive(line)
        send(line, request_)
        assert receive(line) is None


def test_nothing_is_read_from_a_line_while_no_check_is_open(desk):
    with line_to(desk) as line:
        assert line.recv(1) == b""  # hung up


def test_a_long_first_request_is_not_read(desk):
    desk.open("mix", drawn(find("mix"), SEED))
    with pytest.raises((ValueError, OSError)):
        ask(desk, {"exercise": "x" * 5_000})


def test_a_line_that_stays_is_hung_up_when_its_check_is_over(desk):
    desk.open("mix", drawn(find("mix"), SEED))
    with line_to(desk) as line:
        send(line, {"exercise": "mix"})
        receive(line)
        desk.close()
        assert line.recv(1) == b""


def test_a_box_is_what_it_is_in_one_process(desk):
    probes = drawn(find("which_scale"), SEED)
    q, k, v = torch.randn(3, 5), torch.randn(4, 5), torch.randn(4, 2)
    desk.open("which_scale", probes)
    with line_to(desk) as line:
        send(line, {"exercise": "which_scale"})
        boxes = [question["args"][0]["box"] for question in receive(line)]
        for number, probe in zip(boxes, probes, strict=True):
            send(line, {"box": number, "args": (q, k, v)})
            for got, want in zip(receive(line), probe.args[0].kernel(q, k, v), strict=True):
                torch.testing.assert_close(got, want)


# --- black boxes of any kind ---------------------------------------------------------------------

TABLE = torch.randn(9, 4, generator=torch.Generator().manual_seed(2))
BOXES = {
    "one tensor": (lambda x: torch.softmax(x @ x.mT, -1) @ x, (torch.randn(5, 3),)),
    "three tensors": (lambda q, k, v: (q @ k.mT @ v, q @ k.mT), tuple(torch.randn(3, 4, 4))),
    "ids": (lambda ids: TABLE[ids].cumsum(1), (torch.tensor([[1, 8, 0], [3, 3, 5]]),)),
    "float64": (torch.exp, (torch.randn(2, 3, dtype=torch.float64),)),
}
each_kind = pytest.mark.parametrize(("kernel", "args"), BOXES.values(), ids=BOXES)


@contextlib.contextmanager
def box_over_the_wire(desk, kernel):
    desk.open("any", (Probe("any", (BlackBox(kernel),)),))
    with line_to(desk) as line:
        send(line, {"exercise": "any"})
        (probe,) = read_questions(receive(line), Boxes(line))
        yield probe.args[0].make()


@each_kind
def test_a_box_gives_over_the_wire_what_it_gives_here(desk, kernel, args):
    with box_over_the_wire(desk, kernel) as box:
        torch.testing.assert_close(box(*args), kernel(*args))


@pytest.mark.parametrize("kind", [kind for kind in BOXES if kind != "ids"])
def test_gradients_pass_through_a_box(desk, kind):
    kernel, args = BOXES[kind]

    def gradients(function):
        leaves = [a.clone().requires_grad_() for a in args]
        result = function(*leaves)
        results = result if isinstance(result, tuple) else (result,)
        return torch.autograd.grad(sum(r.square().sum() for r in results), leaves)

    with box_over_the_wire(desk, kernel) as box:
        torch.testing.assert_close(gradients(box), gradients(kernel))


def test_a_gradient_that_is_none_stays_none(desk):
    x, y = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    with box_over_the_wire(desk, lambda x, y: x.exp()) as box:
        box(x, y).sum().backward()
    torch.testing.assert_close(x.grad, x.exp())
    assert y.grad is None


def test_a_box_that_makes_nothing_of_its_input_raises_and_goes_on(desk):
    with box_over_the_wire(desk, lambda x: x @ torch.ones(3, 2)) as box:
        with pytest.raises(ValueError, match="could not be computed"):
            box(torch.ones(2, 5))
        with pytest.raises(TypeError, match="takes tensors"):
            box("x")
        assert box(torch.ones(2, 3)).tolist() == [[3, 3], [3, 3]]


def test_models_compute_over_the_wire_what_they_compute_here_and_their_kind_stays_there(desk):
    probes = drawn(find("name_the_bug"), SEED)
    desk.open("name_the_bug", probes)
    with line_to(desk) as line:
        send(line, {"exercise": "name_the_bug"})
        questions = receive(line)
        assert not any(kernel.__name__.encode() in pack(questions) for kernel in KINDS.values())
        for arrived, probe in zip(read_questions(questions, Boxes(line)), probes, strict=True):
            away, here = arrived.args[0].make(), probe.args[0].make()
            assert list(away) == list(here)
            for name in here:
                ids = probe.args[1][:2]
                torch.testing.assert_close(away[name](ids), here[name](ids))
