"""The command line: `grader check` and the others in COMMANDS."""

import argparse
import sys
from importlib import import_module

from grader import __version__
from grader.errors import UserError

COMMANDS = {
    "check": "run one notebook and say what each exercise earns",
    "explain": "list an exercise's known mistakes, or tell one",
    "progress": "say what you have done, and what to do next",
    "autograde": "grade what was handed in for a lesson",
    "report": "write what a class made of a lesson",
    "alike": "list answers that are more alike than one would expect",
    "cage": "try how well submissions can be shut in here",
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status: 0 all is well, 1 not all of it, 2 cannot be done."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="grader", description="Checks and grades the course's notebooks, explains mistakes."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name in arguments:  # only that one is imported: some take seconds
            module = import_module(f"grader.commands.{name}")
            module.arguments(command)
            command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
