"""Where a class is graded nobody is asked anything, and nothing is kept."""

from typing import Any


def nothing(*_: Any, **__: Any) -> None:
    return None


order_lines = predict = progress = remember = reveal = nothing
