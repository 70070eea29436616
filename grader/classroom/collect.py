"""Collects from the exchange without following a link: nbgrader would copy what it points at."""

import os
import shutil
import stat
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns


class CarefulCollect(ExchangeCollect):
    """`nbgrader collect`: links stay links, pipes and devices stay behind.

    Without this, a link to another's work, or to the solutions, would be handed in as a copy of it,
    made with the rights of whoever collects; and one pipe would stop the collection of a class.
    """

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
