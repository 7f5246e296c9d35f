"""Explicit alternating least squares of dpmf and of cmfrec, one objective without biases: held-out
RMSE over processor seconds, one thread.
"""

import statistics
import time
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from dpmf_core import kernels
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.evaluation.metrics import rmse

Point = tuple[float, float]  # seconds, held-out RMSE
NAMES = ("dpmf", "dpmf CG", "cmfrec CG", "cmfrec Cholesky")


def time_to_equal_rmse(
    data: Ratings, rank: int = 32, ridge: float = 20.0, rounds: int = 3
) -> dict[str, Any]:
    """Median seconds, set-up included, to the best RMSE of exact dpmf or of cmfrec's default,
    whichever is worse, plus .001.

    cmfrec's Cholesky gives other factors run by run from one seed, and sometimes diverges, also
    alone in its process: its median may not get there.
    """
    parts = split(data, SplitSpec(), 0)
    curves: dict[str, list[list[Point]]] = {name: [] for name in NAMES}
    for _ in range(rounds):
        curves["dpmf"].append(our_curve(parts, rank, ridge, cg=False))
        curves["dpmf CG"].append(our_curve(parts, rank, ridge, cg=True))
        curves["cmfrec CG"].append(cmfrec_curve(parts, rank, ridge, cg=True))
        curves["cmfrec Cholesky"].append(cmfrec_curve(parts, rank, ridge, cg=False))
    medians = {
        name: [
            tuple(map(statistics.median, zip(*points, strict=True)))
            for points in zip(*every, strict=True)
        ]
        for name, every in curves.items()
    }
    target = max(min(error for _, error in medians[name]) for name in ("dpmf", "cmfrec CG")) + 0.001
    seconds_to_target = {
        name: next((seconds for seconds, error in curve if error <= target), None)
        for name, curve in medians.items()
    }
    return {
        "target_rmse": target,
        "rank": rank,
        "ridge": ridge,
        "seconds": seconds_to_target,
        "curves": medians,
    }


def our_curve(parts: Split, rank: int, ridge: float, cg: bool) -> list[Point]:
    train, test = parts.train, parts.test
    V = np.random.default_rng(0).standard_normal((train.n_items, rank)).astype(np.float32)
    users, items = ((kernels.WarmStart() if cg else kernels.solve_rows) for _ in range(2))
    curve, start = [], time.process_time()
    # a sort, as every peer must do
    by_item = coo_array(
        (train.values, (train.items, train.users)), shape=(train.n_items, train.n_users)
    ).tocsr()
    mean = train.values.mean()
    residuals, residuals_by_item = train.values - mean, by_item.data - mean
    seconds = time.process_time() - start
    for _ in range(10):
        start = time.process_time()
        U = users(train.by_user, train.items, residuals, V, ridge)
        V = items(by_item.indptr, by_item.indices, residuals_by_item, U, ridge)
        seconds += time.process_time() - start
        predictions = mean + kernels.predict_pairs(U, V, test.users, test.items)
        curve.append((seconds, rmse(predictions, test.values)))
    return curve


def cmfrec_model(rank: int, iterations: int, ridge: float, cg: bool) -> Any:
    from cmfrec import CMF

    return CMF(
        k=rank,
        lambda_=ridge,
        method="als",
        use_cg=cg,
        niter=iterations,
        user_bias=False,
        item_bias=False,
        nthreads=1,
        use_float=True,
        verbose=False,
        precompute_for_predictions=False,
        finalize_chol=False,
    )


def cmfrec_seconds(data: Ratings, rank: int, ridge: float) -> float:
    """Of a further iteration by Cholesky, without set-up."""

    def run(iterations: int) -> float:
        model = cmfrec_model(rank, iterations, ridge, cg=False)
        start = time.process_time()
        model.fit(_sparse(data))
        return time.process_time() - start

    return run(2) - run(1)


def _sparse(data: Ratings) -> coo_array:
    return coo_array((data.values, (data.users, data.items)), shape=(data.n_users, data.n_items))


def cmfrec_curve(parts: Split, rank: int, ridge: float, cg: bool) -> list[Point]:
    test, mean, matrix, curve = (
        parts.test,
        float(parts.train.values.mean()),
        _sparse(parts.train),
        [],
    )
    for iterations in range(1, 8):  # afresh each time: it does not show its steps
        model = cmfrec_model(rank, iterations, ridge, cg)
        start = time.process_time()
        model.fit(matrix)
        seconds = time.process_time() - start
        error = rmse(
            mean + np.einsum("ij,ij->i", model.A_[test.users], model.B_[test.items], dtype=float),
            test.values,
        )
        curve.append((seconds, error if np.isfinite(error) else np.inf))
    return curve
