"""Landlock, the kernel's second opinion on files: read everything, write only where it is named."""

import ctypes
import os
import struct

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every machine
_READ = 0b1101  # execute, read_file, read_dir
_WRITE_FILE, _IOCTL, _TRUNCATE = 1 << 1, 1 << 15, 1 << 14
_MAKE_SOCKET = 1 << 9
#: what each version of the interface knows of (linux/landlock.h)
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_NETWORK, _SCOPES = 0b11, 0b11  # bind and connect over TCP; abstract sockets and signals

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of the interface that the kernel has, 0 if none."""
    return max(0, _libc.syscall(_CREATE, None, 0, 1))


def restrict(writable: list[str], sockets: list[str]) -> bool:
    """Allow this process to write in some folders, and to bind sockets in others; nothing else."""
    has = version()
    if not has:
        return False
    files = _FILES[max(known for known in _FILES if known <= has)]
    attributes = struct.pack("QQQ", files, _NETWORK, _SCOPES)
    size = 24 if has >= 6 else 16 if has >= 4 else 8
    rules = _libc.syscall(_CREATE, attributes[:size], ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    devices = _WRITE_FILE | _READ | (files & (_IOCTL | _TRUNCATE))
    given = [("/", _READ), *((path, files) for path in writable)]
    given += [(path, _READ | _WRITE_FILE | _MAKE_SOCKET) for path in sockets]
    given += [("/dev/null", devices & ~(1 << 3)), ("/dev/pts", devices)]  # the cage's own
    done = all(_allow(rules, path, rights) for path, rights in given if os.path.exists(path))
    done = done and _libc.syscall(_RESTRICT, rules, 0) == 0
    os.close(rules)
    return done


def _allow(rules: int, path: str, rights: int) -> bool:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, place)  # struct landlock_path_beneath_attr, packed
        return _libc.syscall(_ADD, rules, 1, rule, 0) == 0
    finally:
        os.close(place)
