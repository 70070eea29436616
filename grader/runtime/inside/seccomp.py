"""A filter on system calls: those that no lesson needs, and that break-outs are made of, fail.

A list of what is denied, not of what is allowed: numpy, torch and ZeroMQ use too many calls.
"""

import ctypes
import errno
import platform
import struct

# name: numbers on (x86-64, arm64)
DENIED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "pidfd_getfd": (438, 438),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142), "acct": (163, 89),
    # memory that belongs to no process, and so is nobody's to count
    "memfd_create": (319, 279), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "swapon": (167, 224), "swapoff": (168, 225),
}  # fmt: skip
SOCKETS = {"socket": (41, 198), "socketpair": (53, 199)}  # only between processes in the cage
CLONE, CLONE3 = (56, 220), (435, 435)
NEW_NAMESPACES = 0x7E02_0000  # every CLONE_NEW... flag
MACHINES = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7)}

_LOAD, _EQUALS, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
_ALLOW, _FAIL, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_PR_SET_SECCOMP, _FILTER = 22, 2


def install() -> bool:
    """Put the filter on this process and all it starts; False where that cannot be had."""
    if platform.machine() not in MACHINES:
        return False
    code = program(*MACHINES[platform.machine()])
    buffer = ctypes.create_string_buffer(code)
    # struct sock_fprog: how many instructions, and where they are
    described = struct.pack("HP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.c_char_p(described), 0, 0) == 0


def program(column: int, machine: int) -> bytes:
    """The filter in the kernel's own instructions (linux/filter.h), eight bytes each."""
    refuse = [_step(_RETURN, _FAIL | errno.EPERM)]
    # ZeroMQ looks for network interfaces, takes this for an answer, and aborts at EPERM
    no_socket = _step(_RETURN, _FAIL | errno.EOPNOTSUPP)
    steps = [
        _step(_LOAD, _MACHINE), _step(_EQUALS, machine, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]  # fmt: skip
    if column == 0:  # the same calls once more under other numbers (x32)
        steps += [_step(_AT_LEAST, 0x4000_0000, 0, 1), *refuse]
    for numbers in DENIED.values():
        steps += [_step(_EQUALS, numbers[column], 0, 1), *refuse]
    # glibc takes clone where clone3, whose flags cannot be looked at, is not there
    steps += [_step(_EQUALS, CLONE3[column], 0, 1), _step(_RETURN, _FAIL | errno.ENOSYS)]
    steps += [
        _step(_EQUALS, CLONE[column], 0, 4), _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_OF, NEW_NAMESPACES, 0, 1), *refuse, _step(_RETURN, _ALLOW),
    ]  # fmt: skip
    for numbers in SOCKETS.values():
        steps += [
            _step(_EQUALS, numbers[column], 0, 4), _step(_LOAD, _FIRST_ARGUMENT),
            _step(_EQUALS, 1, 1, 0), no_socket, _step(_RETURN, _ALLOW),
        ]  # fmt: skip
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
