"""Builds the static site from what is stored, and runs nothing: `python tools/site/build.py FOLDER`."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.cmd.build import main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def build(folder):
    """`build("_site")` -> 0, and pages in _site/; a warning is an error."""
    with TemporaryDirectory() as stage:
        # Laid out as in the checkout, so that links between files hold in both.
        for part in ("docs", "notebooks", "solutions"):
            shutil.copytree(ROOT / part, Path(stage, part))
        for page in HERE.glob("*.md"):
            shutil.copy(page, stage)
        Path(stage, "solutions/start.ipynb").unlink()  # there is nothing to solve in it
        arguments = ["-q", "-W", "--keep-going", "-c", HERE, "-d", f"{stage}/.doctrees"]
        return main([str(argument) for argument in (*arguments, stage, folder)])


if __name__ == "__main__":
    sys.exit(build(sys.argv[1]))
