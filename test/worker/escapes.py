# A jailed process that tries to escape, with real system calls: `escapes.py LACKS FILE` prints what it attained as
# JSON. LACKS names the mechanisms that its kernel seems to lack ("", "Landlock", "seccomp" or "Landlock,seccomp"). Used
# by test_jail.py.
import ctypes
import errno
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plosive_worker.audio import jail

LIBC = ctypes.CDLL(None, use_errno=True)
NO_SUCH_CALL, INVALID = 0x00050000 | errno.ENOSYS, 0x00050000 | errno.EINVAL
COLUMN = jail.ARCHITECTURES[os.uname().machine][1]
LANDLOCK_CALL, PRCTL = 444, (157, 167)[COLUMN]
SIGNAL = signal.SIGURG  # harmless: ignored unless a process handles it
CAPSET, SEIZE, COLD = (126, 91)[COLUMN], 0x4206, 20
F_SETOWN, F_SETSIG, F_SETFL, PR_SET_PTRACER, TIOCSTI, AT_FDCWD = 8, 10, 4, 0x59616D61, 0x5412, -100
NEW_USER, PARENT = 0x10000000, 0x8000
LAST_CALL = 512
# uretprobe and uprobe pass every filter on x86, and end a process that calls them outside of a probe.
UNFILTERED = (335, 336)
TEXT = b"a secret of the neighbor"


def remove(lacks: str) -> None:
    """Makes the kernel behave as one that lacks mechanisms, for this process and its children."""
    program = [jail.instruction(jail.LOAD, jail.NUMBER_AT)]
    if "Landlock" in lacks:  # as in gVisor
        program.append(jail.for_call(LANDLOCK_CALL, jail.instruction(jail.RETURN, NO_SUCH_CALL)))
    if "seccomp" in lacks:  # as without CONFIG_SECCOMP_FILTER
        is_filter = jail.instruction(jail.JUMP_EQUAL, jail.PR_SET_SECCOMP, 0, 1)
        refuse, allow = jail.instruction(jail.RETURN, INVALID), jail.instruction(jail.RETURN, jail.ALLOW)
        program.append(jail.for_call(PRCTL, jail.argument(0), is_filter, refuse, allow))
    code = b"".join([*program, jail.instruction(jail.RETURN, jail.ALLOW)])
    prog = jail.Fprog(len(code) // 8, code)
    assert LIBC.prctl(jail.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert LIBC.prctl(jail.PR_SET_SECCOMP, jail.SECCOMP_MODE_FILTER, ctypes.byref(prog), 0, 0) == 0


def drop_privileges() -> None:
    """Gives up all capabilities, as in a pod."""
    header, sets = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    assert LIBC.syscall(CAPSET, header, sets) == 0


@dataclass(frozen=True)
class Neighbor:
    """Another process of the same user, which is as open as a process can be, and what one can know of it."""

    pid: int
    pidfd: int
    secret: ctypes.Array


def start_neighbor() -> Neighbor:
    secret = ctypes.create_string_buffer(TEXT)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        jail.set_dumpable(True)
        LIBC.prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
        os.read(reader, 1)  # returns when the process that tries to escape has ended
        os._exit(0)
    return Neighbor(pid, os.pidfd_open(pid), secret)


Escape = Callable[[], int]  # calls the kernel; -1 and errno if that fails


def call(numbers: tuple[int, int | None], *arguments: object) -> int:
    number = numbers[COLUMN]
    if number is None:
        ctypes.set_errno(errno.ENOSYS)
        return -1
    return LIBC.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))


def send_by_fcntl(pid: int) -> int:
    """Makes the kernel send a signal to another process when a pipe has data."""
    reader, writer = os.pipe()
    for command, value in ((F_SETOWN, pid), (F_SETSIG, SIGNAL), (F_SETFL, os.O_ASYNC | os.O_NONBLOCK)):
        if call((72, 25), reader, command, value) < 0:
            return -1
    return os.write(writer, b"x")


def child_or_parent(result: int) -> int:
    """For calls that create a process: ends the new one."""
    if result == 0:
        os._exit(0)
    return result


