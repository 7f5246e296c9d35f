"""Ctrl-C at any moment: a sentence and exit code 130, no traceback.

A program calls `exit_at_once` before it imports anything large, and runs work that cleans up after
itself through `exit_code_of`; it imports modules there inside `at_once`.
"""

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

CODE = 130
SENTENCE = "Interrupted; nothing half-written is left."


def exit_at_once() -> None:
    """From now on Ctrl-C ends the process immediately, because nothing needs cleaning up."""
    signal.signal(signal.SIGINT, _exit)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Let Ctrl-C end the process immediately inside the block, in the main thread.

    It is for imports, which do not clean up after themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_swallowed = threading.Event()  # set when KeyboardInterrupt was lost in a callback
_raised = threading.Event()  # set while KeyboardInterrupt propagates
_has_told = False


def was_swallowed() -> bool:
    """Whether KeyboardInterrupt was swallowed; an error after that follows from it."""
    return _swallowed.is_set()


def exit_code_of(run: Callable[[], int]) -> int:
    """The exit code of `run`, which cleans up when Ctrl-C raises KeyboardInterrupt in it.

    It is raised again if a destructor or a callback of the interpreter, such as the compiler's, has
    swallowed it. Ctrl-C while the program cleans up, before and after it ends the process
    immediately.
    """
    try:
        _swallowed.clear()
        _raised.clear()
        sys.unraisablehook = _again
        signal.signal(signal.SIGINT, _raise)
        code = run()
        exit_at_once()
    except KeyboardInterrupt:
        warnings.simplefilter("ignore")  # warnings of interrupted work are of no use
        _tell()
        code = CODE
    return code


def _tell() -> None:
    global _has_told  # noqa: PLW0603 - a store that no signal can come between
    if not _has_told:
        _has_told = True  # first: a second Ctrl-C during the write must not write again
        os.write(2, f"{SENTENCE}\n".encode())


def _exit(*_: object) -> None:
    _tell()
    os._exit(CODE)


def _raise(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _again.__code__:  # it would be lost again there
            _thread.start_new_thread(_interrupt_soon, ())
            return
        frame = frame.f_back
    if _raised.is_set():
        _exit()
    _raised.set()
    raise KeyboardInterrupt


def _again(unraisable: Any) -> None:
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _swallowed.set()
        _raised.clear()
        _thread.start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(unraisable)


def _interrupt_soon() -> None:
    time.sleep(0.01)  # until the callback has ended
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:  # a real signal, which ends a wait too
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
