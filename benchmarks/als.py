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
from scipy.sparse import coo_array, csr_matrix

import datasets
from benchmarks.private import skewed
from benchmarks.report import save
from dpmf_core import kernels
from dpmf_core.data import Ratings, Split, SplitSpec, split
from dpmf_core.experiment import usable_threads
from dpmf_core.metrics import rmse

RANKS, RIDGE = (32, 64, 128), 1.0

Iteration = Callable[[], float]  # seconds of one
Point = tuple[float, float]  # seconds, held-out RMSE


def ours(data: Ratings, rank: int) -> Iteration:
    starts, order = data.by_item
    users, values = data.users[order], data.values[order]
    state = {"V": np.random.default_rng(0).standard_normal((data.n_items, rank)).astype(np.float32)}

    def iteration() -> float:
        start = time.perf_counter()
        U = kernels.solve_rows(data.by_user, data.items, data.values, state["V"], RIDGE)
        state["V"] = kernels.solve_rows(starts, users, values, U, RIDGE)
        return time.perf_counter() - start

    return iteration


def implicit_als(data: Ratings, rank: int, cg: bool) -> Iteration:
    from implicit.als import AlternatingLeastSquares

    matrix = csr_matrix((data.values, (data.users, data.items)), shape=(data.n_users, data.n_items))
    settings = {"factors": rank, "use_cg": cg, "num_threads": usable_threads(), "regularization": RIDGE, "dtype": np.float32}

    def run(iterations: int) -> float:
        model = AlternatingLeastSquares(iterations=iterations, **settings)
        start = time.perf_counter()
        model.fit(matrix, show_progress=False)
        return time.perf_counter() - start

    return lambda: (run(3) - run(1)) / 2  # a further iteration, without set-up


def cmfrec_model(rank: int, iterations: int, ridge: float, cg: bool) -> Any:
    from cmfrec import CMF

    return CMF(
        k=rank, lambda_=ridge, method="als", use_cg=cg, niter=iterations, user_bias=False, item_bias=False, nthreads=usable_threads(),
        use_float=True, verbose=False, precompute_for_predictions=False, finalize_chol=False,
    )  # fmt: skip


def cmfrec_als(data: Ratings, rank: int) -> Iteration:
    matrix = _sparse(data)

    def run(iterations: int) -> float:
        model = cmfrec_model(rank, iterations, RIDGE, cg=False)
        start = time.perf_counter()
        model.fit(matrix)
        return time.perf_counter() - start

    return lambda: run(2) - run(1)


def _sparse(data: Ratings) -> coo_array:
    return coo_array((data.values, (data.users, data.items)), shape=(data.n_users, data.n_items))


def medians(work: dict[str, Iteration], repeats: int) -> dict[str, dict[str, float]]:
    """Each peer in turn, `repeats` rounds: median seconds, and the median over rounds of its ratio to the first."""
    rounds = [{name: iteration() for name, iteration in work.items()} for _ in range(repeats)]
    first = next(iter(work))
    return {
        name: {"seconds": statistics.median(r[name] for r in rounds), "ratio": statistics.median(r[name] / r[first] for r in rounds)} for name in work
    }  # fmt: skip


def to_equal_rmse(data: Ratings, rank: int = 32, ridge: float = 20.0, rounds: int = 3) -> dict[str, Any]:
    """Median seconds, set-up included, to the best RMSE of dpmf or of cmfrec's default, whichever is worse, plus .001. Same objective.

    cmfrec's Cholesky gives other factors run by run from one seed, and sometimes diverges, also alone in its process: its median may not get there.
    """
    parts = split(data, SplitSpec(), 0)
    curves: dict[str, list[list[Point]]] = {"dpmf": [], "cmfrec CG": [], "cmfrec Cholesky": []}
    for _ in range(rounds):
        curves["dpmf"].append(our_curve(parts, rank, ridge))
        curves["cmfrec CG"].append(cmfrec_curve(parts, rank, ridge, cg=True))
        curves["cmfrec Cholesky"].append(cmfrec_curve(parts, rank, ridge, cg=False))
    found = {name: [tuple(map(statistics.median, zip(*points, strict=True))) for points in zip(*every, strict=True)] for name, every in curves.items()}
    target = max(min(error for _, error in found[name]) for name in ("dpmf", "cmfrec CG")) + 0.001
    reached = {name: next((seconds for seconds, error in curve if error <= target), None) for name, curve in found.items()}
    return {"target_rmse": target, "rank": rank, "ridge": ridge, "seconds": reached, "curves": found}


