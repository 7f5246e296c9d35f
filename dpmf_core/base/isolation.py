"""The rights of a process that reads the files of strangers. Linux only.

Nothing here needs privileges. `enter` takes rights away from the process that calls it, for good.
The process gets no new privileges and reaches no files but the named ones (Landlock, from Linux
5.13). It starts no process or program, opens no socket and sends no signal to others (seccomp, on
x86_64 and aarch64). A system that lacks one of these does without it.
"""

import ctypes
import os
import platform
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# options of prctl(2)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
# what libraries read while they are imported
OF_THE_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/usr/share/zoneinfo",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/urandom",
    "/proc/self/statm",
    "/proc/meminfo",
    "/proc/cpuinfo",
    "/sys/devices/system/cpu",
)


def _libc() -> Any:
    """The system's C library, None outside Linux."""
    if sys.platform == "linux":
        return ctypes.CDLL(None, use_errno=True)
    return None


def _prctl(option: int, *arguments: Any) -> None:
    libc = _libc()
    if libc is not None:
        libc.prctl(option, *arguments, *[ctypes.c_ulong(0)] * (4 - len(arguments)))


def hide_memory() -> None:
    """Keep this process's memory and environment from other processes of the same user.

    Without privileges none of them can then read /proc/PID/environ or attach a debugger, and the
    system writes no core dump.
    """
    _prctl(PR_SET_DUMPABLE, ctypes.c_ulong(0))


def enter(root: str, parent: str, folder: str) -> None:
    """Take away all rights of this process that reading the file of a stranger does not need.

    Parameters
    ----------
    root : str
        The folder of the project's packages. Python looks through the names in it.
    parent : str
        The id of the process that started this one.
    folder : str
        The only folder in which the process may read and write, besides what it imports. "" leaves
        the file system open.
    """
    _end_with(int(parent))
    project = Path(root)
    elsewhere = [Path(entry) for entry in sys.path if Path(entry) != project]
    packages = [project / "dpmf_core", project / "dpmf_datasets"]
    interpreter = [Path(sys.prefix), Path(sys.base_prefix)]
    system = [Path(path) for path in OF_THE_SYSTEM]
    readable = (*packages, *elsewhere, *interpreter, *system)
    _prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1))
    if folder:
        _restrict_files(project, readable, Path(folder))
    _restrict_calls()


def _end_with(parent: int) -> None:
    """End this process with its parent, also when the parent is killed.

    The system counts the thread that started this process as its parent.
    """
    _prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:  # it has ended before the system was asked
        os._exit(1)


# ---- files: Landlock, see landlock(7) ------------------------------------------------------------

# numbers of the system calls, the same on all architectures of Python
CREATE_RULESET = 444
ADD_RULE = 445
RESTRICT_SELF = 446
ASK_VERSION = 1
PATH_BENEATH = 1
READ_FILE = 1 << 2
READ_DIRECTORY = 1 << 3
# the number of rights, from a version of Landlock on
RIGHTS = {
    1: 13,
    2: 14,
    3: 15,
    5: 16,
}


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def _restrict_files(root: Path, readable: Iterable[Path], writable: Path) -> None:
    libc = _libc()
    version = -1
    if libc is not None:
        version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    if version < 1:
        return
    all_rights = (1 << max(n for since, n in RIGHTS.items() if since <= version)) - 1
    handled = ctypes.c_uint64(all_rights)
    ruleset = libc.syscall(
        CREATE_RULESET,
        ctypes.byref(handled),
        ctypes.c_size_t(ctypes.sizeof(handled)),
        0,
    )
    if ruleset < 0:
        return
    _allow(libc, ruleset, root, READ_DIRECTORY)
    for path in readable:
        if path.is_dir():
            rights = READ_FILE | READ_DIRECTORY
        else:
            rights = READ_FILE
        _allow(libc, ruleset, path, rights)
    _allow(libc, ruleset, writable, all_rights)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is missing cannot be read
    rule = _PathRule(rights, descriptor)
    libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
    os.close(descriptor)


