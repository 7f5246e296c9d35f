"""Notices that a kernel is being compiled, which happens once on a machine."""

import contextlib
from collections.abc import Callable, Iterator

_listeners: list[Callable[[], None]] = []


@contextlib.contextmanager
def on_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` whenever a kernel is compiled inside the `with` block."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


def compiling() -> None:
    """Notify all listeners."""
    for tell in _listeners:
        tell()
