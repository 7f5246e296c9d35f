"""Where benchmark results go: JSON beside the scripts, with the machine described."""

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "scipy", "numba", "implicit", "cmfrec", "dp-accounting", "distributed")


def median_of(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of some runs, after one that compiles."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def interval(values: Any) -> tuple[float, float]:
    """Order statistics between which the median lies with 95%, or with as much as so few allow."""
    in_order = np.sort(values)
    low = int(binom.ppf(0.025, len(in_order), 0.5))
    return float(in_order[max(low - 1, 0)]), float(
        in_order[min(len(in_order) - low, len(in_order) - 1)]
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def machine() -> dict[str, Any]:
    """Processor, cores usable by this process, Python and the libraries that matter."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = {name: _version_of(name) for name in LIBRARIES}
    return {
        "cpu": _cpu(),
        "cores": cores,
        "python": platform.python_version(),
        "libraries": {k: v for k, v in versions.items() if v},
    }


def save(name: str, result: dict[str, Any]) -> None:
    """Write `results/NAME.json`."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(
        json.dumps({"machine": machine(), **result}, indent=1) + "\n"
    )