# ---- system calls: seccomp, see seccomp(2) -------------------------------------------------------

NOT_PERMITTED = 0x0005_0000 | 1  # the call returns EPERM
NOT_KNOWN = 0x0005_0000 | 38  # the call returns ENOSYS
ALLOWED = 0x7FFF_0000
LOAD = 0x20  # opcodes of the filter language: load a word, compare, test bits, return
EQUAL = 0x15
AT_LEAST = 0x35
HAS_BITS = 0x45
RETURN = 0x06
# offsets in seccomp_data
NUMBER = 0
ARCHITECTURE = 4
FIRST_ARGUMENT = 16
CLONE_THREAD = 0x0001_0000
X32 = 0x4000_0000  # from here on x86_64 has a second number for each call
# by the architecture's name: its audit number, and the numbers of its system calls
CALLS = {
    "x86_64": (
        0xC000_003E,
        {
            "clone": 56,
            "fork": 57,
            "vfork": 58,
            "execve": 59,
            "execveat": 322,
            "socket": 41,
            "ptrace": 101,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kill": 62,
            "tkill": 200,
            "tgkill": 234,
            "rt_sigqueueinfo": 129,
        },
    ),
    "aarch64": (
        0xC000_00B7,
        {
            "clone": 220,
            "execve": 221,
            "execveat": 281,
            "socket": 198,
            "ptrace": 117,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kill": 129,
            "tkill": 130,
            "tgkill": 131,
            "rt_sigqueueinfo": 138,
        },
    ),
}
# the same on all architectures; io_uring would open sockets without a system call
PIDFD_SEND_SIGNAL = 424
IO_URING_SETUP = 425
CLONE3 = 435
TO_ITSELF = ("kill", "tgkill")  # allowed with its own id, as abort() calls them


class _Filter(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filters", ctypes.POINTER(_Filter)))


def _restrict_calls() -> None:
    is_64_bit = sys.maxsize > 1 << 32
    if sys.platform != "linux" or platform.machine() not in CALLS or not is_64_bit:
        return
    architecture, calls = CALLS[platform.machine()]
    lines = [
        _Filter(LOAD, 0, 0, ARCHITECTURE),
        _Filter(EQUAL, 1, 0, architecture),
        _Filter(RETURN, 0, 0, NOT_PERMITTED),  # 32-bit calls have other numbers
        _Filter(LOAD, 0, 0, NUMBER),
        _Filter(AT_LEAST, 0, 1, X32),
        _Filter(RETURN, 0, 0, NOT_PERMITTED),
    ]
    for name in TO_ITSELF:
        lines += _unless(calls[name], EQUAL, os.getpid())
    lines += _unless(calls["clone"], HAS_BITS, CLONE_THREAD)
    # its flags are out of reach; libraries then call clone
    lines += _refusal(CLONE3, NOT_KNOWN)
    others = [
        number for name, number in calls.items() if name not in (*TO_ITSELF, "clone")
    ]
    for number in (*others, PIDFD_SEND_SIGNAL, IO_URING_SETUP):
        lines += _refusal(number, NOT_PERMITTED)
    lines.append(_Filter(RETURN, 0, 0, ALLOWED))
    filters = (_Filter * len(lines))(*lines)
    program = _Program(len(lines), filters)
    _prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(program))


def _refusal(number: int, answer: int) -> list[_Filter]:
    """Refuse a system call; other calls go on."""
    return [_Filter(EQUAL, 0, 1, number), _Filter(RETURN, 0, 0, answer)]


def _unless(number: int, test: int, value: int) -> list[_Filter]:
    """Refuse a system call unless its first argument passes a test; other calls go on."""
    return [
        _Filter(EQUAL, 0, 4, number),
        _Filter(LOAD, 0, 0, FIRST_ARGUMENT),
        _Filter(test, 0, 1, value),
        _Filter(RETURN, 0, 0, ALLOWED),
        _Filter(RETURN, 0, 0, NOT_PERMITTED),
    ]
