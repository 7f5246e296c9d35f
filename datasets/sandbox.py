"""Read an untrusted file in a child process with limits on memory, processor time and output.

A damaged or hostile file can make a reader crash, hang or allocate without end. Only the child is
affected: its parent gets a result in JSON, files that the child wrote, or an error message.
"""

import contextlib
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput

REFUSAL, OUT_OF_MEMORY, FAILED, TOO_SLOW = 2, 3, 4, 5  # exit codes
# signals by which the system ends a child for its processor time
TIME_IS_OVER = (TOO_SLOW, *(-getattr(signal, name, 99) for name in ("SIGXCPU", "SIGKILL")))
LARGEST_OUTPUT = 1 << 30  # bytes of a file that the child writes
PATIENCE = 6  # wall time over processor time, because the machine may be busy
ROOT = Path(__file__).absolute().parents[1]
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from dpmf_datasets import sandbox; sandbox.main()"
)
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
is_inside = False  # whether this process is such a child


@dataclass(frozen=True)
class Limits:
    """The limits of reading one file.

    memory: bytes, in addition to what the readers need without the file. seconds: processor time.
    """

    memory: int
    seconds: int

    def for_size(self, size: int) -> "Limits":
        """Return the limits for a file of `size` bytes: a large file may take more."""
        return Limits(self.memory + 8 * size, self.seconds + size // 1_000_000)


UPLOAD = Limits(512 << 20, 10)
NICE = 10  # pages and runs go first
OWN_MACHINE = Limits(3 << 30, 120)


def read(task: Callable[..., Any], name: str, *arguments: Any, limits: Limits) -> Any:
    """The result of a function of a module in a child process.

    task: a function at module level, whose arguments and result are JSON. name: what messages call
    the file. Raises BadInput as the function does, or because the child crashed or met a limit.
    """
    if is_inside:
        return task(*arguments)
    request = [task.__module__, task.__name__, arguments, asdict(limits)]
    code, answer, errors = _run(json.dumps(request).encode(), PATIENCE * limits.seconds)
    if code not in (0, REFUSAL):
        raise BadInput(_why(name, code, errors.decode(), limits))
    result = json.loads(answer)
    if code == REFUSAL:
        raise BadInput(result)
    return result


def _run(request: bytes, seconds: int) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of a child."""
    try:
        process = subprocess.run(
            [sys.executable, "-I", "-c", START, str(ROOT)],
            input=request,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=_environment() | ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        return TOO_SLOW, b"", b""
    return process.returncode, process.stdout, process.stderr


def _environment() -> dict[str, str]:
    """The few variables that a reader needs; the child gets none of a server's secrets."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "DPMF_DATA", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _why(name: str, code: int, errors: str, limits: Limits) -> str:
    """The message for a child's exit code."""
    if code in (OUT_OF_MEMORY, -signal.SIGABRT):
        return (
            f"{name} needs more than {limits.memory >> 20:,} MB of memory to read, or is damaged."
            " Save less of it, or save it as CSV."
        )
    if code in TIME_IS_OVER:
        return f"{name} takes longer than {limits.seconds:,} s to be read. Save less of it."
    if code == FAILED:  # a bug in the reader: log its place, and no value of the file
        logging.getLogger(__name__).error("Reading failed: %s", errors[-200:])
    return f"{name} is damaged so badly that reading it fails. Save it again."


# ---- the child -----------------------------------------------------------------------------------


def main() -> None:
    """Answer the request on standard input."""
    global is_inside  # noqa: PLW0603
    is_inside = True
    module, function, arguments, limits = json.loads(sys.stdin.buffer.read())
    task = getattr(importlib.import_module(module), function)
    if hasattr(os, "nice"):
        os.nice(NICE)
    with os.fdopen(os.dup(1), "w") as answer:
        os.dup2(2, 1)  # so that a library's prints do not disturb the answer
        _limit(Limits(**limits))
        code, result = called(task, arguments)
        json.dump(result, answer)
    sys.stderr.flush()
    os._exit(code)


def called(task: Callable[..., Any], arguments: list[Any]) -> tuple[int, Any]:
    """Call a function; return the exit code, and the result or the reason."""
    try:
        return 0, task(*arguments)
    except BadInput as error:
        out_of_memory = isinstance(error.__cause__, MemoryError)
        return (OUT_OF_MEMORY, None) if out_of_memory else (REFUSAL, str(error))
    except (MemoryError, RecursionError):
        return OUT_OF_MEMORY, None
    except Exception as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        place = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else ""
        print(f"{type(error).__name__} at {place}", file=sys.stderr)
        return FAILED, None


def _limit(limits: Limits) -> None:
    """Set the limits, if the system has them."""
    try:
        import resource
    except ImportError:
        return
    pages = Path("/proc/self/statm")
    now = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 1 << 30
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.seconds
    for what, most in (
        (resource.RLIMIT_AS, now + limits.memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, LARGEST_OUTPUT),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))
