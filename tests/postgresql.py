"""A PostgreSQL server for tests: Debian's programs, a folder of its own, no port."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"), default=Path("/nowhere"))
PASSWORD = "p@ss/word:?% of the gradebook"  # every character that means something in a URL
#: root may not run the server, so that nobody does
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
AS = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if ROOT else []


class Server:
    """`with Server() as server: ...` starts one; `server.url("grades")` is its address."""

    def __enter__(self) -> "Server":
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short, as sockets lie in it
        (self.folder / "password").write_text(PASSWORD)
        if ROOT:
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, "nobody", "nogroup")
        self._run(
            "initdb", "--username=course", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
            "--auth=scram-sha-256", f"--pwfile={self.folder / 'password'}",
        )  # fmt: skip
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def start(self) -> None:
        """Returns when it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "start", "--wait", f"--options={options}", f"--log={self.folder}/log")

    def stop(self) -> None:
        """At once: whoever is connected loses the connection."""
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate")

    def create(self, database: str) -> str:
        """The URL of a new, empty database."""
        command = [PROGRAMS / "createdb", "-h", self.folder, "-U", "course", database]
        subprocess.run(command, check=True, env={**os.environ, "PGPASSWORD": PASSWORD})
        return self.url(database)

    def url(self, database: str, password: str = PASSWORD) -> str:
        """What COURSE_GRADEBOOK is set to."""
        password = f":{quote(password, safe='')}" if password else ""
        return f"postgresql+psycopg://course{password}@/{database}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [*AS, PROGRAMS / program, "-D", self.folder / "data", *arguments]
        with (self.folder / "programs.log").open("a") as log:  # a pipe would stay open
            subprocess.run(command, cwd=self.folder, check=True, stdout=log, stderr=log)
