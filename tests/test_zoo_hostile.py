"""The zoo: forged verdicts, attempts to get out of the cage, files that mislead."""

import sys

import pytest
from zoo import ZOO, animals
from zoo.laws import Laws

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")


class TestHostileCode(Laws):
    animals = animals("forgers", "escapes", "tampering")
    graded_before = (ZOO["notebook-is-a-link"], ZOO["constants"])
