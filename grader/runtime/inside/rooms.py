"""A cage for one fork of a template that is itself in a cage: its own processes, files and network.

The template's view of the files stays, read-only. Over it come empty folders to write in, the
sockets of this one kernel in place of everybody's, and a list of processes with its own alone.
"""

import ctypes
import os
import signal

import template

_NEW = {
    "mount": 0x0002_0000, "ipc": 0x0800_0000, "user": 0x1000_0000, "pid": 0x2000_0000,
    "net": 0x4000_0000,
}  # fmt: skip
_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_EXEC, _REMOUNT, _BIND = 1, 2, 4, 8, 32, 4096
_RECURSIVE, _PRIVATE = 16384, 1 << 18
_DROP_CAPABILITY, _LAST_CAPABILITY = 24, 63
_CAPABILITIES_VERSION = 0x2008_0522

_libc = ctypes.CDLL(None, use_errno=True)


def enter(name: str, settings: dict) -> None:
    """Come back in a process that has namespaces of its own; two others wait for its end.

    The folder `name` among the desks is seen as the desk from now on, and the desks are covered.
    Raises OSError where the machine does not allow it.
    """
    own_user = settings["user"] is None  # without a namespace of users only root can have the rest
    template.set_name("cage")
    _unshare(own_user)
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount(os.path.join(settings["desks"], name), settings["desk"], None, _BIND)
    covered = _READ_ONLY | _NO_SUID | _NO_DEVICES | _NO_EXEC
    _mount("tmpfs", settings["desks"], "tmpfs", covered, "size=4096")
    for place in settings["writable"]:
        _mount(
            "tmpfs", place, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode=1777,size={settings['room']}"
        )
    _mount("devpts", "/dev/pts", "devpts", _NO_SUID | _NO_EXEC, "newinstance,ptmxmode=0666")
    if first := os.fork():
        _stand_by(first, settings["user"])
    # Number 1 in its namespace: signals from there do not reach it, and all the rest dies with it.
    _mount("proc", "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_EXEC)
    if own_user:
        _write("/proc/sys/user/max_user_namespaces", "0")
    if kernel := os.fork():
        _stand_by(kernel, settings["user"])
    template.set_name("python")


def become(user: int | None) -> None:
    """Be another user from now on, and nobody's friend."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def _unshare(own_user: bool) -> None:
    uid, gid = os.getuid(), os.getgid()
    flags = sum(flag for kind, flag in _NEW.items() if own_user or kind != "user")
    if own_user:
        template.set_dumpable(True)  # or the files of the next lines belong to somebody else
    _call(_libc.unshare, flags)
    if own_user:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
        template.set_dumpable(False)


def _stand_by(child: int, user: int | None) -> None:
    """Take away what ends, and end as the child does."""
    become(user)
    drop_capabilities()
    template.die_with_parent()  # only now: whoever becomes another user forgets it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        done, status = os.wait()
        if done == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def drop_capabilities() -> None:
    """Nothing is left of what made the rooms."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call(_libc.capset, header, (ctypes.c_uint32 * 6)())


def _mount(source, target: str, kind, flags: int, options: str = "") -> None:
    words = (word and word.encode() for word in (source, target, kind))
    _call(_libc.mount, *words, ctypes.c_ulong(flags), options.encode())


def _call(function, *arguments) -> None:
    if function(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{function.__name__}: {os.strerror(error)}")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
