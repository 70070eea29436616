"""JupyterHub for a class on one machine: everybody is a user of the system. See docs/deploy.md."""

import os
import sys
from pathlib import Path

c = get_config()
programs = Path(sys.executable).parent  # of the environment that the course is installed in

# Only this machine reaches the hub; a web server in front of it speaks TLS to everybody else.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.ConfigurableHTTPProxy.command = [str(programs / "configurable-http-proxy")]

# Whoever has a password on this machine and is in the group of the course may log in.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {os.environ.get("COURSE_GROUP", "course")}

# Each server runs as its user: the rights of files keep people apart.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(programs / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
    "COURSE_EXCHANGE": os.environ.get("COURSE_EXCHANGE", "/srv/exchange"),
}

# A kernel usually listens on ports of the machine, where all its users could read what it displays.
# These are files in the home of its owner instead.
c.Spawner.args = ["--KernelManager.transport=ipc"]

# A terminal keeps the PATH from above. It usually is a login shell, for which Debian sets another.
c.Spawner.args += ["--ServerApp.terminado_settings=shell_command=/bin/bash"]
