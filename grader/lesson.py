"""Small helpers for the cells of a lesson."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def after(*exercises: str) -> Iterator[None]:
    """Run a demo that uses the learner's own answers, or say which exercise comes first.

    Example: `with after("average"): print(average(x))` prints "Do the exercise `average` first
    ..." while the answer is still empty.
    """
    names = " and ".join(f"`{name}`" for name in exercises)
    try:
        yield
    except NotImplementedError:
        print(f"Do the exercise {names} first, then run this cell again.")
    except Exception as error:  # a wrong answer must not stop Run All
        print(f"This cell needs a working {names}. It raised {type(error).__name__}: {error}")