def call_32_bit() -> int:
    """getpid of the 32-bit kernel interface of x86: its number is that of an allowed 64-bit call."""
    if COLUMN != 0:
        return -1
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(bytes.fromhex("53 b8 14 00 00 00 cd 80 5b c3"))  # push rbx; mov eax, 20; int 0x80; pop rbx; ret
    result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
    ctypes.set_errno(-result if result < 0 else 0)
    return result


def of_processes(v: Neighbor) -> dict[str, Escape]:
    """Attempts to reach the neighbor that succeed without jail."""
    info = struct.pack("=iii", SIGNAL, 0, -1).ljust(128, b"\0")  # SI_QUEUE
    here = ctypes.create_string_buffer(len(TEXT))
    own = struct.pack("=QQ", ctypes.addressof(here), len(TEXT))
    its = struct.pack("=QQ", ctypes.addressof(v.secret), len(TEXT))
    core, old, cores = struct.pack("=QQ", 0, 0), ctypes.create_string_buffer(16), struct.pack("=Q", 1)
    head, length = ctypes.c_ulong(), ctypes.c_ulong()
    mem = f"/proc/{v.pid}/mem".encode()
    return {
        "kill": lambda: call((62, 129), v.pid, SIGNAL),
        "tkill": lambda: call((200, 130), v.pid, SIGNAL),
        "tgkill": lambda: call((234, 131), v.pid, v.pid, SIGNAL),
        "rt_sigqueueinfo": lambda: call((129, 138), v.pid, SIGNAL, info),
        "rt_tgsigqueueinfo": lambda: call((297, 240), v.pid, v.pid, SIGNAL, info),
        "pidfd_send_signal": lambda: call((424, 424), v.pidfd, SIGNAL, None, 0),
        "pidfd_getfd": lambda: call((438, 438), v.pidfd, 0, 0),
        "ptrace": lambda: call((101, 117), SEIZE, v.pid, 0, 0),
        "process_vm_readv": lambda: call((310, 270), v.pid, own, 1, its, 1, 0),
        "process_vm_writev": lambda: call((311, 271), v.pid, own, 1, its, 1, 0),
        "get_robust_list": lambda: call((274, 100), v.pid, ctypes.byref(head), ctypes.byref(length)),
        "open its memory for writing": lambda: call((257, 56), AT_FDCWD, mem, os.O_RDWR, 0),
        "open its memory for reading": lambda: call((257, 56), AT_FDCWD, mem, os.O_RDONLY, 0),
        "open its memory by openat2": lambda: call((437, 437), AT_FDCWD, mem, struct.pack("=QQQ", os.O_RDWR, 0, 0), 24),
        "prlimit64": lambda: call((302, 261), v.pid, 4, core, None),  # RLIMIT_CORE
        "prlimit64, reading": lambda: call((302, 261), v.pid, 4, None, old),
        "sched_setaffinity": lambda: call((203, 122), v.pid, 8, cores),
        "setpriority": lambda: call((141, 140), 0, v.pid, 19),
        "sched_setscheduler": lambda: call((144, 119), v.pid, 3, struct.pack("=i", 0)),  # SCHED_BATCH
        "ioprio_set": lambda: call((251, 30), 1, v.pid, 2 << 13 | 7),
        "pidfd_open": lambda: call((434, 434), v.pid, 0),
        "a signal by fcntl": lambda: send_by_fcntl(v.pid),
    }


