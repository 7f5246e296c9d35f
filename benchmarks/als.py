"""Compare ALS of dpmf, implicit and cmfrec on the same ratings.

`python -m benchmarks.als [PART ...]` measures processor seconds on one thread. The parts, all of
them by default:

iteration  of both half-steps at several ranks; the libraries take turns, medians over rounds
equal      until a loss or a held-out error is reached; dpmf and implicit take turns
large      the same by conjugate gradients on ten million simulated ratings, with the peak memory;
           each library in its own process

dpmf and implicit minimise Hu, Koren & Volinsky 2008: the sum over all cells of c (p - u . v)^2
plus ridge (|u|^2 + |v|^2). A rated cell has p = 1 and c = 1 + its rating, any other p = 0 and
c = 1. Both start from the same factors. cmfrec minimises an explicit objective without biases; the
work per row is the same. Run it where the libraries are installed (`make bench` sets that up in
.venv/bench).
"""

import os

# one thread for everyone, and implicit asks for it
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["DPMF_THREADS"] = "1"

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_matrix

import dpmf_datasets as datasets
from benchmarks.readiness import ready
from benchmarks.report import RESULTS, interval, movielens_or_simulated, save, skewed_ratings
from dpmf_core import kernels
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.runs.memory import peak_mb

RANKS, RIDGE, ROUNDS = (32, 64, 128), 1.0, 5
# what converged means: close to the best of both libraries' CG after so many iterations
MOST_ITERATIONS, SLACK = 30, 0.001
LARGE, LARGE_RANK, LARGE_ITERATIONS = "cinema-10m", 64, 15

Array = npt.NDArray[Any]
Observer = Callable[[Array, Array], None]  # of user and item factors, after each iteration
Fit = Callable[["Problem", int, Observer, bool], list[float]]  # seconds of each iteration


@dataclass(frozen=True)
class Problem:
    """Ratings, the number of factors, and the starting factors that all libraries share."""

    data: Ratings
    rank: int

    def start(self) -> tuple[Array, Array]:
        """User and item factors as implicit draws them."""
        random = np.random.default_rng(0)
        sizes = (self.data.n_users, self.data.n_items)
        users, items = (random.random((n, self.rank), np.float32) * np.float32(0.01) for n in sizes)
        return users, items

    def loss(self, U: Array, V: Array) -> float:
        """The objective, summed in float64."""
        data = self.data
        predictions = kernels.predict_pairs(U, V, data.users, data.items).astype(float)
        confidence = 1 + data.values.astype(float)
        of_ratings = (confidence * (1 - predictions) ** 2 - predictions**2).sum()
        X, Y = U.astype(float), V.astype(float)
        everywhere = ((X.T @ X) * (Y.T @ Y)).sum()
        return float(of_ratings + everywhere + RIDGE * ((X**2).sum() + (Y**2).sum()))

    def held_out_rmse(self, test: Ratings, U: Array, V: Array) -> float:
        """Error on held-out rated cells, whose preference is 1."""
        predictions = kernels.predict_pairs(U, V, test.users, test.items).astype(float)
        return float(np.sqrt(np.mean((1 - predictions) ** 2)))


# ---- the libraries -------------------------------------------------------------------------------


def dpmf(problem: Problem, iterations: int, observe: Observer, cg: bool) -> list[float]:
    data, (U, V), took = problem.data, problem.start(), []
    starts, order = data.by_item
    # added to the 1 of every cell: (c - 1) (c / (c - 1) - u . v)^2
    by_user = (data.by_user, data.items, 1 + 1 / data.values)
    by_item = (starts, data.users[order], by_user[2][order])
    weights = (data.values, data.values[order])

    def half(rows: tuple[Array, ...], weights: Array, F: Array, last: Array) -> Array:
        options = {"base": F.T @ F, "weights": weights}
        if cg:
            return kernels.refine_rows(*rows, F, RIDGE, last, **options)
        return kernels.solve_rows(*rows, F, RIDGE, **options)

    for _ in range(iterations):
        began = time.process_time()
        U = half(by_user, weights[0], V, U)
        V = half(by_item, weights[1], U, V)
        took.append(time.process_time() - began)
        observe(U, V)
    return took


def implicit(problem: Problem, iterations: int, observe: Observer, cg: bool) -> list[float]:
    from implicit.cpu.als import AlternatingLeastSquares

    data, took = problem.data, []
    matrix = csr_matrix(
        (1 + data.values, (data.users, data.items)), shape=(data.n_users, data.n_items)
    )
    model = AlternatingLeastSquares(
        factors=problem.rank,
        regularization=RIDGE,
        use_cg=cg,
        num_threads=1,
        iterations=iterations,
        dtype=np.float32,
    )
    model.user_factors, model.item_factors = problem.start()
    clock = [0.0]

    def after(*_: Any) -> None:
        took.append(time.process_time() - clock[0])
        observe(model.user_factors, model.item_factors)
        clock[0] = time.process_time()

    clock[0] = time.process_time()
    model.fit(matrix, show_progress=False, callback=after)
    return took


def cmfrec_seconds(problem: Problem) -> float:
    """Seconds of one more iteration by Cholesky, without set-up."""
    from cmfrec import CMF

    data = problem.data
    matrix = coo_array((data.values, (data.users, data.items)), shape=(data.n_users, data.n_items))

    def run(iterations: int) -> float:
        model = CMF(
            k=problem.rank,
            lambda_=RIDGE,
            method="als",
            use_cg=False,
            niter=iterations,
            user_bias=False,
            item_bias=False,
            nthreads=1,
            use_float=True,
            verbose=False,
            precompute_for_predictions=False,
            finalize_chol=False,
        )
        start = time.process_time()
        model.fit(matrix)
        return time.process_time() - start

    return run(2) - run(1)


