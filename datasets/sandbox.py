"""Read an untrusted file in a child process with limits on memory, processor time and output.

A damaged or hostile file can make a reader crash, hang or allocate without end. Only the child is
affected: its parent gets a result in JSON, files that the child wrote, or an error message.
docs/SECURITY.md says what a child can still do if a file takes it over.
"""

import contextlib
import importlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import psutil

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program

# exit codes
REFUSAL = 2
OUT_OF_MEMORY = 3
FAILED = 4
TOO_SLOW = 5
# signals by which the system ends a child for its processor time
TIME_IS_OVER = (
    TOO_SLOW,
    *(-getattr(signal, name, 99) for name in ("SIGXCPU", "SIGKILL")),
)
LONGEST_ANSWER = 8 << 20  # bytes
PATIENCE = 4  # wall time over processor time, because the machine may be busy
LOOK = 0.2  # seconds between checks that the answer is still wanted
ROOT = Path(__file__).absolute().parents[1]
# rights are taken away before libraries are imported, which start threads
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from dpmf_core.base import isolation;"
    " isolation.enter(*sys.argv[1:]); from dpmf_datasets import sandbox; sandbox.main()"
)
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
NICE = 10  # pages and runs go first


@dataclass(frozen=True)
class SandboxLimits:
    """The limits of reading one file; None for no limit.

    Attributes
    ----------
    memory : int
        Bytes, in addition to what the readers need without the file.
    seconds : int or None
        Processor time.
    users, items, ratings : int or None
        The most that a file may hold. Documents and images count as users.
    """

    memory: int
    seconds: int | None = None
    users: int | None = None
    items: int | None = None
    ratings: int | None = None


# a small file may claim more than any memory holds
OWN_MACHINE = SandboxLimits(memory=psutil.virtual_memory().total)
is_inside = False  # whether this process is such a child
limits_here = OWN_MACHINE  # of this process


def read(
    task: Callable[..., Any],
    name: str,
    *arguments: Any,
    limits: SandboxLimits,
    folder: Path | None = None,
    watch: Callable[[], object] = lambda: None,
) -> Any:
    """The result of a function of a module in a child process.

    Parameters
    ----------
    task : callable
        A function at module level. Its arguments and its result are JSON.
    name : str
        What messages call the file.
    *arguments
        The arguments of the function.
    limits : SandboxLimits
        The limits of the child.
    folder : Path or None
        The only folder that the child may read and write; None for all folders.
    watch : callable
        Called repeatedly while the child runs. An exception that it raises ends the child.

    Returns
    -------
    JSON value
        The result of the function.

    Raises
    ------
    BadInput
        If the function raises it, if the child crashes, or if it meets a limit.
    """
    if is_inside:
        return task(*arguments)
    request = json.dumps([task.__module__, task.__name__, arguments, astuple(limits)])
    code, answer, errors = _run(request.encode(), limits.seconds, folder, watch)
    if len(answer) > LONGEST_ANSWER:
        code = FAILED
    if code not in (0, REFUSAL):
        raise BadInput(_why(name, code, errors.decode(errors="replace"), limits))
    result = json.loads(answer)
    if code == REFUSAL:
        raise BadInput(result)
    return result


@contextlib.contextmanager
def in_child(
    task: Callable[..., Any], stream: BinaryIO, name: str, argument: Any
) -> Iterator[tuple[Any, Path]]:
    """The result of a task on one open file, and the file that it wrote, inside the block.

    Parameters
    ----------
    task : callable
        A function at module level. It gets the path of a copy of the file, the file's name, the
        argument and the path of the file to write.
    stream : binary file
        The file to copy.
    name : str
        The name of the file.
    argument : JSON value
        The argument of the task.

    Raises
    ------
    BadInput
        If the task raises it, or if the child fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        target = Path(folder, "target")
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        arguments = (str(copy), name, argument, str(target))
        yield read(task, name, *arguments, limits=OWN_MACHINE), target


def _run(
    request: bytes,
    seconds: int | None,
    folder: Path | None,
    watch: Callable[[], object],
) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of a child."""
    with contextlib.ExitStack() as files:
        question, answer, errors = (
            files.enter_context(tempfile.TemporaryFile()) for _ in range(3)
        )
        question.write(request)
        question.seek(0)
        place = str(folder or "")
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", START, str(ROOT), str(os.getpid()), place],
            stdin=question,
            stdout=answer,
            stderr=errors,
            env=child_environment() | ONE_THREAD | ({"TMPDIR": place} if place else {}),
            start_new_session=True,
        )
        try:
            code = _exit_code(process, seconds and PATIENCE * seconds, watch)
        finally:
            end_process(process)
        return code, _beginning(answer), _beginning(errors)


