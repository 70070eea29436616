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

# In a checkout, what is handed in is the lesson that `make lab` opens, wherever that is asked for.
if (here / "notebooks" / "start.ipynb").exists():
    c.Exchange.assignment_dir = str(here / "notebooks")

# Where the sources are is the course, also for formgrader in a server that runs elsewhere.
# Collecting follows no link; learners, who collect nothing, are spared the import.
if (here / c.CourseDirectory.source_directory).exists():
    c.CourseDirectory.root = str(here)
    c.ExchangeFactory.collect = "grader.classroom.collect.CarefulCollect"

# What a learner finds where the answer was; `check` knows an untouched stub by it.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer goes here.*"

# Validate and generate_solution run cells here, where nothing is graded: enough for the slowest
# cell on a busy machine, short for an endless loop.
c.Execute.timeout = 60

# A learner may tag a check "skip-execution", and Validate takes a check without output for passed.
c.Execute.skip_cells_with_tag = "no-cell-has-this-tag"

# Grading: every submission is brought back to its released shape, run in a cage and judged outside
# it, in place of what nbgrader does. See docs/security.md.
c.Autograde.exporter_class = "grader.classroom.plugin.CagedExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = [
    "grader.classroom.plugin.GradeInCage",
    "nbgrader.preprocessors.AssignLatePenalties",
]

# "standard" refuses to grade where submissions cannot be shut in, "strict" asks for every layer;
# "none" runs them unprotected, and says so in every verdict.
c.CagedGrading.cage = os.environ.get("COURSE_CAGE", "standard")

# The page for learners is made from the verdicts; the table of grades says what was not gradable.
c.GenerateFeedback.exporter_class = "grader.classroom.feedback.FeedbackPage"
c.GenerateFeedback.preprocessors = ["nbgrader.preprocessors.GetGrades"]
c.ExportApp.plugin_class = "grader.classroom.export.GradesWithStates"
