"""Grading a class needs Linux, or at least its kind of files and sockets."""

import sys

collect_ignore = []
if sys.platform == "win32":
    collect_ignore += ["test_classroom.py", "test_desk.py", "test_intake.py", "test_restore.py"]
