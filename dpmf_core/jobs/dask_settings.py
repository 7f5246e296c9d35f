"""How Dask's processes behave here.

Its defaults are for clusters that people watch on a dashboard: clocks that tick fifty times a
second, samples of every stack, and memory given back to the system after every array. Beside runs
of a few hundredths of a second these cost as much as the runs.
"""

from typing import Any

MB = 1_000_000
HERE: dict[str, Any] = {
    # else runs wait where their priority is not looked at
    "distributed.scheduler.worker-saturation": float("inf"),
    "distributed.scheduler.active-memory-manager.start": False,  # results are fetched at once
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.disk": False,
}
# For worker processes, from their start. Arrays of a run come from memory that the last run left:
# with Dask's 64 kB each array is mapped anew and every page of it faults, which doubles the time
# of a small run. A worker gives back what exceeds this much, and arrays above the second number.
MALLOC = {"MALLOC_TRIM_THRESHOLD_": 64 * MB, "MALLOC_MMAP_THRESHOLD_": 32 * MB}


def of_workers(threads: dict[str, str]) -> dict[str, Any]:
    """Settings of a process that starts workers. threads: variables of their environment."""
    limits = ("target", "spill", "pause")
    return {
        **HERE,
        "distributed.scheduler.allowed-failures": 1,
        **{f"distributed.worker.memory.{limit}": False for limit in limits},
        **{
            f"distributed.nanny.pre-spawn-environ.{name}": value
            for name, value in {**MALLOC, **threads}.items()
        },
    }
