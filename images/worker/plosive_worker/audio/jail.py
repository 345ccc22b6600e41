# Confines a decoding process by two mechanisms that need no privileges and add to the pod's own:
# - seccomp: a list of the system calls that decoders need. It has none that reaches another process, opens a network
#   connection, or opens, creates, renames or deletes a file for writing. All others fail with ENOSYS, so that a newer C
#   library falls back to an older call.
# - Landlock: the process reads programs, libraries and one audio file, and opens nothing else.
# ffmpeg inherits both. Called by sandbox.py in the child, which refuses to decode if one of them is missing.
import ctypes
import errno
import os
import platform
import struct
import sys
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_DUMPABLE, PR_SET_NAME, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 4, 15, 22, 38, 2

# Classic BPF: load a word of struct seccomp_data, compare, return. Jumps count the instructions that they skip.
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Numbers of the allowed system calls on x86-64 and arm64; None: the architecture has no such call.
CALLS: dict[str, tuple[int, int | None]] = {
    # memory
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233),
    # open files
    "read": (0, 63), "pread64": (17, 67), "write": (1, 64), "writev": (20, 66), "pwrite64": (18, 68), "lseek": (8, 62),
    "fstat": (5, 80), "close": (3, 57), "close_range": (436, 436), "dup2": (33, None), "dup3": (292, 24), "pipe2": (293, 59),
    "poll": (7, None), "ppoll": (271, 73),
    # folders and properties of files
    "newfstatat": (262, 79), "access": (21, None), "faccessat": (269, 48), "readlink": (89, None), "readlinkat": (267, 78),
    "getcwd": (79, 17), "getdents64": (217, 61),
    # ffmpeg and threads
    "execve": (59, 221), "wait4": (61, 260), "exit": (60, 93), "exit_group": (231, 94), "arch_prctl": (158, None),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "rseq": (334, 293), "futex": (202, 98),
    "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    # signals and timers of the process itself
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "restart_syscall": (219, 128),
    "setitimer": (38, 103), "clock_gettime": (228, 113), "clock_nanosleep": (230, 115), "gettimeofday": (96, 169),
    # facts about the process and the machine
    "getpid": (39, 172), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176),
    "getegid": (108, 177), "getrusage": (98, 165), "sysinfo": (99, 179), "getrandom": (318, 278),
}  # fmt: skip
# Allowed if an argument (by index) has one of the values. fcntl could otherwise send signals (F_SETOWN) and change
# pipes that the worker shares (O_NONBLOCK); prlimit64 could change other processes.
F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC = 1, 2, 3, 1030
BY_VALUE: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    "fcntl": ((72, 25), 1, (F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC)),
    "prctl": ((157, 167), 0, (PR_SET_NAME,)),
    "prlimit64": ((302, 261), 0, (0,)),
}
# Allowed if an argument has none of the bits: openat only reads existing files; clone only makes threads and children,
# with what glibc sets for them, so no namespaces and no siblings. clone3 has its flags in memory, which no filter sees.
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
OF_THREADS, OF_CHILDREN = 0x3D0F00, 0x1204011
BY_BITS: dict[str, tuple[tuple[int, int], int, int]] = {
    "openat": ((257, 56), 2, WRITES),
    "clone": ((56, 220), 0, 0xFFFFFFFF & ~(OF_THREADS | OF_CHILDREN)),
}

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, READ, READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights each Landlock version has; 16 from version 5 on
PROGRAMS = ("/usr", "/lib", "/lib64", "/bin", "/opt", "/etc/ld.so.cache", sys.prefix, sys.base_prefix)
OWN_CODE = str(Path(__file__).resolve().parents[2])


class Fprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def for_call(number: int, *then: bytes) -> bytes:
    """Runs `then`, which must end with a return, if the call has this number; the accumulator holds the call's."""
    return instruction(JUMP_EQUAL, number, 0, len(then)) + b"".join(then)


def argument(index: int) -> bytes:
    """Loads the low half of an argument: the kernel reads no more of those that are compared."""
    return instruction(LOAD, ARGUMENTS_AT + 8 * index)


def call_filter(architecture: int, column: int) -> bytes:
    """Returns the BPF program: listed calls pass, all others and those of another architecture fail."""
    allow, refuse = instruction(RETURN, ALLOW), instruction(RETURN, REFUSE)
    program = [
        instruction(LOAD, ARCHITECTURE_AT),
        instruction(JUMP_EQUAL, architecture, 1),
        refuse,
        instruction(LOAD, NUMBER_AT),
    ]
    program += [for_call(number, allow) for pair in CALLS.values() if (number := pair[column]) is not None]
    for pair, index, values in BY_VALUE.values():
        checks = [step for value in values for step in (instruction(JUMP_EQUAL, value, 0, 1), allow)]
        program.append(for_call(pair[column], argument(index), *checks, refuse))
    for pair, index, bits in BY_BITS.values():
        program.append(for_call(pair[column], argument(index), instruction(JUMP_ANY_BIT, bits, 1), allow, refuse))
    return b"".join([*program, refuse])


def confine_calls() -> bool:
    """Installs the seccomp filter. Returns whether it is in force."""
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
        allowed = rights if os.path.isdir(path) else rights & ~READ_FOLDER
        LIBC.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, fd), 0)
    finally:
        os.close(fd)


def confine_paths(file: Path) -> bool:
    """Restricts file access, signals and tracing with Landlock. Returns whether it is in force."""
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
    for path in (str(file), os.devnull, "/dev/urandom"):
        add_path(ruleset, path, READ)
    done = LIBC.syscall(RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


def set_dumpable(dumpable: bool) -> None:
    """A process that is not dumpable cannot be traced, and its memory cannot be opened in /proc, by another process of
    the same user. Its files in /proc/self belong to root."""
    LIBC.prctl(PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def confine(file: Path) -> list[str]:
    """Confines this process and its later children. Returns the names of the mechanisms that are not in force."""
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("A process with several threads cannot be confined: both mechanisms hold for one thread only")
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # without it, the kernel refuses both
    confined = {"Landlock": confine_paths(file), "seccomp": confine_calls()}
    return [name for name, in_force in confined.items() if not in_force]
