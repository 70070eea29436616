"""The first thing that runs in the cage: shuts the last doors behind itself, then starts a kernel.

    enter.py SETTINGS kernel CONNECTION_FILE
    enter.py SETTINGS try

SETTINGS is JSON: limits, the user to become, and where things are. `try` does, one by one, what
must fail in here, and prints what did fail.
"""

import json
import os
import resource
import shutil
import sys

import landlock
import seccomp

HOME = os.environ["HOME"]


def close_doors(settings: dict) -> dict[str, bool]:
    """Limits, another user, Landlock, the filter on system calls; says which of the two held."""
    for name, value in settings["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if memory runs out after all, this goes first
    user = settings["user"]
    if user is not None:
        os.chown(HOME, user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    writable = [HOME, "/tmp", "/dev/shm"]
    return {
        "Landlock": landlock.restrict(writable, [settings["desk"]]),
        "system calls": seccomp.install(),
    }


def unpack_files(folder: str) -> None:
    """Copies of what was handed in beside the notebook; a learner's code may write there."""
    fonts = os.path.join(os.path.dirname(__file__), "matplotlib")
    shutil.copytree(fonts, os.environ["MPLCONFIGDIR"], copy_function=shutil.copyfile)
    if os.path.isdir(folder):
        shutil.copytree(folder, HOME, dirs_exist_ok=True, copy_function=shutil.copyfile)
    os.chdir(HOME)


def main() -> None:
    settings, what = json.loads(sys.argv[1]), sys.argv[2]
    doors = close_doors(settings) if settings["caged"] else {}
    if what == "try":
        from attempts import attempts

        print(json.dumps(attempts(settings, doors)))
        return
    # Before the files of a submission lie where modules are looked for: one may be called torch.py.
    from ipykernel.kernelapp import launch_new_instance
    from ipykernel.zmqshell import ZMQInteractiveShell

    import grader  # noqa: F401

    ZMQInteractiveShell.ask_exit = lambda shell: None  # exit() in a cell ends no notebook
    unpack_files(settings["files"])

    quick = ["--HistoryManager.enabled=False", "--InteractiveShell.colors=nocolor"]
    launch_new_instance(["-f", sys.argv[3], *quick])


main()
