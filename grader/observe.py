"""Runs an untrusted answer on the probes and records what came back. It knows no right answer."""

import dis
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from grader.compare import close, with_article
from grader.plain import error_text, plain, student_line
from grader.probes import Models, Probe
from grader.quiet import fresh_state, quiet
from grader.record import Call, Observation
from grader.watch import Operations

MOST_OUTPUTS = 64
STOPPED = "it was interrupted before it came to an end. Is there a loop that never ends?"


def observe(answer: Any, probes: tuple[Probe, ...]) -> Observation:
    """Call the answer on copies of every probe's inputs; raises nothing, prints nothing.

    Every probe is called again in reverse order, so that an answer that remembers earlier
    calls, or shares something between instances, gives itself away; then for gradients.
    Example: `observe(torch.exp, (Probe("one", (torch.zeros(3),)),)).calls[0].output` -> ones
    """
    if refused := _refusal(answer, probes):
        return Observation(refused=refused)
    start = time.perf_counter()
    facts: list[dict[str, Any]] = [{} for _ in probes]
    try:
        with quiet(), fresh_state():
            _run(answer, list(zip(probes, facts, strict=True)))
    except KeyboardInterrupt:  # the stop button, or a time limit
        return Observation(refused=STOPPED)
    seconds = time.perf_counter() - start
    return Observation(tuple(Call(**fact) for fact in facts), reads=_reads(answer), seconds=seconds)


def first_call(kernel: Callable, probe: Probe) -> Call:
    """A kernel of ours on one probe: one call, the noise it makes, and of an error the type."""
    fact: dict[str, Any] = {}
    try:
        with torch.no_grad():
            _first_call(_prepare(kernel, probe, fact), probe, fact)
    except Exception as error:
        fact["error"] = type(error).__name__
    return Call(**fact)


def _run(answer: Callable, todo: list[tuple[Probe, dict[str, Any]]]) -> None:
    """Make every instance before the first call, then go forwards, backwards and for gradients."""
    targets = [_guarded(_prepare, answer, probe, fact, slot="error") for probe, fact in todo]
    ready = [(t, probe, fact) for t, (probe, fact) in zip(targets, todo, strict=True) if t]
    results = [_guarded(_first_call, *each, slot="error") for each in ready]
    for each, result in zip(ready, results, strict=True):
        _guarded(_look_back, result, each[-1], slot="second_error")
    for each in reversed(ready):
        _guarded(_second_call, *each, slot="second_error")
    for each in ready:
        _guarded(_gradient_call, *each, slot="gradient_error")


def _refusal(answer: Any, probes: tuple[Probe, ...]) -> str:
    """Why the answer cannot be called at all, or an empty string."""
    noun = with_article(type(answer).__name__)
    wants_class = any(probe.init is not None for probe in probes)
    if wants_class and isinstance(answer, nn.Module):
        return "an instance came in; hand over the class itself, without parentheses."
    if wants_class and not callable(answer):
        return f"{noun} came in where a class is expected."
    if not callable(answer):
        return (
            f"{noun} came in where a function is expected; hand over the "
            "function itself, without parentheses."
        )
    return ""


def _reads(answer: Any) -> tuple[str, ...]:
    """The notebook's whole numbers and tensors that a function or a class's methods read."""
    members = vars(answer).values() if isinstance(answer, type) else [answer]
    return tuple(
        sorted(
            {
                step.argval
                for function in members
                if isinstance(function, FunctionType)
                for step in dis.get_instructions(function)
                if step.opname == "LOAD_GLOBAL"
                and type(function.__globals__.get(step.argval)) in (int, Tensor)
            }
        )
    )


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
        fact[slot] = error_text(error)
        fact["where"] = student_line(error)
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
    fact["constants"] = _has_constants(module)
    named = list(module.named_parameters(remove_duplicate=False))[:MOST_OUTPUTS]
    seen: dict[int, str] = {}
    fact["parameters"] = {name: list(p.shape) for name, p in named}
    fact["shared"] = tuple(name for name, p in named if seen.setdefault(id(p), name) != name)
    return module


def _has_constants(module: nn.Module) -> bool:
    """Whether it keeps floating numbers beside its parameters, which may have lost digits."""
    kept = (*module.buffers(), *vars(module).values())
    return any(isinstance(each, Tensor) and each.is_floating_point() for each in kept)


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
    if probe.earlier:
        target(*[_copy(arg) for arg in probe.earlier])
    args = [_copy(arg) for arg in probe.args]
    with Operations(args) if probe.watched else nullcontext() as used:
        result = target(*args)
    fact["output"] = plain(result)
    if used:
        fact["operations"], fact["peak"] = tuple(sorted(used.names)), used.peak
    fact["changed"] = {
        str(i): plain(getattr(arg, "weight", arg))
        for i, (arg, given) in enumerate(zip(args, probe.args, strict=True))
        if _differs(arg, given)
    }
    return result


def _look_back(result: Any, fact: dict[str, Any]) -> None:
    """Whether an output is still what it was, now that there were other calls."""
    now, then = plain(result), fact["output"]
    fact["kept"] = type(now) is type(then) and close(now, then, 0, 0)


def _second_call(target: Callable, probe: Probe, fact: dict[str, Any]) -> None:
    fact["again"] = plain(target(*[_copy(arg) for arg in probe.args]))


def _gradient_call(target: Callable, probe: Probe, fact: dict[str, Any]) -> None:
    floating = any(isinstance(arg, Tensor) and arg.is_floating_point() for arg in probe.args)
    if not (floating or isinstance(target, nn.Module)):
        return  # before black boxes and models are made
    args, sources = [], {}
    for i, given in enumerate(probe.args):
        arg = _copy(given)
        if isinstance(arg, Tensor) and arg.is_floating_point():
            sources[str(i)] = arg.requires_grad_()
            arg = arg.clone()  # not a leaf, so that writing into it is seen and not an error
        args.append(arg)
    named = {}
    if isinstance(target, nn.Module):
        _load(target, {name: weight.flip(0) / 2 for name, weight in probe.weights.items()})
        named = dict(target.eval().named_parameters())
    sources |= {name: parameter for name, parameter in named.items() if parameter.requires_grad}
    if not sources:
        return
    result = target(*args)
    fact["reloaded"] = plain(result)
    outputs = result if isinstance(result, tuple | list) else (result,)
    fact["gradients"] = tuple(_gradients(output, sources) for output in outputs[:MOST_OUTPUTS])


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
    return {name: plain(g) for name, g in zip(sources, found, strict=True)}


def _copy(given: Any) -> Any:
    if isinstance(given, Tensor):
        return given.clone()
    return given.make() if hasattr(given, "make") else given


def _differs(arg: Any, given: Any) -> bool:
    """Whether an argument is no longer what was handed over, in values or in kind."""
    if isinstance(given, Models):
        return not given.kept(arg)
    if isinstance(arg, nn.Linear):
        if arg.bias is not None or not arg.weight.requires_grad:
            return True
        arg, given = arg.weight.detach(), given.weight
    if not isinstance(arg, Tensor):
        return False
    same_kind = (arg.shape, arg.dtype, arg.requires_grad) == (given.shape, given.dtype, False)
    return not (same_kind and torch.equal(arg, given))
