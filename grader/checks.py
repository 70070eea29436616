"""How a check is found in a notebook, and which exercise it is of."""

import re

#: finds the name in every line `check("name", ...)` of a cell
CHECK = re.compile(r"""^[ \t]*check\(\s*["'](\w+)["']""", re.MULTILINE)


def exercise_of(grade_id: str) -> str:
    """The exercise that a check belongs to: `exercise_of("check-mix")` -> "mix"."""
    return grade_id.removeprefix("check-")
