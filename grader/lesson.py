"""Small helpers for the cells of a lesson."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.display import Markdown, display

from grader.catalogue import real_bugs
from grader.own import own
from grader.play import order_lines, predict, progress, remember, reveal

__all__ = ["after", "museum", "order_lines", "own", "predict", "progress", "remember", "reveal"]


@contextmanager
def after(*exercises: str) -> Iterator[None]:
    """Run a demo that uses the learner's own answers, or say what it lacks; never raises.

    Example: `with after("average"): print(average(x))` prints "Do the exercise `average` first
    ..." while the answer is still empty.
    """
    try:
        yield
    except NotImplementedError as error:
        frames = traceback.extract_tb(error.__traceback__)
        missing = [name for name in exercises if name in {frame.name for frame in frames}]
        print(f"Do {_listed(missing or exercises)} first, then run this cell again.")
    except NameError as error:
        print(f"`{error.name}` is not there yet: run the cells above first.")
    except Exception as error:  # a wrong answer must not stop Run All
        needed = _listed(exercises)
        print(f"This cell needs {needed} to work. It raised {type(error).__name__}: {error}")


def museum(lesson: str) -> None:
    """Show where the mistakes of a lesson were met in the open, with links to read on.

    Example: `museum("03-query-key-value")`
    """
    display(Markdown(real_bugs(lesson)))


def _listed(names: tuple[str, ...] | list[str]) -> str:
    """`_listed(["a", "b", "c"])` -> "the exercises `a`, `b` and `c`"."""
    *first, last = [f"`{name}`" for name in names]
    return f"the exercises {', '.join(first)} and {last}" if first else f"the exercise {last}"
