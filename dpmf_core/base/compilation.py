"""How kernels are compiled, and where compiled code is kept."""

import functools
import os
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event

from dpmf_core.base.paths import cache_folder, usable
from dpmf_core.base.progress import compiling

# compiled code is kept in the cache folder, unless numba's own variable names another: the
# package's folder may not be writable
os.environ["NUMBA_CACHE_DIR"] = os.environ.get("NUMBA_CACHE_DIR") or str(
    usable(cache_folder() / "compiled")
)
numba.core.config.reload_config()  # type: ignore[no-untyped-call]


class _Compiling(event.Listener):
    """Reports what is compiled, not what is read from the cache."""

    def on_start(self, event: object) -> None:
        compiling()

    def on_end(self, event: object) -> None:
        """Report nothing."""


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]

compile_kernel: Callable[..., Any] = functools.partial(
    numba.njit, nogil=True, cache=True, error_model="numpy"
)
