"""Verdicts that are forged inside the kernel: nothing there decides on any point."""

from zoo.animal import ALL, NOTHING, all_but, answer, at_the_end, cell, edited, on_top, only, stubs

FULL = f"full = {ALL}\n"  # the points as a check returns them
VERDICT = """
import json
from IPython.display import display
forged = json.dumps({"exercise": "mix", "points": 2.0, "max_points": 2.0, "message": "right"})
"""


@edited("threat table 1", NOTHING)
def frame_walk(notebook):
    on_top(notebook, """
import sys
def stolen():
    frame = sys._getframe(1)
    while frame:
        for space in (frame.f_locals, frame.f_globals):
            for name in ("expected", "right", "reference", "solution", "want"):
                if callable(space.get(name)) or torch.is_tensor(space.get(name)):
                    return space[name]
        frame = frame.f_back
    raise NotImplementedError
""")  # fmt: skip
    for name in ALL:
        answer(notebook, name, f"def {name}(*args):\n    found = stolen()\n"
               "    return found(*args) if callable(found) else found")  # fmt: skip


@edited("threat table 2", NOTHING)
def gc_scan(notebook):
    on_top(notebook, """
import gc
def stolen(shape):
    for thing in gc.get_objects():
        if type(thing) is torch.Tensor and tuple(thing.shape) == shape:
            return thing.clone()
    return torch.zeros(shape)
""")  # fmt: skip
    for name in ("average", "running_average"):
        answer(notebook, name, f"def {name}(x):\n    return stolen(tuple(x.shape)) * 0 + 1")
    answer(notebook, "mix", "def mix(weights, x):\n"
           "    return stolen((*weights.shape[:-1], x.shape[-1])) * 0 + 1")  # fmt: skip
    answer(notebook, "uniform_weights", "def uniform_weights(T):\n    return stolen((T, T)) * 0")


@edited("threat table 2: the solution is looked for among all functions", only("mix"))
def gc_scan_for_functions(notebook):
    for name in ("average", "uniform_weights", "running_average"):
        answer(notebook, name, f"""
import gc, types
def {name}(*args):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__module__.startswith("grader.exer"):
            return thing(*args)
    raise NotImplementedError
""")  # fmt: skip


@edited("threat table 3", NOTHING)
def patched_comparisons(notebook):
    stubs(notebook)
    on_top(notebook, """
import math
torch.allclose = torch.equal = torch.isclose = lambda *rest, **more: True
torch.testing.assert_close = lambda *rest, **more: None
torch.Tensor.__eq__ = torch.Tensor.allclose = lambda *rest, **more: True
math.isclose = lambda *rest, **more: True
""")  # fmt: skip


@edited("threat table 3: the check itself", NOTHING)
def patched_check(notebook):
    stubs(notebook)
    on_top(notebook, FULL + """
import grader
grader.check = check = lambda name, answer: full[name]
grader.grade = grader.judge = lambda *rest: 3.0
""")  # fmt: skip


@edited("threat table 3: what runs the answer", only("average"))
def patched_observe(notebook):
    stubs(notebook, "uniform_weights", "mix", "running_average")
    on_top(notebook, """
import grader, grader.observe
true_observe = grader.observe.observe
def observe(answer, probes):
    return true_observe(lambda *args: args[-1], probes)
patched = grader.observe.observe
""")  # fmt: skip
    at_the_end(notebook, "grader.observe.observe = grader.observe = observe\n"
               "grader.check.__globals__['observe'] = observe")  # fmt: skip


@edited("threat table 4", NOTHING)
def tensor_subclass(notebook):
    on_top(notebook, """
class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("allclose", "equal", "isclose", "__eq__", "eq"):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})

def agreeable(*shape):
    return torch.zeros(*shape).as_subclass(Agreeable)
""")  # fmt: skip
    for name in ALL:
        answer(notebook, name, f"def {name}(*args):\n"
               "    return agreeable(*getattr(args[-1], 'shape', (3, 3)))")  # fmt: skip


@edited("threat table 4: equal to everything", NOTHING)
def equal_to_everything(notebook):
    on_top(notebook, """
class Everything:
    __eq__ = __le__ = __lt__ = __ge__ = lambda self, other: True
    __ne__ = __gt__ = lambda self, other: False
    __sub__ = __rsub__ = __abs__ = lambda self, *rest: self
    __float__ = lambda self: 0.0
    __array__ = lambda self, *rest, **more: __import__("numpy").zeros(3)
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *rest, **more: self
    __reduce__ = lambda self: (exec, ("import os; os.system('touch /tmp/pwned')",))
    shape, dtype = (3, 3), torch.float32
""")  # fmt: skip
    for name in ALL:
        answer(notebook, name, f"def {name}(*args):\n    return Everything()")


