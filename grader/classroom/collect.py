"""Collects from the exchange what is a learner's own, without following a link."""

import os
import shutil
import stat
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns


class CarefulCollect(ExchangeCollect):
    """`nbgrader collect`: links stay links, pipes and devices stay behind, and so does whatever
    lies there under the name of somebody else than its owner.

    Without this, a link to another's work, or to the solutions, would be handed in as a copy of it,
    made with the rights of whoever collects; one pipe would stop the collection of a class; and a
    learner could hand in for another, whose own work would be passed over if it were older.
    """

    def _sort_by_timestamp(self, records: list[dict]) -> list[dict]:
        """What one learner has handed in, the last first; nbgrader takes one of these."""
        return super()._sort_by_timestamp([r for r in records if self._is_own(r)] or records)

    def copy_files(self) -> None:
        for record in self.src_records:
            if not self._is_own(record):
                self.log.error(
                    "%s is not collected: another user than %s has put it there",
                    record["filename"],
                    record["username"],
                )
        self.src_records = [record for record in self.src_records if self._is_own(record)]
        super().copy_files()

    def _is_own(self, record: dict) -> bool:
        """Whether a learner has handed it in, or root or whoever collects has for them.

        So it is where all share one login, as in most containers. `check_owner` turns this off.
        """
        owner = os.lstat(os.path.join(self.inbound_path, record["filename"])).st_uid
        if not self.check_owner or owner in (0, os.geteuid()):
            return True
        import pwd  # which Windows does not have, and nobody collects there

        try:
            return pwd.getpwuid(owner).pw_name == record["username"]
        except KeyError:
            return False

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        os.makedirs(dest)  # there even if nothing can be taken: intake says so to the learner
        if os.path.islink(src):
            self.log.error("%s is a link: it was not followed, and nothing was collected", src)
            return
        try:
            shutil.copytree(src, dest, symlinks=True, ignore=self._left_behind, dirs_exist_ok=True)
        except (OSError, shutil.Error) as error:
            self.log.error("Not everything of %s could be collected: %s", src, error)

    def _left_behind(self, folder: str, names: list[str]) -> set[str]:
        """What nbgrader's settings leave out, and what is neither file, folder nor link."""
        here = self.coursedir
        kinds = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
        odd = {
            name
            for name, mode in kinds.items()
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
        }
        plain = [name for name, mode in kinds.items() if not stat.S_ISLNK(mode) and name not in odd]
        usual = ignore_patterns(
            exclude=here.ignore,
            include=here.include,
            max_file_size=here.max_file_size,
            log=self.log,
        )
        return odd | set(usual(folder, plain))
