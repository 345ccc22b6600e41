# Restricts the system calls of a decoding process by two mechanisms that need no privileges and add to the pod's own:
# seccomp (no network, no signals, no access to other processes) and Landlock (reads programs, libraries and one audio
# file, writes its own folder). A kernel that lacks one of them still applies the other. Called by sandbox.py in the
# child; ffmpeg inherits the restrictions.
import ctypes
import errno
import os
import platform
import struct
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2

# System call numbers on x86-64 and on arm64.
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
FORBIDDEN = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "setsid": (112, 157), "setpgid": (109, 154),  # the parent ends the child's process group
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "process_madvise": (440, 440),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "open_by_handle_at": (304, 265),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
}  # fmt: skip
X32_BIT = 0x40000000

# Classic BPF: load a word of struct seccomp_data, compare, return.
LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE, READ, READ_FOLDER, REMOVE, MAKE_FILE, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 8, 1 << 14
RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights each Landlock version has; 16 from version 5 on
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE
PROGRAMS = ("/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/ld.so.cache", sys.prefix, sys.base_prefix)
OWN_CODE = str(Path(__file__).resolve().parents[2])


class Fprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def call_filter(architecture: int, column: int) -> bytes:
    """Returns the BPF program: calls of another architecture and forbidden calls fail with EPERM, all others pass."""
    numbers = [pair[column] for pair in FORBIDDEN.values()]
    checks = [instruction(JUMP_EQUAL, number, len(numbers) - i) for i, number in enumerate(numbers)]
    return b"".join(
        [
            instruction(LOAD, ARCHITECTURE_AT),
            instruction(JUMP_EQUAL, architecture, 1),
            instruction(RETURN, REFUSE),
            instruction(LOAD, NUMBER_AT),
            instruction(JUMP_GREATER_EQUAL, X32_BIT, len(numbers) + 1),
            *checks,
            instruction(RETURN, ALLOW),
            instruction(RETURN, REFUSE),
        ]
    )


def forbid_calls() -> bool:
    """Installs the seccomp filter. Returns False if the kernel has none."""
    known = ARCHITECTURES.get(platform.machine())
    if known is None:
        return False
    program = call_filter(*known)
    prog = Fprog(len(program) // 8, program)
    return LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(prog), 0, 0) == 0


def add_path(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & OF_FILES
        LIBC.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
    finally:
        os.close(fd)


def confine_paths(file: Path, folder: Path) -> bool:
    """Restricts file access with Landlock. Returns False if the kernel lacks it."""
    version = LIBC.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    handled = (1 << RIGHTS_OF_VERSION.get(version, 16)) - 1
    ports = 3 if version >= 4 else 0  # bind and connect; seccomp forbids them already
    scopes = 3 if version >= 6 else 0  # abstract Unix sockets, signals
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = LIBC.syscall(CREATE_RULESET, struct.pack("=QQQ", handled, ports, scopes)[:size], size, 0)
    if ruleset < 0:
        return False
    for path in (*PROGRAMS, OWN_CODE):
        add_path(ruleset, path, EXECUTE | READ | READ_FOLDER)
    add_path(ruleset, str(file), READ)
    add_path(ruleset, str(folder), handled & (READ | WRITE | READ_FOLDER | REMOVE | MAKE_FILE | TRUNCATE))
    add_path(ruleset, os.devnull, READ | WRITE)
    add_path(ruleset, "/dev/urandom", READ)
    done = LIBC.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


def confine(file: Path, folder: Path) -> tuple[bool, bool]:
    """Confines this process and its children. Returns whether system calls and whether paths are restricted."""
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False, False
    paths = confine_paths(file, folder)
    return forbid_calls(), paths
