"""Compare ALS of dpmf, implicit and cmfrec on the same ratings.

`python -m benchmarks.als [PART ...]` measures processor seconds on one thread. The parts, all of
them by default:

iteration  of both half-steps at several ranks; the libraries take turns, medians over rounds
equal      until a held-out error is reached; dpmf and implicit take turns

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
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_matrix

from benchmarks.report import (
    RESULTS,
    interval,
    movielens_or_simulated,
    save,
    skewed_ratings,
)
from dpmf_core import kernels
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split

RANKS = (32, 64, 128)
RIDGE = 1.0
ROUNDS = 5
# what converged means: close to the best of both libraries' CG after so many iterations
MOST_ITERATIONS = 30
SLACK = 0.001

Array = npt.NDArray[Any]
# of user and item factors, after each iteration
Observer = Callable[[Array, Array], None]
# seconds of each iteration
Fit = Callable[["Problem", int, Observer, bool], list[float]]


@dataclass(frozen=True)
class Problem:
    """Ratings, the number of factors, and the starting factors that all libraries share."""

    data: Ratings
    rank: int

    def start(self) -> tuple[Array, Array]:
        """User and item factors as implicit draws them."""
        random = np.random.default_rng(0)
        sizes = (self.data.n_users, self.data.n_items)
        users, items = (
            random.random((n, self.rank), np.float32) * np.float32(0.01) for n in sizes
        )
        return users, items

    def held_out_rmse(self, test: Ratings, U: Array, V: Array) -> float:
        """Error on held-out rated cells, whose preference is 1."""
        predictions = kernels.predict_pairs(U, V, test.users, test.items).astype(float)
        return float(np.sqrt(np.mean((1 - predictions) ** 2)))


# ---- the libraries -------------------------------------------------------------------------------


def dpmf(problem: Problem, iterations: int, observe: Observer, cg: bool) -> list[float]:
    data = problem.data
    U, V = problem.start()
    took = []
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


def implicit(
    problem: Problem, iterations: int, observe: Observer, cg: bool
) -> list[float]:
    from implicit.cpu.als import AlternatingLeastSquares

    data = problem.data
    took = []
    cells = (data.users, data.items)
    shape = (data.n_users, data.n_items)
    matrix = csr_matrix((1 + data.values, cells), shape=shape)
    options = {
        "regularization": RIDGE,
        "use_cg": cg,
        "iterations": iterations,
        "num_threads": 1,
    }
    model = AlternatingLeastSquares(problem.rank, **options)
    model.user_factors, model.item_factors = problem.start()
    clock = [0.0]

    def after(*_: Any) -> None:
        took.append(time.process_time() - clock[0])
        observe(model.user_factors, model.item_factors)
        clock[0] = time.process_time()

    clock[0] = time.process_time()
    model.fit(matrix, show_progress=False, callback=after)
    return took


CMFREC = {"method": "als", "nthreads": 1, "use_float": True} | dict.fromkeys(
    (
        "use_cg",
        "user_bias",
        "item_bias",
        "verbose",
        "precompute_for_predictions",
        "finalize_chol",
    ),
    False,
)


def cmfrec_seconds(problem: Problem) -> float:
    """Seconds of one more iteration by Cholesky, without set-up."""
    from cmfrec import CMF

    data = problem.data
    matrix = coo_array(
        (data.values, (data.users, data.items)), shape=(data.n_users, data.n_items)
    )

    def run(iterations: int) -> float:
        model = CMF(k=problem.rank, lambda_=RIDGE, niter=iterations, **CMFREC)
        start = time.process_time()
        model.fit(matrix)
        return time.process_time() - start

    return run(2) - run(1)


# ---- the parts -----------------------------------------------------------------------------------


def iteration_seconds(data: Ratings, rank: int) -> dict[str, dict[str, Any]]:
    """Each library's median seconds, and the interval of its median ratio to exact dpmf."""
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
    rounds = [
        {name: seconds() for name, seconds in work.items()} for _ in range(ROUNDS)
    ]
    return {
        name: {
            "seconds": statistics.median(seconds[name] for seconds in rounds),
            "interval": interval(
                [seconds[name] / seconds["dpmf"] for seconds in rounds]
            ),
        }
        for name in work
    }


def time_to_equal(data: Ratings, rank: int) -> dict[str, Any]:
    """Median seconds until the held-out error has converged for good, None where it never does.

    Converged means: at most `SLACK` away, in either direction, from the best of both libraries' CG
    after `MOST_ITERATIONS`. With many factors the error falls and then rises.
    """
    parts = split(data, SplitSpec(), 0)
    problem = Problem(parts.train, rank)
    fits = {
        "dpmf CG": (dpmf, True),
        "implicit CG": (implicit, True),
        "dpmf": (dpmf, False),
    }
    took: dict[str, list[list[float]]] = {name: [] for name in fits}
    curves: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, (fit, cg) in fits.items():
            curves[name] = []  # the same in each round

            def add_point(
                U: Array, V: Array, errors: list[float] = curves[name]
            ) -> None:
                errors.append(problem.held_out_rmse(parts.test, U, V))

            took[name].append(fit(problem, MOST_ITERATIONS, add_point, cg))
    best = min(curves[name][-1] for name in ("dpmf CG", "implicit CG"))
    iterations = {name: iterations_until(curve, best) for name, curve in curves.items()}
    totals = {
        name: [sum(seconds[: iterations[name]]) for seconds in took[name]]
        for name in fits
    }
    ratios = np.divide(totals["implicit CG"], totals["dpmf CG"])
    seconds = {
        name: statistics.median(total) if iterations[name] <= MOST_ITERATIONS else None
        for name, total in totals.items()
    }
    return {"seconds": seconds, "iterations": iterations, "interval": interval(ratios)}


def iterations_until(errors: Sequence[float], best: float) -> int:
    """How many iterations it takes until all later errors are within the slack of the best."""
    outside = [at for at, error in enumerate(errors) if abs(error / best - 1) > SLACK]
    return max(outside, default=-1) + 2


PARTS = {"iteration": iteration_seconds, "equal": time_to_equal}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=PARTS)
    measured = parser.parse_args().parts
    warnings.filterwarnings("ignore", module="implicit")
    small = Problem(skewed_ratings(10_000, 300, 200), 8)
    for fit in (dpmf, implicit):
        for cg in (False, True):
            fit(small, 1, lambda U, V: None, cg)  # compiles
    data = movielens_or_simulated()
    results = json.loads((RESULTS / "als.json").read_text())
    results |= {"data": data.name, "ratings": len(data), "threads": 1}
    for part in measured:
        results[part] = {f"r {rank}": PARTS[part](data, rank) for rank in RANKS}
    save("als", {name: result for name, result in results.items() if name != "machine"})


if __name__ == "__main__":
    main()
