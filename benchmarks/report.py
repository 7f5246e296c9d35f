"""What benchmarks share: ratings, a server, and JSON of results that describes the machine."""

import json
import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.stats import binom

import dpmf_datasets as datasets
from dpmf_core.base.paths import cache_folder
from dpmf_core.data.ratings import Ratings

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[1]
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
    items = np.minimum(n_items * random.random(draws) ** 3.2, n_items - 1).astype(
        np.int32
    )
    values = random.integers(1, 11, draws) / 2
    sizes = {"n_users": n_users, "n_items": n_items}
    return Ratings.of(users, items, values, **sizes, bounds=(0.5, 5.0), public=True)


def interval(values: Any) -> tuple[float, float]:
    """Order statistics around the median, with 95% confidence or the most that the values allow."""
    in_order = np.sort(values)
    low = int(binom.ppf(0.025, len(in_order), 0.5))
    last = min(len(in_order) - low, len(in_order) - 1)
    return float(in_order[max(low - 1, 0)]), float(in_order[last])


@contextmanager
def serving(
    folder: str, profile: str, script: Path = ROOT / "app.py", checkout: Path = ROOT
) -> Iterator[tuple[str, int]]:
    """The address and the process id of a server on an empty data directory, this process's too.

    It logs to `server.log` there. Kernels are compiled, and nothing is computed beforehand. script:
    what it serves. checkout: the folder whose configuration and packages it uses.
    """
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "compiled"))
    os.environ |= {"DPMF_DATA": folder, "DPMF_PROFILE": profile, "DPMF_WARM": "false"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    command += ["--server.headless=true", f"--server.port={port}"]
    with (Path(folder) / "server.log").open("wb") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log, cwd=checkout)
        try:
            for _ in range(900):
                with socket.socket() as trying:
                    if trying.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}", child.pid
        finally:
            child.terminate()
            child.wait(30)


def machine() -> dict[str, Any]:
    """The processor, the cores usable by this process, and versions of Python and libraries."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
    else:
        lines = []
    names = [
        line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
    ]
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return {
        "cpu": [*names, platform.processor()][0],
        "cores": cores,
        "python": platform.python_version(),
        "libraries": {
            package.name: package.version
            for package in distributions()
            if package.name in LIBRARIES
        },
    }


def save(name: str, result: dict[str, Any]) -> None:
    """Write `results/NAME.json`."""
    record = {"machine": machine(), **result}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
