"""How kernels are compiled, and where compiled code is kept."""

import contextlib
import functools
import importlib
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
KernelCache: Any = None
# if another numba has other internals, each environment compiles its own
with contextlib.suppress(ImportError, AttributeError):
    KernelCache = importlib.import_module("dpmf_core.base.kernel_cache").KernelCache


class _Compiling(event.Listener):
    """Reports what is compiled, not what is read from the cache."""

    def on_start(self, event: object) -> None:
        compiling()

    def on_end(self, event: object) -> None:
        """Report nothing."""


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]


def compile_kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function when it is first called, and keep the compiled code.

    Parameters
    ----------
    function : callable, optional
        Without it, the result is a decorator.
    **options
        Further options of `numba.njit`.
    """
    if function is None:
        return functools.partial(compile_kernel, **options)
    kernel = numba.njit(function, nogil=True, error_model="numpy", **options)
    if not hasattr(kernel, "enable_caching"):  # numba is switched off
        return kernel
    if KernelCache is None:
        kernel.enable_caching()
    else:
        kernel._cache = KernelCache(function)
    return kernel
