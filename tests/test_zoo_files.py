"""The zoo: damaged notebooks, and files of every shape."""

import sys

import pytest
from zoo import ZOO, animals
from zoo.laws import Laws

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cage is made of bubblewrap")


class TestFiles(Laws):
    animals = animals("broken", "files")
    graded_before = (ZOO["not-json"], ZOO["no-code"])
