"""nbgrader's Assignment List, which says in plain words what is wrong with the exchange.

nbgrader shows a learner a traceback, or what only an administrator can do something with.
"""

import re

from nbgrader.exchange.default import Exchange
from nbgrader.server_extensions.assignment_list.handlers import AssignmentList
from nbgrader.utils import check_directory

MANAGER = "assignment_list_manager"  # nbgrader's name for it
_ERROR = re.compile(r"^[\w.]+Error: ", re.MULTILINE)


def message_of(trace: str) -> str:
    """What the error itself says: `message_of("Traceback ...\\nExchangeError: No")` -> "No"."""
    return _ERROR.split(trace)[-1].strip()


class PlainList(AssignmentList):
    """The same list, submissions too, with errors that a learner can read."""

    def list_assignments(self, course_id: str | None = None) -> dict:
        return self._exchange_missing() or super().list_assignments(course_id)

    def submit_assignment(self, course_id: str, assignment_id: str) -> dict:
        if missing := self._exchange_missing():
            return missing
        answer = super().submit_assignment(course_id, assignment_id)
        if not answer["success"]:
            answer["value"] = message_of(answer["value"])
        return answer

    def _exchange_missing(self) -> dict | None:
        with self.get_assignment_dir_config() as config:
            root = Exchange(config=config).root
        if check_directory(root, write=True, execute=True):
            return None
        said = (  # in short lines: the dialog wraps none
            "The exchange, the folder that you share with your instructor, is missing or closed to "
            f"you:\n{root}\n"
            "Ask where it is, and set COURSE_EXCHANGE to it. Without a class you need none."
        )
        return {"success": False, "value": said}


def _jupyter_server_extension_points() -> list[dict]:
    return [{"module": "grader.runtime.assignments"}]


def _load_jupyter_server_extension(server) -> None:
    def replace() -> None:
        settings = server.web_app.settings
        if MANAGER in settings:
            settings[MANAGER] = PlainList(parent=server)
            settings[MANAGER].root_dir = server.root_dir

    server.io_loop.add_callback(replace)  # once nbgrader has set its own, whoever is loaded first
