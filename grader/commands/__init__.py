"""One module for each command of `grader`, imported when that command is given.

Each has `arguments(parser)` and `run(options) -> exit status`; what a user does wrong is
raised as an error whose message is one clear line.
"""
