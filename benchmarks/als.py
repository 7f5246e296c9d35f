"""Exact ALS against implicit and cmfrec on the same ratings, in turn, in one process: `python -m benchmarks.als`.

An iteration is both half-steps. implicit's objective also weighs every unobserved cell, which adds one shared Gram matrix; the work per
row, (entries) r^2 + r^3, is the same. cmfrec minimises ours without biases, so held-out RMSE can be compared over time.
Real MovieLens 1M where `python -m dpmf_core import ml-1m PATH` or `fetch ml-1m` has put it, else simulated ratings of its size.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # implicit asks for it; our kernels hold BLAS at one thread themselves

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

import datasets
from benchmarks.private import skewed
from benchmarks.report import save
from dpmf_core import kernels
from dpmf_core.data import Ratings, SplitSpec, split
from dpmf_core.experiment import usable_threads
from dpmf_core.metrics import rmse

RANKS, RIDGE = (32, 64, 128), 1.0


def ours(data: Ratings, rank: int) -> Callable[[], None]:
    starts, order = data.by_item
    users, values = data.users[order], data.values[order]
    state = {"V": np.random.default_rng(0).standard_normal((data.n_items, rank)).astype(np.float32)}

    def iteration() -> None:
        U = kernels.solve_rows(data.by_user, data.items, data.values, state["V"], RIDGE)
        state["V"] = kernels.solve_rows(starts, users, values, U, RIDGE)

    return iteration


def implicit_als(data: Ratings, rank: int, cg: bool) -> Callable[[], None]:
    from implicit.als import AlternatingLeastSquares

    matrix = csr_matrix((data.values, (data.users, data.items)), shape=(data.n_users, data.n_items))
    settings = {"factors": rank, "use_cg": cg, "num_threads": usable_threads(), "regularization": RIDGE, "dtype": np.float32}

    def run(iterations: int) -> float:
        model = AlternatingLeastSquares(iterations=iterations, **settings)
        start = time.perf_counter()
        model.fit(matrix, show_progress=False)
        return time.perf_counter() - start

    def iteration() -> None:  # what a further iteration costs, without set-up
        times.append((run(3) - run(1)) / 2)

    times: list[float] = []
    iteration.times = times  # type: ignore[attr-defined]
    return iteration


def medians(work: dict[str, Callable[[], None]], repeats: int) -> dict[str, dict[str, float]]:
    """Each piece of work in turn, `repeats` rounds: median seconds, and the median over rounds of its ratio to the first."""
    rounds = []
    for _ in range(repeats):
        seconds = {}
        for name, iteration in work.items():
            start = time.perf_counter()
            iteration()
            seconds[name] = iteration.times[-1] if hasattr(iteration, "times") else time.perf_counter() - start
        rounds.append(seconds)
    first = next(iter(work))
    return {
        name: {"seconds": statistics.median(r[name] for r in rounds), "ratio": statistics.median(r[name] / r[first] for r in rounds)} for name in work
    }  # fmt: skip


def to_equal_rmse(data: Ratings, rank: int = 32, ridge: float = 20.0) -> dict[str, Any]:
    """Seconds until each reaches cmfrec's held-out RMSE of 10 iterations (plus .002), on ratings less their mean."""
    from cmfrec import CMF

    parts = split(data, SplitSpec(), 0)
    train, test, mean = parts.train, parts.test, float(parts.train.values.mean())
    peer: dict[str, list[tuple[float, float]]] = {}
    sparse = csr_array((train.values, (train.users, train.items)), shape=(train.n_users, train.n_items)).tocoo()
    for name, cg in (("cmfrec Cholesky", False), ("cmfrec CG", True)):
        for iterations in (1, 2, 3, 5, 7, 10):
            model = CMF(
                k=rank, lambda_=ridge, method="als", use_cg=cg, niter=iterations, user_bias=False, item_bias=False, nthreads=usable_threads(),
                use_float=True, verbose=False, precompute_for_predictions=False, finalize_chol=False,
            )  # fmt: skip
            start = time.perf_counter()
            model.fit(sparse)
            seconds = time.perf_counter() - start
            predicted = mean + np.einsum("ij,ij->i", model.A_[test.users], model.B_[test.items])
            peer.setdefault(name, []).append((seconds, rmse(predicted, test.values)))
    target = max(curve[-1][1] for curve in peer.values()) + 0.002
    starts, order = train.by_item
    left = train.values - np.float32(mean)
    V = np.random.default_rng(0).standard_normal((train.n_items, rank)).astype(np.float32)
    curve, spent = [], 0.0
    for _ in range(10):
        start = time.perf_counter()
        U = kernels.solve_rows(train.by_user, train.items, left, V, ridge)
        V = kernels.solve_rows(starts, train.users[order], left[order], U, ridge)
        spent += time.perf_counter() - start
        curve.append((spent, rmse(mean + kernels.predict_pairs(U, V, test.users, test.items), test.values)))
    peer["dpmf"] = curve
    reached = {name: next((seconds for seconds, error in points if error <= target), None) for name, points in peer.items()}
    return {"target_rmse": target, "rank": rank, "seconds": reached, "curves": peer}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.filterwarnings("ignore", module="implicit")
    data = datasets.load("ml-1m") if datasets.present("ml-1m") else skewed(1_000_000, 6_040, 3_706)
    kernels.ready()
    rows = {}
    for rank in RANKS:
        work = {"dpmf": ours(data, rank), "implicit exact": implicit_als(data, rank, False), "implicit CG, 3 steps": implicit_als(data, rank, True)}
        work["dpmf"]()
        rows[f"r {rank}"] = medians(work, repeats)
    equal = to_equal_rmse(data)
    save("als", {"data": data.name, "ratings": len(data), "threads": usable_threads(), "iteration": rows, "time_to_equal_rmse": equal})
    print(f"{data.name}, {len(data):,} ratings, {usable_threads()} threads; median seconds an iteration, in brackets times dpmf\n")
    print("| rank | " + " | ".join(work) + " |\n|---|" + "---|" * len(work))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(f"{cell['seconds']:.3f} ({cell['ratio']:.2f})" for cell in row.values()) + " |")
    seconds = ", ".join(f"{name} {value:.2f} s" if value is not None else f"{name} not reached" for name, value in equal["seconds"].items())
    print(f"\nTime to held-out RMSE {equal['target_rmse']:.4f} at r {equal['rank']}: {seconds}")


if __name__ == "__main__":
    main()