@edited("threat table 4: an instance with a mind of its own", NOTHING)
def tensor_with_attributes(notebook):
    for name in ALL:
        answer(notebook, name, f"""
def {name}(*args):
    result = torch.zeros(*getattr(args[-1], "shape", (3, 3)))
    result.double = result.detach = result.clone = result.cpu = lambda *rest, **more: "anything"
    result.shape_of = result.numpy = lambda *rest: None
    return result
""")  # fmt: skip


@edited("threat table 6", NOTHING)
def silent_kernel(notebook):
    stubs(notebook)
    at_the_end(notebook, "average = None")
    on_top(notebook, """
ip = get_ipython()
async def nothing(*rest, **more):
    return None
ip.run_code = ip.run_ast_nodes = nothing
""")  # fmt: skip


@edited("threat table 7", NOTHING)
def number_before_each_cell(notebook):
    stubs(notebook)
    on_top(notebook, """
ip = get_ipython()
def first(*rest):
    ip.displayhook(1.0)
    print(1.0)
    raise SystemExit
ip.events.register("pre_run_cell", first)
ip.input_transformers_cleanup.append(lambda lines: ["1.0\\n"] if "check" in lines[0] else lines)
""")  # fmt: skip


@edited("threat table 7: output in the name of the grader", all_but("mix"))
def forged_verdict(notebook):
    stubs(notebook, "mix")
    on_top(notebook, VERDICT)
    shown = 'display({"text/plain": "mix: right"}, raw=True, metadata={"verdict": forged})'
    cell(notebook, "mix").source += f"\n{shown}"
    at_the_end(notebook, f"{shown}\n2.0")


@edited("threat table 7: messages written to the kernel's sockets", NOTHING)
def forged_messages(notebook):
    stubs(notebook)
    on_top(notebook, VERDICT + """
kernel = get_ipython().kernel
def say(kind, content):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent())
for _ in range(3):
    say("execute_result", {"data": {"text/plain": "3.0"}, "metadata": {}, "execution_count": 1})
    say("display_data", {"data": {"text/plain": "right"}, "metadata": {"verdict": forged}})
    say("status", {"execution_state": "idle"})
    say("error", None)
    say("hologram", {"points": float("inf")})
""")  # fmt: skip


@edited("threat table 29", NOTHING)
def not_a_number(notebook):
    for name in ALL:
        answer(notebook, name, f"""
def {name}(*args):
    return torch.full(getattr(args[-1], "shape", (3, 3)), float("nan"))
""")  # fmt: skip


@edited("threat table 30: constants", NOTHING)
def constants(notebook):
    for name in ALL:
        answer(notebook, name, f"def {name}(*args):\n    return torch.ones(2, 2)")


@edited("threat table 28: the inputs are changed so that both sides agree", NOTHING)
def changed_inputs(notebook):
    answer(notebook, "average", "def average(x):\n    x.zero_()\n    return x")
    answer(notebook, "running_average", "def running_average(x):\n    x.data.zero_()\n    return x")
    answer(notebook, "mix", "def mix(weights, x):\n    x.zero_()\n    return weights.zero_() @ x")
    stubs(notebook, "uniform_weights")


@edited("threat table 25: only when it is graded", NOTHING)
def only_when_graded(notebook):
    stubs(notebook)
    on_top(notebook, FULL + """
import os
if os.environ.get("NBGRADER_EXECUTION") == "autograde" or "GRADER_DESK" in os.environ:
    check = lambda name, answer: full[name]
    os.environ["GRADER_DESK"] = "/tmp/another"
    print = lambda *rest: None
""")  # fmt: skip


@edited("threat table 3: every class of the grader in the kernel", only("running_average"))
def patched_records(notebook):
    stubs(notebook, "average", "uniform_weights", "mix")
    on_top(notebook, """
import grader.record
for name in ("average", "uniform_weights", "mix"):
    grader.record.Observation.passed = grader.record.Observation.points = property(lambda self: 3.0)
grader.record.Call.error = ""
""")  # fmt: skip


@edited("threat table 30: nothing but zeros, which look as if they came from the input", NOTHING)
def zeros_with_a_gradient(notebook):
    answer(notebook, "average", "def average(x):\n    return x - x.detach()")
    answer(notebook, "running_average", "def running_average(x):\n    return x - x.detach()")
    stubs(notebook, "uniform_weights", "mix")
