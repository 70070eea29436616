"""Points nbgrader at this course. nbgrader reads it when a command runs in this folder."""

import os
from pathlib import Path

here = Path(__file__).resolve().parent
c = get_config()

# The course's folders: learners get notebooks/, made from solutions/.
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# Any SQLAlchemy URL. SQLite waits 30 s for a lock instead of 5: two graders may work at once.
c.CourseDirectory.db_url = os.environ.get(
    "COURSE_GRADEBOOK", f"sqlite:///{here / 'gradebook.db'}?timeout=30"
)

# The folder that instructor and learners share; it must exist and be writable by all of them.
c.Exchange.root = os.environ.get("COURSE_EXCHANGE", str(here / "exchange"))

# What a learner finds where the answer was; `check` knows an untouched stub by it.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer goes here.*"

# Seconds per cell: enough for the slowest cell on a busy machine, short for an endless loop.
c.Execute.timeout = 60

# A learner may tag a check "skip-execution", and nbgrader gives a check without output full points.
c.Execute.skip_cells_with_tag = "no-cell-has-this-tag"

# Anything on stderr would turn a check's points into 0; a library's warning is no reason for that.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s).*Warning"
