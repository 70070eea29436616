"""What holds for all tests: nothing is kept, and some need Linux or its kind of files."""

import os
import sys
from unittest import mock

import pytest
import torch
from lab import CHROMIUM, FLAGS

os.environ["COURSE_PROGRESS"] = "none"  # the progress of whoever runs the tests stays as it is
torch.set_num_threads(1)  # here, not in kernels: tensors are tiny, and threads wait for one another

collect_ignore = []  # grading a class needs sockets and processes as Linux has them
if sys.platform == "win32":
    collect_ignore += ["test_classroom.py", "test_desk.py", "test_hub.py", "test_intake.py"]
    collect_ignore += ["test_restore.py"]

#: a worker runs whole files: with these first, none is left alone with a long one at the end
LONGEST = (
    "batch", "mutation", "browser", "kill_matrix", "hub", "journey", "roundtrip", "zoo_deadly",
    "needed", "probes", "zoo_hostile", "zoo", "zoo_files", "alike", "class_report", "cli",
)  # fmt: skip


def pytest_configure(config):
    config.option.loadscopereorder = False  # xdist's own order: files with many tests first


def pytest_collection_modifyitems(items):
    places = {f"test_{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


@pytest.fixture(autouse=True)
def environment_as_it_was():
    """What comes into the environment in a test, Dask's number of threads say, is gone after it."""
    with mock.patch.dict(os.environ):
        yield


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium; the modules that use it are skipped where it is not installed."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
