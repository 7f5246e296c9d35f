"""A billion ratings on one machine: whole private runs at epsilon 1, held-out error included, on
the simulated cinemas of 10 million ratings and of a billion, which are made part by part as they
are read: `python -m benchmarks.billion [DATASET ...] [--algorithms ID ...]`.

Each run is a fresh process and a row of `billion.json`; a row that is there is replaced.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import RESULTS, save

ALGORITHMS = ("private-bias", "spectral")
DATASETS = ("cinema-10m", "cinema-1b")
ROOT = Path(__file__).parents[1]


def run(dataset: str, algorithm: str) -> dict[str, Any]:
    """What the command `fit` takes. Raises RuntimeError where it fails."""
    command = [sys.executable, "-m", "dpmf_core", "fit", "--algorithm", algorithm]
    command += ["--dataset", dataset, "--epsilon", "1", "--curve-points", "2", "--json"]
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile("w+") as answer:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=answer, env=os.environ | {"DPMF_DATA": empty}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if os.waitstatus_to_exitcode(status):
            raise RuntimeError(f"{algorithm} on {dataset} failed.")
        answer.seek(0)
        record = json.load(answer)
    return {
        "dataset": dataset,
        "algorithm": algorithm,
        "rmse": record["metrics"]["rmse"],
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "load_average": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    arguments = parser.parse_args()
    for dataset in arguments.datasets:
        for algorithm in arguments.algorithms:
            row = run(dataset, algorithm)
            print(row, flush=True)
            file = RESULTS / "billion.json"
            rows = json.loads(file.read_text())["rows"] if file.exists() else []
            others = [it for it in rows if (it["dataset"], it["algorithm"]) != (dataset, algorithm)]
            save("billion", {"rows": [*others, row]})


if __name__ == "__main__":
    main()
