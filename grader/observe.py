"""Runs an untrusted answer on the probes and records what came back. It knows no right answer."""

import linecache
import time
import traceback
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import TorchDispatchMode

from grader.compare import article, close
from grader.probes import Probe
from grader.quiet import fresh_state, quiet
from grader.record import Call, Observation, Other

LONGEST_TEXT = 300
MOST_ITEMS = 64
PLAIN_DTYPES = {
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
}  # fmt: skip


def observe(answer: Any, probes: tuple[Probe, ...], *, once: bool = False) -> Observation:
    """Call the answer on copies of every probe's inputs; raises nothing, prints nothing.

    Every probe is called again in reverse order, so that an answer that remembers earlier
    calls, or shares something between instances, gives itself away; then for gradients. With
    `once` only the first calls are made.
    Example: `observe(torch.exp, (Probe("one", (torch.zeros(3),)),)).calls[0].output` -> ones
    """
    if refused := _refusal(answer, probes):
        return Observation(refused=refused)
    start = time.perf_counter()
    facts: list[dict[str, Any]] = [{} for _ in probes]
    try:
        with quiet(), fresh_state():
            _run(answer, list(zip(probes, facts, strict=True)), once)
    except KeyboardInterrupt:  # the stop button, or a time limit
        return Observation(refused="it was interrupted before it came to an end")
    return Observation(tuple(Call(**fact) for fact in facts), seconds=time.perf_counter() - start)


def _run(answer: Callable, todo: list[tuple[Probe, dict[str, Any]]], once: bool) -> None:
    """Make every instance before the first call, then go forwards, backwards and for gradients."""
    targets = [_guarded(_prepare, answer, probe, fact, slot="error") for probe, fact in todo]
    ready = [(t, probe, fact) for t, (probe, fact) in zip(targets, todo, strict=True) if t]
    results = [_guarded(_first_call, *each, slot="error") for each in ready]
    if once:
        return
    for each, result in zip(ready, results, strict=True):
        _guarded(_look_back, result, each[-1], slot="second_error")
    for each in reversed(ready):
        _guarded(_second_call, *each, slot="second_error")
    for each in ready:
        _guarded(_gradient_call, *each, slot="gradient_error")


def _refusal(answer: Any, probes: tuple[Probe, ...]) -> str:
    """Why the answer cannot be called at all, or an empty string."""
    noun = f"{article(type(answer).__name__)} {type(answer).__name__}"
    wants_class = any(probe.init is not None for probe in probes)
    if wants_class and isinstance(answer, nn.Module):
        return "an instance came in; hand over the class itself, without parentheses"
    if wants_class and not callable(answer):
        return f"{noun} came in where a class is expected"
    if not callable(answer):
        return (
            f"{noun} came in where a function is expected; hand over the "
            "function itself, without parentheses"
        )
    return ""


