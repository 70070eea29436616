"""Silence and a clean slate around code we did not write."""

import contextlib
import gc
import os
import random
import sys
import threading
import warnings
from collections.abc import Iterator

import numpy
import torch
from IPython import get_ipython
from IPython.utils.capture import capture_output

PATIENCE = 0.5  # seconds


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing the block prints, displays, warns or logs gets out, not even below Python.

    nbgrader gives zero points to a check cell that writes to stderr, whatever it wrote.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        for stream in {sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__}:
            stack.enter_context(_muted(stream))
        for descriptor in (1, 2):
            stack.enter_context(_closed_off(descriptor))  # for C++ and child processes
        stack.enter_context(capture_output())
        threads = set(threading.enumerate())
        yield
        for thread in set(threading.enumerate()) - threads:
            thread.join(PATIENCE)  # what a thread has to say it should say in here
        gc.collect(1)  # what complains when it is thrown away complains now


@contextlib.contextmanager
def fresh_state() -> Iterator[None]:
    """Torch's defaults inside; the caller's defaults and random streams untouched outside."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    threads = torch.get_num_threads()
    python, arrays = random.getstate(), numpy.random.get_state()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(_kernel_stays())
        if device.type != "cpu":
            torch.set_default_device("cpu")
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(1)  # the tensors are small, and a class may be graded side by side
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_num_threads(threads)
            if torch.get_default_device() != device:
                torch.set_default_device(device)
            random.setstate(python)
            numpy.random.set_state(arrays)


@contextlib.contextmanager
def _kernel_stays() -> Iterator[None]:
    """exit() inside an answer ends the answer, not the kernel; tracebacks stay inside, too."""
    shell = get_ipython()
    if shell is None:
        yield
        return
    shell.ask_exit, shell._showtraceback = sys.exit, lambda *error: None
    try:
        yield
    finally:
        del shell.ask_exit, shell._showtraceback


@contextlib.contextmanager
def _muted(stream: object) -> Iterator[None]:
    """Turn the stream itself deaf: a logging handler may hold on to it."""
    try:
        stream.flush()
        stream.write = len
    except (AttributeError, ValueError, OSError):  # no such stream, closed, or not ours to change
        yield
        return
    try:
        yield
    finally:
        del stream.write


@contextlib.contextmanager
def _closed_off(descriptor: int) -> Iterator[None]:
    try:
        kept = os.dup(descriptor)
    except OSError:  # nothing is open there
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(nowhere)
