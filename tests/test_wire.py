"""What goes over the wire arrives as it was, and what is no message is refused as such."""

import json
import random
import socket

import pytest
import torch
from safetensors.torch import save

from grader.observe import observe
from grader.probes import Probe, strided
from grader.record import Observation
from grader.wire import Garbled, Other, is_plain, pack, receive, send, unpack

VALUES = {
    "nothing": None,
    "numbers": (1, -2.5, True, float("inf")),
    "words": ["é", "", {"a": "b"}],
    "a tuple in a dict in a list": [{"k": (1, (2, "x"))}],
    "another kind": Other("ndarray"),
}
TENSORS = {
    "a table": torch.randn(3, 5),
    "a number": torch.tensor(2.0, dtype=torch.float64),
    "no numbers": torch.zeros(0, 4),
    "half precision": torch.randn(2, 3).to(torch.bfloat16),
    "truths": torch.tensor([True, False]),
    "whole numbers": torch.arange(6).reshape(2, 3),
    "another layout": strided(torch.randn(2, 5, 3)),
    "columns first": torch.randn(4, 7).T,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_plain_values_arrive_as_they_were(value):
    assert unpack(pack(value)) == value


@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_tensors_arrive_with_their_dtype_and_layout(tensor):
    arrived = unpack(pack({"x": tensor}))["x"]
    assert torch.equal(arrived, tensor)
    assert (arrived.dtype, arrived.stride()) == (tensor.dtype, tensor.stride())


def test_a_frame_that_was_tampered_with_is_garbled_or_another_plain_value():
    """Whatever bytes come, `unpack` returns plain values or raises Garbled, and nothing else."""
    whole = pack({"observation": observe(torch.exp, (Probe("", (torch.ones(2),)),)).to_plain()})
    chance = random.Random(4)
    for _ in range(2_000):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data = data[: chance.randint(0, len(data))] if chance.random() < 0.3 else data
        try:
            value = unpack(bytes(data))
            Observation.from_plain(value.get("observation") if isinstance(value, dict) else value)
        except Garbled:
            pass


FORGED = {
    "no record": 5,
    "a field too many": {"calls": [], "refused": "", "reads": (), "seconds": 0.0, "points": 9},
    "a field too few": {"calls": [], "refused": "", "reads": ()},
    "points in place of calls": {"calls": [9.0], "refused": "", "reads": (), "seconds": 0.0},
    "words in place of time": {"calls": [], "refused": "", "reads": (), "seconds": "0"},
    "a long refusal": {"calls": [], "refused": "x" * 5_000, "reads": (), "seconds": 0.0},
}


@pytest.mark.parametrize("values", FORGED.values(), ids=FORGED)
def test_a_record_with_other_fields_is_no_record(values):
    with pytest.raises(Garbled):
        Observation.from_plain(values)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("error", 5), ("error", "half a character: \ud800"), ("shared", ("\udfff",)),
        ("output", [[[[[[1]]]]]]), ("output", "x" * 5_000), ("kept", 1),
        ("gradients", ({"0": 3},)), ("gradients", {"0": None}), ("parameters", {"w": [1.5]}),
        ("operations", ("a", 1)), ("changed", None), ("changed", {"<b>": 1}), ("again", 2**70),
    ],
)  # fmt: skip
def test_every_field_of_a_call_is_looked_at(name, value):
    plain = observe(torch.exp, (Probe("", (torch.ones(2),)),)).to_plain()
    Observation.from_plain(plain)
    plain["calls"][0] = plain["calls"][0] | {name: value}
    with pytest.raises(Garbled):
        Observation.from_plain(plain)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e5m2, torch.uint16])
def test_numbers_that_nobody_can_compare_are_not_plain(dtype):
    assert not is_plain(torch.ones(2).to(dtype))


def test_deep_nests_and_tensors_of_many_axes_are_not_plain():
    assert not is_plain(torch.ones([1] * 17))
    assert is_plain((torch.ones(2), ("a", {"b": None})))
    assert not is_plain([[[[[[0]]]]]])


def test_a_frame_over_the_limit_is_not_read():
    ours, theirs = socket.socketpair()
    send(theirs, "x" * 100)
    with pytest.raises(Garbled, match="more than 10"):
        receive(ours, most=10)


def test_a_long_order_of_axes_and_a_long_text_are_refused_before_they_are_worked_through():
    long = list(range(100_000))
    for value in (
        {"tensor": ["r", 0, [1], long]},
        {"tensor": ["r", 0, long, [0]]},
        [[]] * 1_500_000,
    ):
        text = json.dumps(value).encode()
        with pytest.raises(Garbled, match="axes|more than"):
            unpack(len(text).to_bytes(8, "little") + text + save({}))


@pytest.mark.parametrize(
    "place",
    [
        ["other", 0, [2], [0]], ["row", -2, [2], [0]], ["row", 4, [2], [0]], ["row", 0, [6], [0]],
        ["row", 0, [-1], [0]], ["row", 0.0, [2], [0]], ["row", 0, [True], [0]],
        ["row", 0, [2], [1]], ["row", 0, [2, 2], [0]], ["row", 0, [2]], ["row", 0, 2, [0]], 5,
    ],
)  # fmt: skip
def test_a_tensor_that_is_not_in_its_row_is_garbled(place):
    text = json.dumps({"tensor": place}).encode()
    with pytest.raises(Garbled):
        unpack(len(text).to_bytes(8, "little") + text + save({"row": torch.ones(5)}))


def test_tensors_of_one_dtype_travel_in_one_row():
    sent = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.tensor(7.0), "c": torch.ones(0, 4)}
    came = unpack(pack(sent))
    assert all(torch.equal(came[name], value) for name, value in sent.items())
    assert [came[name].stride() for name in "ab"] == [sent[name].stride() for name in "ab"]
    assert pack(sent).count(b"float32") == 3 + 1  # one name each, one row


def test_whoever_stops_in_the_middle_of_a_frame_is_not_waited_for():
    ours, theirs = socket.socketpair()
    theirs.sendall(b"\x20\0\0\0\0\0\0\0half")
    with pytest.raises(Garbled, match="in time"):
        receive(ours, seconds=0.05)


def test_whoever_hangs_up_in_the_middle_of_a_frame_is_noticed():
    ours, theirs = socket.socketpair()
    theirs.sendall(b"\x20\0\0\0\0\0\0\0half")
    theirs.close()
    with pytest.raises(Garbled, match="cut off"):
        receive(ours)
