"""Where compiled kernels are kept: one folder for all copies of the same kernels on this machine.

numba finds compiled code by the folder of its source, so each virtual environment and each clone
would compile its own. Here the folder is found by the content of all kernels and by the versions of
what compiles them. A kernel may call a kernel of another file, and numba does not notice a change
of that file. So a change of any kernel compiles all of them again.
"""

import functools
import hashlib
import os
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

PACKAGE = Path(__file__).parents[1]
# every module with kernels, and how they are compiled
SOURCES = (
    "base/compilation.py",
    "kernels/*.py",
    "data/ranks.py",
    "privacy/noise_kernels.py",
)


@functools.cache
def digest() -> str:
    """A hash of all kernels' sources and of the versions that compile them."""
    content = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for pattern in SOURCES:
        for file in sorted(PACKAGE.glob(pattern)):
            content.update(file.name.encode())
            content.update(file.read_bytes())
    return content.hexdigest()[:20]


class ByContent(_CacheLocator):
    """The place of one kernel's compiled code, by the content of all kernels."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file  # numba names it in warnings
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(Path(os.environ["NUMBA_CACHE_DIR"]) / f"dpmf-{digest()}")

    def get_source_stamp(self) -> str:
        return digest()

    def get_disambiguator(self) -> str:
        return f"{Path(self._py_file).parent.name}-{self._line}"

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "ByContent | None":
        """The locator of a kernel of this package; None if it cannot be written to."""
        if PACKAGE not in Path(py_file).parents:
            return None
        locator = cls(py_func, py_file)
        try:
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return locator


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [ByContent, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class KernelCache(FunctionCache):
    """The cache of one kernel."""

    _impl_class = _KernelCacheImpl
