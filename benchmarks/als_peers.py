"""Alternating least squares of every library on one implicit problem, step by step.

Hu, Koren & Volinsky 2008: the sum over all cells of c (p - u . v)^2 plus ridge (|u|^2 + |v|^2). A
rated cell has p = 1 and c = 1 + its rating, any other p = 0 and c = 1. All start from the same
factors and use one thread; seconds are the processor's, of the half-steps alone.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dpmf_core import kernels
from dpmf_core.data.ratings import Ratings

Array = npt.NDArray[Any]
Observer = Callable[[Array, Array], None]  # of user and item factors, after each iteration
Fit = Callable[["Problem", int, Observer], list[float]]  # seconds of each iteration


@dataclass(frozen=True)
class Problem:
    """Ratings, the number of factors, the ridge, and where everyone starts."""

    data: Ratings
    rank: int
    ridge: float

    def start(self) -> tuple[Array, Array]:
        """User and item factors as implicit draws them."""
        random = np.random.default_rng(0)
        sizes = (self.data.n_users, self.data.n_items)
        users, items = (random.random((n, self.rank), np.float32) * np.float32(0.01) for n in sizes)
        return users, items

    def loss(self, U: Array, V: Array) -> float:
        """The objective, in float64 where it is summed."""
        data = self.data
        predictions = kernels.predict_pairs(U, V, data.users, data.items, threads=1).astype(float)
        confidence = 1 + data.values.astype(float)
        of_ratings = (confidence * (1 - predictions) ** 2 - predictions**2).sum()
        X, Y = U.astype(float), V.astype(float)
        everywhere = ((X.T @ X) * (Y.T @ Y)).sum()
        return float(of_ratings + everywhere + self.ridge * ((X**2).sum() + (Y**2).sum()))

    def held_out_rmse(self, test: Ratings, U: Array, V: Array) -> float:
        """Of the preference, 1, of held-out rated cells."""
        predictions = kernels.predict_pairs(U, V, test.users, test.items, threads=1).astype(float)
        return float(np.sqrt(np.mean((1 - predictions) ** 2)))


def dpmf(problem: Problem, iterations: int, observe: Observer, cg: bool) -> list[float]:
    data, (U, V), took = problem.data, problem.start(), []
    starts, order = data.by_item
    # beside the 1 of every cell: (c - 1) (c / (c - 1) - u . v)^2
    by_user = (data.by_user, data.items, 1 + 1 / data.values)
    by_item = (starts, data.users[order], by_user[2][order])
    weights = (data.values, data.values[order])

    def half(rows: tuple[Array, ...], weights: Array, F: Array, last: Array) -> Array:
        options = {"base": F.T @ F, "weights": weights, "threads": 1}
        if cg:
            return kernels.refine_rows(*rows, F, problem.ridge, last, **options)
        return kernels.solve_rows(*rows, F, problem.ridge, **options)

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
        regularization=problem.ridge,
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
