"""ALS beside implicit on ten million simulated ratings and more, both by conjugate gradients on the
same implicit problem, each in a process of its own with one thread: processor seconds until their
held-out error has converged, and peak memory. `python -m benchmarks.als_large [DATASET ...]`.

Run it where implicit is installed (`make bench` sets that up in .venv/bench).
"""

import os

# one thread for everyone, and implicit asks for it
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["DPMF_THREADS"] = "1"

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import dpmf_datasets as datasets
from benchmarks.als import RIDGE, SLACK
from benchmarks.als_peers import Fit, Problem, dpmf, implicit
from benchmarks.private import skewed_ratings
from benchmarks.report import RESULTS, save
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.runs.memory import peak_mb

RANK, ITERATIONS = 64, 15
LIBRARIES: dict[str, Any] = {"dpmf": dpmf, "implicit": implicit}
ROOT = Path(__file__).parents[1]


def measurement(dataset: str, fit: Fit) -> dict[str, Any]:
    """Seconds and held-out error after each iteration, and the peak memory of this process."""
    warnings.filterwarnings("ignore", module="implicit")
    fit(Problem(skewed_ratings(10_000, 300, 200), 8, RIDGE), 1, lambda U, V: None, True)  # compiles
    data: Any = datasets.load(dataset)
    parts = split(data.together(), SplitSpec(), 0)
    del data
    problem, errors = Problem(parts.train, RANK, RIDGE), list[float]()
    seconds = fit(
        problem,
        ITERATIONS,
        lambda U, V: errors.append(problem.held_out_rmse(parts.test, U, V)),
        True,
    )
    return {"seconds": seconds, "errors": errors, "peak_mb": peak_mb()}


def comparison(dataset: str) -> dict[str, Any]:
    """Both libraries, one after the other, until they stay within SLACK of the better end."""
    results = {}
    for library in LIBRARIES:
        command = [sys.executable, "-m", "benchmarks.als_large", dataset, "--library", library]
        process = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        results[library] = json.loads(process.stdout)
    best = min(it["errors"][-1] for it in results.values())
    rows = {}
    for library, it in results.items():
        away = [at for at, error in enumerate(it["errors"]) if abs(error / best - 1) > SLACK]
        iterations = (max(away) if away else -1) + 2
        rows[library] = {
            "iterations": iterations if iterations <= ITERATIONS else None,
            "processor_seconds": sum(it["seconds"][:iterations])
            if iterations <= ITERATIONS
            else None,
            "seconds_an_iteration": sum(it["seconds"]) / ITERATIONS,
            "held_out_error": it["errors"][-1],
            "peak_mb": it["peak_mb"],
        }
    return {"dataset": dataset, "rank": RANK, "libraries": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["cinema-10m"])
    parser.add_argument("--library", choices=LIBRARIES, help="this one alone, in this process")
    arguments = parser.parse_args()
    if arguments.library:
        (dataset,) = arguments.datasets
        print(json.dumps(measurement(dataset, LIBRARIES[arguments.library])))
        return
    file = RESULTS / "als_large.json"
    for dataset in arguments.datasets:
        rows = json.loads(file.read_text())["rows"] if file.exists() else []
        row = comparison(dataset) | {"load_average": os.getloadavg()[0]}
        print(json.dumps(row, indent=1), flush=True)
        save("als_large", {"rows": [*(it for it in rows if it["dataset"] != dataset), row]})


if __name__ == "__main__":
    main()