def of_files(file: Path) -> dict[str, Escape]:
    """Attempts to change files that succeed without jail. The last one deletes the file of the others."""
    mine, other, new = bytes(file), bytes(file.parent / "other"), bytes(file.parent / "new")
    write, flags = struct.pack("=QQQ", os.O_WRONLY, 0, 0), os.O_WRONLY | os.O_CREAT
    return {
        "open for writing": lambda: call((257, 56), AT_FDCWD, mine, os.O_WRONLY, 0),
        "open to append": lambda: call((257, 56), AT_FDCWD, mine, os.O_RDWR | os.O_APPEND, 0),
        "create": lambda: call((257, 56), AT_FDCWD, new, flags, 0o600),
        "create without a name": lambda: call((257, 56), AT_FDCWD, bytes(file.parent), os.O_TMPFILE | os.O_RDWR, 0o600),
        "openat2 for writing": lambda: call((437, 437), AT_FDCWD, mine, write, 24),
        "truncate": lambda: call((76, 45), other, 0),
        "truncate by open": lambda: call((257, 56), AT_FDCWD, other, os.O_TRUNC, 0),
        "symlinkat": lambda: call((266, 36), b"/etc/passwd", AT_FDCWD, new + b"-link"),
        "linkat": lambda: call((265, 37), AT_FDCWD, other, AT_FDCWD, new + b"-hard", 0),
        "mkdirat": lambda: call((258, 34), AT_FDCWD, new + b"-folder", 0o700),
        "mknodat": lambda: call((259, 33), AT_FDCWD, new + b"-pipe", 0o010600, 0),
        "renameat2": lambda: call((316, 276), AT_FDCWD, other, AT_FDCWD, other, 0),
        "unlinkat": lambda: call((263, 35), AT_FDCWD, other, 0),
    }


def of_secrets(file: Path) -> dict[str, Escape]:
    """Attempts to read or run what only Landlock can tell from what decoders need."""
    secret, program = file.parent / "secret", file.parent / "program"
    return {
        "read a neighbor": lambda: call((257, 56), AT_FDCWD, bytes(secret), os.O_RDONLY, 0),
        "read the machine's settings": lambda: call((257, 56), AT_FDCWD, b"/etc/passwd", os.O_RDONLY, 0),
        "list a folder": lambda: call((257, 56), AT_FDCWD, bytes(file.parent), os.O_RDONLY | os.O_DIRECTORY, 0),
        "run an uploaded program": lambda: call((59, 221), bytes(program), None, None),
    }


