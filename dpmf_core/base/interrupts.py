"""Ctrl-C at any moment: a sentence and exit code 130, no traceback.

A program calls `exit_at_once` before it imports anything large, and runs what has to clean up after
itself through `exit_code_of`; what it imports there, it imports `at_once`.
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
_LINE = f"{SENTENCE}\n".encode()


def exit_at_once() -> None:
    """From now on Ctrl-C ends the process there and then: nothing is under way that would need
    an end of its own.
    """
    signal.signal(signal.SIGINT, _exit)


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Within it, in the main thread, Ctrl-C ends the process there and then, as while modules are
    imported, which do not clean up after themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_swallowed = threading.Event()  # set once KeyboardInterrupt was lost in a callback
_raised = threading.Event()  # set while KeyboardInterrupt is on its way
_has_told = False


def raise_in_main_thread() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, and again where a destructor or a callback
    of the interpreter, such as the compiler's, has swallowed it. Another Ctrl-C while the program
    cleans up ends it there and then.
    """
    _swallowed.clear()
    _raised.clear()
    sys.unraisablehook = _again
    signal.signal(signal.SIGINT, _raise)


def was_swallowed() -> bool:
    """Whether KeyboardInterrupt was lost on its way: an error after that follows from it."""
    return _swallowed.is_set()


def exit_code_of(run: Callable[[], int]) -> int:
    """The exit code of `run`, which cleans up after itself when KeyboardInterrupt is raised in it.

    Ctrl-C before and after ends the process there and then.
    """
    try:
        raise_in_main_thread()
        code = run()
        exit_at_once()
    except KeyboardInterrupt:
        warnings.simplefilter("ignore")  # what was cut off in its middle is no news
        _tell()
        code = CODE
    return code


def _tell() -> None:
    global _has_told  # noqa: PLW0603 - a store that no signal can come between
    if not _has_told:
        _has_told = True  # first: a second Ctrl-C during the write must not write again
        os.write(2, _LINE)


def _exit(*_: object) -> None:
    _tell()
    os._exit(CODE)


def _raise(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _again.__code__:  # where it would be lost once more
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
