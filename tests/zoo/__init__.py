"""A collection of honest, broken and hostile submissions; `ZOO` has each by its name.

animal   what a builder of a submission is, with what it deserves; THEMES are modules of them
course   a scratch course in which they all have handed in their work
laws     what holds for each of them
"""

from importlib import import_module

import pytest

from zoo.animal import ZOO, Animal

THEMES = (
    "honest", "habits", "broken", "files", "deadly", "greedy", "forgers", "desk", "escapes",
    "tampering",
)  # fmt: skip

pytest.register_assert_rewrite("zoo.laws")
for theme in THEMES:
    import_module(f"zoo.{theme}")


def animals(*themes: str) -> list[Animal]:
    """All that are built in these modules: `animals("deadly")`."""
    return [animal for animal in ZOO.values() if animal.theme in themes]
