"""What goes wrong in a module with heads around its attention, one file per part.

A mistake replaces one of the `Parts` of `grader.attention.heads`, or a few that go together. Those
in `parameters` are known by the names and shapes of parameters alone.
"""

from grader.attention.parts import cut, flag, join, project
from grader.attention.parts.parameters import add_parameter_mistakes
from grader.attention.parts.part import add_part_mistakes

__all__ = ["add_parameter_mistakes", "add_part_mistakes", "cut", "flag", "join", "project"]