def our_curve(parts: Split, rank: int, ridge: float) -> list[Point]:
    train, test = parts.train, parts.test
    V = np.random.default_rng(0).standard_normal((train.n_items, rank)).astype(np.float32)
    curve, start = [], time.perf_counter()
    by_item = coo_array((train.values, (train.items, train.users)), shape=(train.n_items, train.n_users)).tocsr()  # a sort, as every peer must do
    mean = train.values.mean()
    left, left_by_item = train.values - mean, by_item.data - mean
    spent = time.perf_counter() - start
    for _ in range(10):
        start = time.perf_counter()
        U = kernels.solve_rows(train.by_user, train.items, left, V, ridge)
        V = kernels.solve_rows(by_item.indptr, by_item.indices, left_by_item, U, ridge)
        spent += time.perf_counter() - start
        curve.append((spent, rmse(mean + kernels.predict_pairs(U, V, test.users, test.items), test.values)))
    return curve


def cmfrec_curve(parts: Split, rank: int, ridge: float, cg: bool) -> list[Point]:
    test, mean, matrix, curve = parts.test, float(parts.train.values.mean()), _sparse(parts.train), []
    for iterations in range(1, 8):  # afresh each time: it does not show its steps
        model = cmfrec_model(rank, iterations, ridge, cg)
        start = time.perf_counter()
        model.fit(matrix)
        seconds = time.perf_counter() - start
        error = rmse(mean + np.einsum("ij,ij->i", model.A_[test.users], model.B_[test.items], dtype=float), test.values)
        curve.append((seconds, error if np.isfinite(error) else np.inf))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5, help="rounds; each figure is their median")
    repeats = parser.parse_args().repeats
    warnings.filterwarnings("ignore", module="implicit")
    data = datasets.load("ml-1m") if datasets.present("ml-1m") else skewed(1_000_000, 6_040, 3_706)
    kernels.ready()
    rows = {}
    for rank in RANKS:
        work = {
            "dpmf": ours(data, rank),
            "implicit exact": implicit_als(data, rank, False),
            "implicit CG, 3 steps": implicit_als(data, rank, True),
            "cmfrec Cholesky": cmfrec_als(data, rank),
        }
        work["dpmf"]()
        rows[f"r {rank}"] = medians(work, repeats)
    equal = to_equal_rmse(data)
    save("als", {"data": data.name, "ratings": len(data), "threads": usable_threads(), "iteration": rows, "time_to_equal_rmse": equal})
    print(f"{data.name}, {len(data):,} ratings, {usable_threads()} threads; median seconds an iteration, in brackets times dpmf\n")
    print("| rank | " + " | ".join(work) + " |\n|---|" + "---|" * len(work))
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(f"{cell['seconds']:.3f} ({cell['ratio']:.2f})" for cell in row.values()) + " |")
    print("\nimplicit also weighs every unobserved cell: one Gram matrix more for all rows, the same work per row, (entries) r^2 + r^3.")
    seconds = ", ".join(f"{name} {value:.2f} s" if value is not None else f"{name} not reached" for name, value in equal["seconds"].items())
    print(f"Time to held-out RMSE {equal['target_rmse']:.4f} at r {equal['rank']}, one objective: {seconds}")


if __name__ == "__main__":
    main()
