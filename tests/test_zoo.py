"""The zoo: honest work, and lies told to the grader over its own socket."""

import sys

import pytest
from zoo import ZOO, animals
from zoo.laws import Laws

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")


class TestHonestWork(Laws):
    animals = animals("honest", "habits", "desk")
    graded_before = (ZOO["untouched"],)