def _exit_code(
    process: subprocess.Popen[bytes], seconds: int | None, watch: Callable[[], object]
) -> int:
    start = time.monotonic()
    while seconds is None or time.monotonic() < start + seconds:
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            watch()
    return TOO_SLOW


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a child and all processes of its group."""
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _beginning(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(LONGEST_ANSWER + 1)


def child_environment() -> dict[str, str]:
    """The few variables that a reader needs; the child gets no secrets of the server."""
    kept = ("PATH", "TMPDIR", "LANG", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _why(name: str, code: int, errors: str, limits: SandboxLimits) -> str:
    """The message for a child's exit code."""
    if code in (OUT_OF_MEMORY, -signal.SIGABRT):
        needs = f"{name} needs more than {limits.memory >> 20:,} MB of memory to read"
        if limits.seconds is None:
            return f"{needs}, or is damaged. {in_parts(name)}"
        return (
            f"{needs}, or is damaged. {limit_words('memory')} "
            "Save less of it, or save it as CSV."
        )
    if code in TIME_IS_OVER:
        return (
            f"{name} takes longer than {limits.seconds:,} s of processor time to read."
            f" {limit_words('seconds')}"
        )
    if code == FAILED:  # a bug in the reader: log its place, and no value of the file
        logging.getLogger(__name__).error("Reading failed: %s", errors[-200:])
    return f"{name} is damaged so badly that reading it fails. Save it again."


def limit_words(limit: str) -> str:
    """The setting of a limit, and what a person can do about it."""
    return (
        f"The operator of this server set this limit ({limit}_per_upload). Upload a part of it, or"
        f" use `{program()}` on your own machine, where only its memory limits a file."
    )


def in_parts(name: str) -> str:
    """What to do about a table that does not fit in this machine's memory."""
    return (
        f"Read it part by part: `{program()} datasets import NAME '{name}?bounds=1,5'"
        " --partitioned`, with its own bounds."
    )


def require_at_most(
    what: Literal["users", "items", "ratings"], count: int, name: str
) -> None:
    """Raise BadInput if a file has more users, items or ratings than this process may read."""
    most: int | None = getattr(limits_here, what)
    if most is not None and count > most:
        raise BadInput(f"{name} has more than {most:,} {what}. {limit_words(what)}")


# ---- the child -----------------------------------------------------------------------------------


def main() -> None:
    """Answer the request on standard input."""
    global is_inside, limits_here  # noqa: PLW0603
    is_inside = True
    module, function, arguments, limits = json.loads(sys.stdin.buffer.read())
    limits_here = SandboxLimits(*limits)
    task = getattr(importlib.import_module(module), function)
    if hasattr(os, "nice"):
        os.nice(NICE)
    with os.fdopen(os.dup(1), "w") as answer:
        os.dup2(2, 1)  # so that a library's prints do not disturb the answer
        _limit(limits_here)
        code, result = called(task, arguments)
        json.dump(result, answer)
    sys.stderr.flush()
    os._exit(code)


def called(task: Callable[..., Any], arguments: list[Any]) -> tuple[int, Any]:
    """Call a function; return the exit code, and the result or the reason."""
    try:
        return 0, task(*arguments)
    except BadInput as error:
        if isinstance(error.__cause__, MemoryError):
            return OUT_OF_MEMORY, None
        return REFUSAL, str(error)
    except (MemoryError, RecursionError):
        return OUT_OF_MEMORY, None
    except Exception as error:
        *_, (frame, line) = traceback.walk_tb(error.__traceback__)
        place = f"{frame.f_code.co_filename}:{line}"
        print(f"{type(error).__name__} at {place}", file=sys.stderr)
        return FAILED, None


def _limit(limits: SandboxLimits) -> None:
    """Set the limits, if the system has them."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    now = 1 << 30
    if pages.exists():
        now = int(pages.read_text().split()[0]) * resource.getpagesize()
    most = {
        resource.RLIMIT_AS: now + limits.memory,
        resource.RLIMIT_FSIZE: limits.memory,
        resource.RLIMIT_CORE: 0,
    }
    if limits.seconds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        most[resource.RLIMIT_CPU] = int(used.ru_utime + used.ru_stime) + limits.seconds
    for what, value in most.items():
        hard = resource.getrlimit(what)[1]
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (value if hard < 0 else min(value, hard), hard))
