"""Does what must fail in the cage, and says what did fail: a layer counts only if it was seen."""

import errno
import mmap
import os
import socket


def attempts(settings: dict, doors: dict[str, bool]) -> dict[str, bool]:
    """True for each layer that held."""
    limits = settings["limits"]
    return {
        "files": not any(os.path.exists(path) for path in settings["secrets"]) and _read_only(),
        "network": _no_network(),
        "other processes": len([name for name in os.listdir("/proc") if name.isdigit()]) <= 4,
        "memory": _no_memory(limits["RLIMIT_AS"]),
        "number of processes": _no_more_processes(limits["RLIMIT_NPROC"]),
        "system calls": doors["system calls"] and _no_internet_socket(),
        "Landlock": doors["Landlock"] and _no_file_among_the_sockets(settings["desk"]),
    }


def _read_only() -> bool:
    shown = ("/", "/usr", "/dev", os.path.dirname(__file__))
    return not any(os.access(path, os.W_OK) for path in shown)


def _no_network() -> bool:
    with open("/proc/net/dev") as devices:
        names = [line.partition(":")[0].strip() for line in devices if ":" in line]
    return names in ([], ["lo"])


def _no_memory(most: int) -> bool:
    try:
        mmap.mmap(-1, most).close()
    except (OSError, ValueError):
        return True
    return False


def _no_more_processes(most: int) -> bool:
    children = []
    gate, hold = os.pipe()
    try:
        while len(children) <= most:
            child = os.fork()
            if child == 0:
                os.close(hold)
                os.read(gate, 1)  # waits until all have been counted
                os._exit(0)
            children.append(child)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(hold)
        for child in children:
            os.waitpid(child, 0)
    return False


def _no_internet_socket() -> bool:
    try:
        socket.socket(socket.AF_INET).close()
    except OSError:
        return True
    return False


def _no_file_among_the_sockets(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "attempt"), "w"):
            return False
    except PermissionError:
        return True
