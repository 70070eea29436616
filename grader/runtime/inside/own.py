"""Where a class is graded, the notebooks of earlier lessons are not there."""

from typing import Any


def own(name: str) -> Any:
    raise NotImplementedError(f"{name} of an earlier lesson is not there while a class is graded.")
