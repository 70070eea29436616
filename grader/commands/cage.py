"""`grader cage`: try how well submissions can be shut in on this machine."""

import os
from argparse import ArgumentParser, Namespace

from grader.runtime.cage import LEVELS, cage
from grader.runtime.warm import warmed


def arguments(parser: ArgumentParser) -> None:
    level = os.environ.get("COURSE_CAGE", "standard")
    parser.add_argument("--cage", choices=LEVELS, default=level)


def run(options: Namespace) -> int:
    """Print what holds; raises NoCage where that is less than the level asks for."""
    found = cage(options.cage)
    print(found)
    for layer, holds in found.layers.items():
        print(f"  {'yes' if holds else 'NO ':3}  {layer}")
    if found.official:
        print(f"  {'yes' if warmed(found).template else 'NO ':3}  all of it with warm kernels")
    return 0
