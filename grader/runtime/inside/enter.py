"""The first thing that runs in the cage: shuts the last doors behind itself, then starts a kernel.

    enter.py SETTINGS kernel     a kernel at once
    enter.py SETTINGS try        does, one by one, what must fail in here, and prints what did fail
    enter.py SETTINGS template   forks either for each request, in rooms of their own

SETTINGS is JSON: limits, the user to become, and where things are.
"""

import json
import os
import resource
import shutil
import socket
import sys

import landlock
import rooms
import seccomp
import template

HOME = os.environ["HOME"]
FEW = 12
PLAIN = (
    "--HistoryManager.enabled=False",
    "--InteractiveShell.colors=nocolor",
    "--Kernel._execute_sleep=0",
)


def close_doors(settings: dict) -> dict[str, bool]:
    """Limits, another user, Landlock, the filter on system calls; says which of the two held."""
    user = settings["user"]
    template.set_dumpable(user is None)  # or whoever grades could not measure its memory
    for name, value in settings["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # if memory runs out after all, this goes first
    if user is not None:
        os.chown(HOME, user, user)
    rooms.become(user)
    rooms.drop_capabilities()
    return {
        "Landlock": landlock.restrict(settings["writable"], [settings["desk"]]),
        "system calls": seccomp.install(),
    }


def unpack_fonts() -> None:
    """The list of fonts, which matplotlib takes seconds to make."""
    fonts = os.path.join(os.path.dirname(__file__), "matplotlib")
    target = os.environ["MPLCONFIGDIR"]
    shutil.copytree(fonts, target, dirs_exist_ok=True, copy_function=shutil.copyfile)


def unpack_files(desk: str) -> None:
    """Copies of what was handed in beside the notebook; a learner's code may write there."""
    files = os.path.join(desk, "files")
    if os.path.isdir(files):
        shutil.copytree(files, HOME, dirs_exist_ok=True, copy_function=shutil.copyfile)
    os.chdir(HOME)


def run(settings: dict, what: str) -> None:
    """Be a kernel, or try the cage."""
    if what == "try":  # the limit of processes is tried out by starting as many
        settings["limits"]["RLIMIT_NPROC"] = FEW
    doors = close_doors(settings) if settings["caged"] else {}
    if what == "try":
        from attempts import attempts

        print(json.dumps(attempts(settings, doors)))
        return
    unpack_fonts()
    prepare()
    unpack_files(settings["desk"])
    quick = [
        "--HistoryManager.enabled=False",
        "--Kernel._execute_sleep=0",
        "--InteractiveShell.colors=nocolor",
    ]
    template.start_kernel(["-f", os.path.join(settings["desk"], "inside.json"), *quick])


def prepare() -> None:
    """Import the course before the files of a submission lie where modules are looked for.

    One of them may be called torch.py.
    """
    from ipykernel.zmqshell import ZMQInteractiveShell

    import grader.lesson  # noqa: F401
    from grader.figures import canvas

    canvas.DRAWN = False
    ZMQInteractiveShell.ask_exit = lambda shell: None  # exit() in a cell ends no notebook


def main() -> None:
    settings, what = json.loads(sys.argv[1]), sys.argv[2]
    if what != "template":
        return run(settings, what)
    listener = socket.socket(fileno=os.dup(0))
    unpack_fonts()
    template.preload()
    prepare()
    template.set_dumpable(False)

    def fork(request: dict) -> None:
        rooms.enter(request["name"], settings)
        run(settings | request, request["what"])

    template.Template(listener, fork).serve()


main()
