"""Builds the static site from stored outputs, running nothing: `python build.py FOLDER`."""

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
        source, pages = Path(stage, "source"), Path(stage, "pages")
        # Laid out as in the checkout, so that links between files hold in both.
        for part in ("docs", "notebooks", "solutions"):
            shutil.copytree(ROOT / part, source / part)
        for page in HERE.glob("*.md"):
            shutil.copy(page, source)
        (source / "solutions/start.ipynb").unlink()  # there is nothing to solve in it
        arguments = ["-q", "-W", "--keep-going", "-c", HERE, source, pages]
        failed = main([str(argument) for argument in arguments])
        if not failed:
            shutil.rmtree(pages / ".doctrees")
            shutil.copytree(pages, folder, dirs_exist_ok=True)
        return failed


if __name__ == "__main__":
    sys.exit(build(sys.argv[1]))
