"""`grader explain EXERCISE [MISTAKE]`: what the grader knows."""

from argparse import ArgumentParser, Namespace

from rich.console import Console
from rich.markdown import Markdown

from grader.catalogue import about_exercise, about_mistake, mistake_of
from grader.exercises import find


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("exercise")
    parser.add_argument("mistake", nargs="?")


def run(options: Namespace) -> int:
    """Print an exercise with its known mistakes, or one of them in full."""
    exercise = find(options.exercise)
    if options.mistake:
        text = about_mistake(exercise, mistake_of(exercise, options.mistake))
    else:
        text = about_exercise(exercise)
    Console().print(Markdown(text))
    return 0