LIBRARIES: dict[str, Fit] = {"dpmf": dpmf, "implicit": implicit}


# ---- the parts -----------------------------------------------------------------------------------


def iteration_seconds(data: Ratings, rank: int) -> dict[str, dict[str, Any]]:
    """Each library's median seconds, and its ratio to exact dpmf.

    The ratio is the median over rounds, with an interval.
    """
    problem = Problem(data, rank)

    def mean_of(fit: Fit, cg: bool) -> float:
        _, *others = fit(problem, 3, lambda U, V: None, cg)
        return statistics.mean(others)

    work: dict[str, Callable[[], float]] = {
        "dpmf": lambda: mean_of(dpmf, False),
        "dpmf CG, 3 steps": lambda: mean_of(dpmf, True),
        "implicit exact": lambda: mean_of(implicit, False),
        "implicit CG, 3 steps": lambda: mean_of(implicit, True),
        "cmfrec Cholesky": lambda: cmfrec_seconds(problem),
    }
    rounds = [{name: seconds() for name, seconds in work.items()} for _ in range(ROUNDS)]
    return {
        name: {
            "seconds": statistics.median(it[name] for it in rounds),
            "ratio": statistics.median(it[name] / it["dpmf"] for it in rounds),
            "interval": interval([it[name] / it["dpmf"] for it in rounds]),
        }
        for name in work
    }


def time_to_equal(data: Ratings, rank: int) -> dict[str, Any]:
    """Median seconds until the implicit loss and the held-out error have converged for good.

    None where they never do. Converged means: compared with the best of both libraries' CG after
    `MOST_ITERATIONS`, the loss is at most `SLACK` larger, and the error at most `SLACK` away in
    either direction, since with many factors it falls and then rises.
    """
    parts = split(data, SplitSpec(), 0)
    problem = Problem(parts.train, rank)
    fits = {"dpmf CG": (dpmf, True), "implicit CG": (implicit, True), "dpmf": (dpmf, False)}
    took: dict[str, list[list[float]]] = {name: [] for name in fits}
    curves: dict[str, list[dict[str, float]]] = {}
    for _ in range(ROUNDS):
        for name, (fit, cg) in fits.items():
            points: list[dict[str, float]] = []

            def add_point(U: Array, V: Array, points: Any = points) -> None:
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
    iterations = {
        name: iterations_until([point[measure] / best for point in curve], lowest)
        for name, curve in curves.items()
    }
    seconds = {
        name: statistics.median(sum(each[: iterations[name]]) for each in rounds)
        if iterations[name] <= MOST_ITERATIONS
        else None
        for name, rounds in took.items()
    }
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


def iterations_until(shares: Sequence[float], lowest: float) -> int:
    """How many iterations it takes until all later shares of the best are within the slack."""
    outside = [at for at, share in enumerate(shares) if not lowest <= share <= 1 + SLACK]
    return (max(outside) if outside else -1) + 2


def large_measurement(library: str) -> dict[str, Any]:
    """Seconds and held-out error after each iteration, and the peak memory of this process."""
    data: Any = datasets.load(LARGE)
    parts = split(data.together(), SplitSpec(), 0)
    del data
    problem, errors = Problem(parts.train, LARGE_RANK), list[float]()

    def add_error(U: Array, V: Array) -> None:
        errors.append(problem.held_out_rmse(parts.test, U, V))

    seconds = LIBRARIES[library](problem, LARGE_ITERATIONS, add_error, True)
    return {"seconds": seconds, "errors": errors, "peak_mb": peak_mb()}


def large() -> dict[str, Any]:
    """Both libraries, one after the other, until they stay within SLACK of the better end."""
    results = {}
    for library in LIBRARIES:
        command = [sys.executable, "-m", "benchmarks.als", "--library", library]
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        results[library] = json.loads(process.stdout)
    best = min(it["errors"][-1] for it in results.values())
    rows = {}
    for library, it in results.items():
        count = iterations_until([error / best for error in it["errors"]], 1 - SLACK)
        reached = count <= LARGE_ITERATIONS
        rows[library] = {
            "iterations": count if reached else None,
            "processor_seconds": sum(it["seconds"][:count]) if reached else None,
            "seconds_an_iteration": sum(it["seconds"]) / LARGE_ITERATIONS,
            "held_out_error": it["errors"][-1],
            "peak_mb": it["peak_mb"],
        }
    return {"dataset": LARGE, "rank": LARGE_RANK, "libraries": rows}


PARTS = {"iteration": iteration_seconds, "equal": time_to_equal}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[*PARTS, "large"])
    parser.add_argument("--library", choices=LIBRARIES, help="the large part, in this process")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="implicit")
    ready()
    small = Problem(skewed_ratings(10_000, 300, 200), 8)
    for fit in [LIBRARIES[arguments.library]] if arguments.library else LIBRARIES.values():
        for cg in (False, True):
            fit(small, 1, lambda U, V: None, cg)  # compiles
    if arguments.library:
        print(json.dumps(large_measurement(arguments.library)))
        return
    if "large" in arguments.parts:
        save("als_large", {"rows": [large()]})
    if measured := [part for part in PARTS if part in arguments.parts]:
        data = movielens_or_simulated()
        results = json.loads((RESULTS / "als.json").read_text())
        results |= {"data": data.name, "ratings": len(data), "threads": 1}
        for part in measured:
            results[part] = {f"r {rank}": PARTS[part](data, rank) for rank in RANKS}
        save("als", {name: it for name, it in results.items() if name != "machine"})


if __name__ == "__main__":
    main()
