"""Ratings that benchmarks share, and JSON of results with a description of the machine."""

import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.stats import binom

import dpmf_datasets as datasets
from dpmf_core.data.ratings import Ratings

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "scipy", "numba", "implicit", "cmfrec", "dp-accounting")


def movielens_or_simulated() -> Ratings:
    """MovieLens 1M if it is installed, otherwise simulated ratings of its size."""
    if datasets.present("ml-1m"):
        return cast(Ratings, datasets.load("ml-1m"))
    return skewed_ratings(1_000_000, 6_040, 3_706)


def skewed_ratings(count: int, n_users: int, n_items: int) -> Ratings:
    """About `count` distinct ratings with the skew of MovieLens 20M.

    Activity is log-normal, and items have a long tail.
    """
    random = np.random.default_rng(0)
    draws = int(count * 1.25)
    activity = random.lognormal(0, 1.1, n_users)
    users = random.choice(n_users, draws, p=activity / activity.sum()).astype(np.int32)
    items = np.minimum(n_items * random.random(draws) ** 3.2, n_items - 1).astype(np.int32)
    return Ratings.of(
        users,
        items,
        random.integers(1, 11, draws) / 2,
        n_users=n_users,
        n_items=n_items,
        bounds=(0.5, 5.0),
        public=True,
    )


def interval(values: Any) -> tuple[float, float]:
    """Order statistics around the median, with 95% confidence or the most that the values allow."""
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
    """The processor, the cores usable by this process, and versions of Python and libraries."""
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
