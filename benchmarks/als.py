"""ALS against implicit and cmfrec on the same ratings, in turn, in one process: `python -m
benchmarks.als`.

Processor seconds on one thread, medians over rounds in which every library has its turn: of an
iteration, that is of both half-steps; until a loss or a held-out error is reached. cmfrec minimises
an explicit objective without biases; the work per row is the same.
Real MovieLens 1M where `python -m dpmf_core import ml-1m PATH` or `fetch ml-1m` has put it, else
simulated ratings of its size. `--part` and `--ranks` measure some of it and leave the other figures
of `results/als.json` as they are.
"""

import os

# one thread for everyone, and implicit asks for it
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["DPMF_THREADS"] = "1"

import argparse
import json
import statistics
import warnings
from collections.abc import Callable
from typing import Any

import dpmf_datasets as datasets
from benchmarks.als_explicit import cmfrec_seconds, time_to_equal_rmse
from benchmarks.als_peers import Problem, dpmf, implicit
from benchmarks.private import skewed_ratings
from benchmarks.report import RESULTS, interval, save
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.kernels.readiness import ready

RANKS, RIDGE = (32, 64, 128), 1.0
# what converged means: close to the best of both libraries' CG after so many iterations
MOST_ITERATIONS, SLACK = 30, 0.001


def iteration_seconds(data: Ratings, rank: int, repeats: int) -> dict[str, dict[str, float]]:
    """Each library's median seconds, and its ratio to exact dpmf: the median over rounds, and an
    interval of it.
    """
    problem = Problem(data, rank, RIDGE)

    def mean_of(fit: Any, cg: bool) -> float:
        _, *others = fit(problem, 3, lambda U, V: None, cg)
        return statistics.mean(others)

    work: dict[str, Callable[[], float]] = {
        "dpmf": lambda: mean_of(dpmf, False),
        "dpmf CG, 3 steps": lambda: mean_of(dpmf, True),
        "implicit exact": lambda: mean_of(implicit, False),
        "implicit CG, 3 steps": lambda: mean_of(implicit, True),
        "cmfrec Cholesky": lambda: cmfrec_seconds(data, rank, RIDGE),
    }
    rounds = [{name: seconds() for name, seconds in work.items()} for _ in range(repeats)]
    return {
        name: {
            "seconds": statistics.median(it[name] for it in rounds),
            "ratio": statistics.median(it[name] / it["dpmf"] for it in rounds),
            "interval": interval([it[name] / it["dpmf"] for it in rounds]),
        }
        for name in work
    }


def time_to_equal(data: Ratings, rank: int, repeats: int) -> dict[str, Any]:
    """Median seconds until implicit loss and held-out error have converged and stay so; None where
    they never do.

    Of the best of both libraries' CG after `CONVERGED` iterations, the loss is then at most `SLACK`
    more, and the error at most `SLACK` away: with many factors it falls and then rises.
    """
    parts = split(data, SplitSpec(), 0)
    problem = Problem(parts.train, rank, RIDGE)
    fits = {"dpmf CG": (dpmf, True), "implicit CG": (implicit, True), "dpmf": (dpmf, False)}
    took: dict[str, list[list[float]]] = {name: [] for name in fits}
    curves: dict[str, list[dict[str, float]]] = {}

    for _ in range(repeats):
        for name, (fit, cg) in fits.items():
            points: list[dict[str, float]] = []

            def add_point(U: Any, V: Any, points: Any = points) -> None:
                error = problem.held_out_rmse(parts.test, U, V)
                points.append({"loss": problem.loss(U, V), "held_out_rmse": error})

            took[name].append(fit(problem, MOST_ITERATIONS, add_point, cg))
            curves[name] = points  # the same in each round
    return {measure: _to_target(measure, took, curves) for measure in ("loss", "held_out_rmse")}


def _to_target(
    measure: str, took: dict[str, list[list[float]]], curves: dict[str, list[dict[str, float]]]
) -> dict[str, Any]:
    best = min(curves[name][-1][measure] for name in ("dpmf CG", "implicit CG"))
    lowest = 1 - SLACK if measure == "held_out_rmse" else 0.0
    seconds: dict[str, float | None] = {}
    iterations: dict[str, int] = {}
    for name, rounds in took.items():
        away = [point[measure] / best for point in curves[name]]
        outside = [it for it, share in enumerate(away) if not lowest <= share <= 1 + SLACK]
        iterations[name] = (max(outside) if outside else -1) + 2
        enough = iterations[name] <= MOST_ITERATIONS
        times = [sum(each[: iterations[name]]) for each in rounds]
        seconds[name] = statistics.median(times) if enough else None
    pairs = zip(took["implicit CG"], took["dpmf CG"], strict=True)
    ratios = [
        sum(a[: iterations["implicit CG"]]) / sum(b[: iterations["dpmf CG"]]) for a, b in pairs
    ]
    return {
        "target": (1 + SLACK) * best,
        "seconds": seconds,
        "iterations": iterations,
        "times_faster_than_implicit_cg": statistics.median(ratios),
        "interval": interval(ratios),
        "at_the_end": {name: points[-1][measure] for name, points in curves.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5, help="rounds; figures are medians")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    parser.add_argument("--part", choices=("iteration", "equal", "explicit"), help="default: all")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="implicit")
    data = (
        datasets.load("ml-1m")
        if datasets.present("ml-1m")
        else skewed_ratings(1_000_000, 6_040, 3_706)
    )
    ready()
    for fit in (dpmf, implicit):
        for cg in (False, True):
            fit(Problem(data, 8, RIDGE), 1, lambda U, V: None, cg)  # compiles
    file = RESULTS / "als.json"
    results: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    results.pop("machine", None)
    results |= {"data": data.name, "ratings": len(data), "threads": 1}
    parts = {"iteration": iteration_seconds, "equal": time_to_equal}
    for part, measure in parts.items():
        if arguments.part in (None, part):
            for rank in arguments.ranks:
                row = measure(data, rank, arguments.repeats)
                results.setdefault(part, {})[f"r {rank}"] = row
                print(part, rank, json.dumps(row, indent=1))
    if arguments.part in (None, "explicit"):
        results["explicit"] = time_to_equal_rmse(data, rounds=arguments.repeats)
        print("explicit", json.dumps(results["explicit"]["seconds"], indent=1))
    save("als", results)


if __name__ == "__main__":
    main()