def of_kernel(v: Neighbor) -> dict[str, Escape]:
    """Other calls that no decoder needs, some of which need privileges or are off on this kernel."""
    zeros = bytes(256)
    iov = struct.pack("=QQ", ctypes.addressof(v.secret), len(TEXT))
    return {
        "socket": lambda: call((41, 198), 2, 1, 0),
        "Unix socket": lambda: call((41, 198), 1, 1, 0),
        "netlink socket": lambda: call((41, 198), 16, 3, 0),
        "socketpair": lambda: call((53, 199), 1, 1, 0, ctypes.create_string_buffer(8)),
        "connect": lambda: call((42, 203), 0, zeros, 16),
        "io_uring_setup": lambda: call((425, 425), 4, ctypes.create_string_buffer(256)),
        "process_madvise": lambda: call((440, 440), v.pidfd, iov, 1, COLD, 0),
        "process_mrelease": lambda: call((448, 448), v.pidfd, 0),
        "migrate_pages": lambda: call((256, 238), v.pid, 8, zeros, zeros),
        "move_pages": lambda: call((279, 239), v.pid, 0, None, None, None, 0),
        "kcmp": lambda: call((312, 272), v.pid, os.getpid(), 0, 0, 0),
        "sched_setattr": lambda: call((314, 274), v.pid, zeros, 0),
        "32-bit call": call_32_bit,
        "setsid": lambda: call((112, 157)),
        "setpgid": lambda: call((109, 154), 0, 0),
        "fork": lambda: child_or_parent(call((57, None))),
        "clone into a user namespace": lambda: child_or_parent(call((56, 220), NEW_USER | signal.SIGCHLD, 0, 0, 0, 0)),
        "clone a sibling": lambda: child_or_parent(call((56, 220), PARENT | signal.SIGCHLD, 0, 0, 0, 0)),
        "clone3": lambda: child_or_parent(call((435, 435), struct.pack("=8Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0), 64)),
        "unshare": lambda: call((272, 97), NEW_USER),
        "setns": lambda: call((308, 268), v.pidfd, NEW_USER),
        "mount": lambda: call((165, 40), b"none", b"/tmp", b"tmpfs", 0, None),
        "chroot": lambda: call((161, 51), b"/"),
        "memfd_create": lambda: call((319, 279), b"x", 0),
        "execveat": lambda: call((322, 281), AT_FDCWD, b"/none", None, None, 0),
        "userfaultfd": lambda: call((323, 282), 1),
        "bpf": lambda: call((321, 280), 0, zeros, 16),
        "perf_event_open": lambda: call((298, 241), zeros, v.pid, -1, -1, 0),
        "add_key": lambda: call((248, 217), b"user", b"x", b"x", 1, -2),
        "keyctl": lambda: call((250, 219), 0, -2, 0),
        "shmget": lambda: call((29, 194), 0, 4096, 0o1600),
        "msgget": lambda: call((68, 186), 0, 0o1600),
        "mq_open": lambda: call((240, 180), b"x", os.O_RDWR | os.O_CREAT, 0o600, None),
        "inotify_init1": lambda: call((294, 26), 0),
        "open_by_handle_at": lambda: call((304, 265), AT_FDCWD, zeros, 0),
        "become traceable": lambda: call((157, 167), jail.PR_SET_DUMPABLE, 1, 0, 0, 0),
        "another filter": lambda: call((317, 277), 2, 0, zeros),  # SECCOMP_GET_ACTION_AVAIL
        "type into a terminal": lambda: call((16, 29), 0, TIOCSTI, b"x"),
        "chmod": lambda: call((268, 53), AT_FDCWD, b"/none", 0o777),
        "utimensat": lambda: call((280, 88), AT_FDCWD, b"/none", None, 0),
    }


def outcome_of(attempt: Escape) -> int:
    """Runs an attempt in a process of its own. Returns 0 or its errno, 255 if it hung."""
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 5)
        code = errno.EPERM
        try:
            code = 0 if attempt() >= 0 else ctypes.get_errno()
        except OSError as error:
            code = error.errno or errno.EPERM
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) & 255


def unlisted_calls() -> list[int]:
    """The numbers of calls that pass although the jail does not list them, among all numbers, x32's too."""
    listed = {pair[COLUMN] for pair in jail.CALLS.values()}
    listed |= {pair[0][COLUMN] for pair in (*jail.BY_VALUE.values(), *jail.BY_BITS.values())}
    numbers = [n for n in range(LAST_CALL) if n not in (*listed, *UNFILTERED)] + [0x40000000 | n for n in (0, 1, 39, 62, 257)]
    return [n for n in numbers if outcome_of(partial(LIBC.syscall, n, *[ctypes.c_long(-1)] * 6)) != errno.ENOSYS]


def work_of(file: Path, output: int) -> dict[str, bool]:
    """What decoders need."""

    def runs(work: Callable[[], object]) -> bool:
        try:
            work()
        except OSError:
            return False
        return True

    thread = threading.Thread(target=lambda: None)
    return {
        "read the file": runs(file.read_bytes),
        "write to an open file": runs(lambda: os.pwrite(output, b"x", 0)),
        "run ffmpeg": runs(lambda: subprocess.run(["ffmpeg", "-version"], check=True, stdout=subprocess.PIPE)),
        "start a thread": runs(lambda: (thread.start(), thread.join())),
        "read random numbers": runs(lambda: open("/dev/urandom", "rb").read(1)),
    }


def main() -> None:
    lacks, file = sys.argv[1], Path(sys.argv[2])
    output = os.open(file.parent / "output", os.O_RDWR | os.O_CREAT)
    drop_privileges()
    remove(lacks)
    neighbor = start_neighbor()
    missing = jail.confine(file)
    groups = {
        "processes": of_processes(neighbor),
        "files": of_files(file),
        "secrets": of_secrets(file),
        "kernel": of_kernel(neighbor),
    }
    told = {name: {what: outcome_of(attempt) for what, attempt in group.items()} for name, group in groups.items()}
    calls = [] if "seccomp" in missing else unlisted_calls()
    print(json.dumps({"missing": missing, "told": told, "unlisted": calls, "work": work_of(file, output)}))


if __name__ == "__main__":
    main()
