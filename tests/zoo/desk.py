"""Lies told to the grader over its own socket, and what comes of listening in on it."""

from zoo.animal import (
    ALL,
    NOTHING,
    all_but,
    answer,
    at_the_end,
    below,
    edited,
    on_top,
    only,
    stubs,
)

LINE = """
import os, socket, struct, threading, time
import grader
from grader import wire
def line():
    made = socket.socket(socket.AF_UNIX)
    made.connect(os.environ["GRADER_DESK"])
    return made
"""
FORGED = """
def forged(questions, output):
    call = {"output": output, "again": output, "reloaded": None, "error": "", "where": "",
            "second_error": "", "kept": True, "gradient_error": "", "gradients": (), "changed": {},
            "parameters": None, "shared": (), "constants": False, "operations": ()}
    return {"calls": [call for _ in questions], "refused": "", "reads": (), "seconds": 0.1}
"""


@edited("threat table 27: an observation of our own, before that of the check", NOTHING)
def forged_observation(notebook):
    stubs(notebook)
    on_top(notebook, LINE + FORGED + """
def check(name, answer):
    with line() as one:
        wire.send(one, {"exercise": name})
        questions = wire.receive(one)
        if questions:
            wire.send(one, {"observation": forged(questions, torch.ones(3, 3))})
            wire.receive(one)
    return 3.0
grader.check = check
""")  # fmt: skip


@edited("fields that an observation does not have", NOTHING)
def observation_with_a_verdict(notebook):
    stubs(notebook)
    on_top(notebook, LINE + FORGED + """
def check(name, answer):
    with line() as one:
        wire.send(one, {"exercise": name})
        made = forged(wire.receive(one) or [], None)
        made |= {"points": 3.0, "passed": True, "verdict": {"points": 3.0}}
        wire.send(one, {"observation": made, "points": 3.0, "verdict": "right"})
        wire.receive(one)
    return 3.0
grader.check = check
""")  # fmt: skip


@edited("threat table 27: what was once right, sent once more", only("average"))
def replayed_observation(notebook):
    stubs(notebook, "uniform_weights", "mix", "running_average")
    on_top(notebook, LINE + """
kept, true_send, true_check = [], wire.send, grader.check
def remembering(one, value):
    if isinstance(value, dict) and "observation" in value:
        kept.append(value)
        value = kept[0]
    true_send(one, value)
wire.send = grader.check.__globals__["send"] = remembering
""")  # fmt: skip


@edited("threat table 27: answers remembered from an earlier run of the same check", all_but("mix"))
def answers_from_the_last_time(notebook):
    answer(notebook, "mix", """
kept = {}
def mix(weights, x):
    key = (tuple(weights.shape), tuple(x.shape))
    return kept.setdefault(key, torch.zeros(*weights.shape[:-1], x.shape[-1]))
""")  # fmt: skip


GARBAGE = (
    LINE
    + """
def noise():
    while True:
        for data in (b"", b"\\0" * 8, b"x" * 100, struct.pack("<Q", 2**62) + b"x" * 4096,
                     struct.pack("<QQ", 30, 14) + b'{"dict": [[]]}' + b"[" * 8,
                     struct.pack("<QQ", 12, 2**63) + b"{}{}"):
            try:
                with line() as one:
                    one.sendall(data)
            except OSError:
                pass
            time.sleep(0.02)
"""
)


@edited("section 5, pitfall 3: frames of garbage while the checks go on")
def garbage_on_the_desk(notebook):
    on_top(notebook, GARBAGE + "threading.Thread(target=noise, daemon=True).start()")


@edited("section 5, pitfall 3: a frame that never ends", only("running_average"))
def garbage_in_place_of_an_answer(notebook):
    stubs(notebook, "average", "uniform_weights", "mix")
    on_top(notebook, LINE + """
true_check = grader.check
def check(name, answer):
    if name == "running_average":
        return true_check(name, answer)
    with line() as one:
        wire.send(one, {"exercise": name})
        wire.receive(one)
        if name == "average":
            one.sendall(struct.pack("<Q", 2**40))
        elif name == "mix":
            one.sendall(struct.pack("<Q", 2**25) + bytes(2**25))
        else:
            wire.send(one, ["observation", {"points": 1}])
    return 3.0
grader.check = check
""")  # fmt: skip


@edited("names that are looked up on a module by a careless reader", only("mix"))
def names_to_look_up(notebook):
    stubs(notebook, "average", "uniform_weights", "running_average")
    on_top(notebook, LINE + """
true_check = grader.check
def check(name, answer):
    if name == "mix":
        return true_check(name, answer)
    with line() as one:
        wire.send(one, {"exercise": name})
        wire.receive(one)
        for data in (b'{"os.system": "id"}', b'{"tensor": ["t0", [0, 0, 9]]}',
                     b'{"tuple": ' + b'{"tuple": [' * 5000, b'{"other": {"other": 3}}'):
            try:
                with line() as one:
                    body = struct.pack("<Q", len(data)) + data + wire.pack({})[-8:]
                    one.sendall(struct.pack("<Q", len(body)) + body)
            except OSError:
                pass
    return 3.0
grader.check = check
""")  # fmt: skip


@edited("the questions of other exercises, asked for at the wrong time", NOTHING)
def asks_for_everything(notebook):
    stubs(notebook)
    on_top(notebook, LINE + """
for name in ("average", "uniform_weights", "mix", "running_average", "which_scale", "../gradebook"):
    for request in ({"exercise": name}, {"solution": name}, {"box": 0, "args": ()}, {"seed": 1}):
        with line() as one:
            wire.send(one, request)
            got = wire.receive(one)
            assert got is None, "STOLEN"
""")  # fmt: skip


MARK = 'MARK = "HIDDEN-" "INPUT"\n'  # in two parts: the source of an answer is on the page, too


@edited("threat table 33: inputs kept and printed in a later cell", ALL)
def prints_what_it_was_given(notebook):
    on_top(notebook, MARK)
    answer(notebook, "mix", """
given = []
def mix(weights, x):
    given.append(x.detach().clone())
    print(MARK, x.flatten()[0].item())
    return weights @ x
""")  # fmt: skip
    for name in ("check-mix", "museum"):
        below(notebook, name, "for x in given:\n    print(MARK, x.flatten()[:9].tolist())")
    at_the_end(notebook, "raise ValueError(f'{MARK} {given[0].flatten()[0].item()}')")


@edited("threat table 33, section 5, pitfall 9", all_but("mix"), says="ValueError")
def raises_what_it_was_given(notebook):
    on_top(notebook, MARK)
    answer(notebook, "mix", """
def mix(weights, x):
    raise ValueError(f"{MARK} {x.flatten()[0].item()} {x.tolist()}")
""")  # fmt: skip


@edited("threat table 33: the same in whole numbers and in letters", only("running_average"))
def raises_it_in_other_words(notebook):
    on_top(notebook, MARK)
    answer(notebook, "average", """
def average(x):
    raise ValueError(f"{MARK} {int(x.flatten()[0].item() * 10**9)}")
""")  # fmt: skip
    answer(notebook, "mix", """
def mix(weights, x):
    raise type(f"{MARK} {x.flatten()[0].item().hex()}", (Exception,), {})
""")  # fmt: skip
    answer(notebook, "uniform_weights", """
def uniform_weights(T):
    return f"{MARK} {T}"
""")  # fmt: skip