def _guarded(step: Callable, *args: Any, slot: str) -> Any:
    """Run one step of the student's code; whatever it raises becomes a string in the facts."""
    fact = args[-1]
    if "error" in fact:
        return None
    try:
        with torch.enable_grad():
            return step(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit included
        fact[slot] = _describe(error)
        fact["where"] = _student_line(error)
        return None


def _prepare(answer: Callable, probe: Probe, fact: dict[str, Any]) -> Callable:
    """The function to call: the answer itself, or an instance that holds the probe's weights."""
    if probe.init is None:
        return answer
    module = answer(*probe.init)
    if not isinstance(module, nn.Module):
        raise TypeError(f"{type(module).__name__} is not an nn.Module")
    if probe.dtype is not None:
        module = module.to(probe.dtype)
    _load(module, probe.weights)
    named = list(module.named_parameters(remove_duplicate=False))[:MOST_ITEMS]
    seen: dict[int, str] = {}
    fact["parameters"] = {name: list(p.shape) for name, p in named}
    fact["shared"] = tuple(name for name, p in named if seen.setdefault(id(p), name) != name)
    return module


def _load(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Give the parameters that are there, and of the right shape, their values."""
    named = dict(module.named_parameters(remove_duplicate=False))
    fitting = {
        name: weight
        for name, weight in weights.items()
        if name in named and (is_lazy(named[name]) or named[name].shape == weight.shape)
    }
    module.load_state_dict(fitting, strict=False)


def _first_call(target: Callable, probe: Probe, fact: dict[str, Any]) -> Any:
    args = [_copy(arg) for arg in probe.args]
    with _Operations() if probe.watched else nullcontext() as used:
        result = target(*args)
    fact["output"] = _plain(result)
    fact["operations"] = tuple(sorted(used.names)) if used else ()
    fact["changed"] = tuple(
        str(i)
        for i, (arg, given) in enumerate(zip(args, probe.args, strict=True))
        if _differs(arg, given)
    )
    return result


def _look_back(result: Any, fact: dict[str, Any]) -> None:
    """Whether an output is still what it was, now that there were other calls."""
    now, then = _plain(result), fact["output"]
    fact["kept"] = type(now) is type(then) and close(now, then, 0, 0)


def _second_call(target: Callable, probe: Probe, fact: dict[str, Any]) -> None:
    if isinstance(target, nn.Module):
        _load(target, {name: weight.flip(0) / 2 for name, weight in probe.weights.items()})
        target.eval()
    fact["again"] = _plain(target(*[_copy(arg) for arg in probe.args]))


def _gradient_call(target: Callable, probe: Probe, fact: dict[str, Any]) -> None:
    args, sources = [], {}
    for i, given in enumerate(probe.args):
        arg = _copy(given)
        if isinstance(arg, Tensor) and arg.is_floating_point():
            sources[str(i)] = arg.requires_grad_()
            arg = arg.clone()  # not a leaf, so that writing into it is seen and not an error
        args.append(arg)
    named = dict(target.named_parameters()) if isinstance(target, nn.Module) else {}
    sources |= {name: parameter for name, parameter in named.items() if parameter.requires_grad}
    if not sources:
        return
    result = target(*args)
    outputs = result if isinstance(result, tuple | list) else (result,)
    fact["gradients"] = tuple(_gradients(output, sources) for output in outputs[:MOST_ITEMS])


def _gradients(output: Any, sources: dict[str, Tensor]) -> dict[str, Tensor | None]:
    """The gradient of a fixed, uneven weighing of one output, with respect to every source."""
    if not (isinstance(output, Tensor) and output.requires_grad):
        return dict.fromkeys(sources)
    uneven = torch.cos(torch.arange(output.numel(), dtype=torch.float64)).reshape(output.shape)
    found = torch.autograd.grad(
        (output * uneven.to(output.dtype)).sum(),
        list(sources.values()),
        allow_unused=True,
        retain_graph=True,
    )
    return {name: _plain(g) for name, g in zip(sources, found, strict=True)}


class _Operations(TorchDispatchMode):
    """Notes the names of the aten operations that run, whichever way they were called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def _copy(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given.clone()
    return given.make() if hasattr(given, "make") else given


def _differs(arg: Any, given: Any) -> bool:
    """Whether an argument is no longer what was handed over, in values or in kind."""
    if isinstance(arg, nn.Linear):
        if arg.bias is not None or not arg.weight.requires_grad:
            return True
        arg, given = arg.weight.detach(), given.weight
    if not isinstance(arg, Tensor):
        return False
    same_kind = (arg.shape, arg.dtype, arg.requires_grad) == (given.shape, given.dtype, False)
    return not (same_kind and torch.equal(arg, given))


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with nothing of the student's left in it: see `Call`."""
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, numpy.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str):
        return _words(value)
    if isinstance(value, tuple | list) and depth < 3 and len(value) <= MOST_ITEMS:
        return tuple(_plain(item, depth + 1) for item in value)
    if isinstance(value, dict) and depth < 3 and len(value) <= MOST_ITEMS:
        return {_words(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, types.CoroutineType | types.GeneratorType):
        value.close()  # or Python complains on stderr that it was never awaited
    return Other(type(value).__name__)


def _plain_tensor(value: Tensor) -> Tensor | Other:
    """A dense copy on the CPU, or what kind of tensor it is if it cannot be one."""
    dense = value.layout is torch.strided and not value.is_nested and not value.is_quantized
    if not (dense and value.dtype in PLAIN_DTYPES and value.device.type != "meta"):
        return Other(f"tensor ({value.layout}, {value.dtype}, {value.device.type})")
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return torch.Tensor.detach(value).as_subclass(torch.Tensor).cpu().clone()
    except Exception:  # a tensor in name only, such as a fake one
        return Other("tensor without numbers")


def _words(text: str) -> str:
    """At most LONGEST_TEXT characters that can be written anywhere."""
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


def _describe(error: BaseException) -> str:
    try:
        text = _words(" ".join(str(error).split()))
    except BaseException:  # an exception may be written to fail when it is printed
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _student_line(error: BaseException) -> str:
    """The deepest line outside this package and outside libraries, e.g. 'line 3: q @ k'."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "site-packages" in frame.filename or frame.filename == __file__:
            continue
        line = linecache.getline(frame.filename, frame.lineno or 0).strip()
        return _words(f"line {frame.lineno}: {line}") if line else ""
    return ""
