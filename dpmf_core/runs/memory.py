"""The memory that this process has used, and the return of unused memory."""

import ctypes
import re
import sys
from pathlib import Path

import psutil

STATUS = Path("/proc/self/status")  # Linux


def peak_mb() -> float:
    """The highest resident memory of this process so far, MB."""
    # ru_maxrss would include the process that this one was forked from
    if STATUS.exists() and (match := re.search(r"VmHWM:\s+(\d+)", STATUS.read_text())):
        return round(int(match.group(1)) / 1024, 1)
    try:
        import resource
    except ImportError:  # Windows
        return round(getattr(psutil.Process().memory_info(), "peak_wset", 0) / 2**20, 1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def give_back() -> None:
    """Give memory that libraries have freed back to the system."""
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
        if trim is not None:
            trim(0)
