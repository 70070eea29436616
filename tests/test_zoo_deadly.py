"""The zoo: code that does not come back, or takes more than its share."""

import sys

import pytest
from zoo import ZOO, animals
from zoo.laws import Laws

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")


class TestDeadlyCode(Laws):
    animals = animals("deadly", "greedy")
    graded_before = (ZOO["exit-in-an-answer"], ZOO["kill-9"])
