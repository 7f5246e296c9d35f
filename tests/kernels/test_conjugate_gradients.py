"""Rows by conjugate gradients: against numpy's solution of the same systems, and step by step
against scipy's own conjugate gradients.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import cg

from dpmf_core import kernels

N, M = 57, 41


def _rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row 3 is empty, row 5 has one entry, row 7 is full."""
    random = np.random.default_rng(seed)
    mask = random.random((N, M)) < 0.3
    mask[3], mask[7], mask[5] = False, True, np.arange(M) == 11
    indptr = np.concatenate([[0], np.cumsum(mask.sum(1))])
    indices = np.nonzero(mask)[1].astype(np.int32)
    return indptr, indices, random.normal(size=len(indices)), random.random(len(indices)) + 0.1


def _systems(
    rows: tuple[Any, ...],
    factors: np.ndarray,
    ridge: Any,
    base: Any = None,
    has_weights: bool = True,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each row's matrix and right-hand side, dense float64."""
    indptr, indices, values, weights = rows
    systems = []
    for i in range(len(indptr) - 1):
        span = slice(indptr[i], indptr[i + 1])
        f, w = factors[indices[span]].astype(float), weights[span] if has_weights else 1.0
        wf = (f.T * w).T
        matrix = wf.T @ f + (0 if base is None else base)
        ridge_i = np.broadcast_to(ridge, (len(indptr) - 1,))[i]
        systems.append((matrix + float(ridge_i) * np.eye(f.shape[1]), wf.T @ values[span]))
    return systems


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 2e-3)])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("has_base", [False, True])
@pytest.mark.parametrize("rank", [1, 17])
def test_many_steps_solve_every_row(
    rank: int, has_base: bool, has_weights: bool, dtype: Any, tolerance: float
) -> None:
    rows, random = _rows(), np.random.default_rng(1)
    factors = random.normal(size=(M, rank)).astype(dtype)
    base = np.eye(rank) * 0.3 + 0.1 if has_base else None
    ridge, start = random.random(N) + 0.2, random.normal(size=(N, rank))
    copy = start.copy()
    solution = kernels.refine_rows(
        *rows[:3],
        factors,
        ridge,
        start,
        base=base,
        weights=rows[3] if has_weights else None,
        steps=4 * rank,
    )
    assert solution.dtype == dtype and np.array_equal(start, copy)
    systems = _systems(rows, factors, ridge, base, has_weights)
    expected = np.array([np.linalg.solve(*system) for system in systems])
    np.testing.assert_allclose(solution, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
@pytest.mark.parametrize("has_base", [False, True])
def test_every_step_is_that_of_scipy(steps: int, has_base: bool) -> None:
    rows, random = _rows(), np.random.default_rng(2)
    factors, start = random.normal(size=(M, 12)), random.normal(size=(N, 12))
    base = np.eye(12) * 0.3 + 0.1 if has_base else None
    solution = kernels.refine_rows(
        *rows[:3], factors, 0.1, start, base=base, weights=rows[3], steps=steps
    )
    for i, (matrix, right) in enumerate(_systems(rows, factors, 0.1, base)):
        expected, _ = cg(matrix, right, x0=start[i], rtol=0, atol=0, maxiter=steps)
        np.testing.assert_allclose(solution[i], expected if i != 3 else 0, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [1e-3, 1e-6, 1e-12])
def test_an_ill_conditioned_row_comes_closer_and_stays_finite(dtype: Any, ridge: float) -> None:
    """Factors of sizes from 1 to 1e-4 and a ridge far below: the error in the norm of the row's
    matrix falls from step to step, to rounding, and 200 steps more do no harm.
    """
    rows, random = _rows(), np.random.default_rng(3)
    factors = (random.normal(size=(M, 20)) * np.logspace(0, -4, 20)).astype(dtype)
    systems = _systems(rows, factors, ridge)
    exact = [np.linalg.solve(*system) for system in systems]

    def errors(steps: int) -> np.ndarray:
        start = np.zeros((N, 20), dtype)
        solution = kernels.refine_rows(
            *rows[:3], factors, ridge, start, weights=rows[3], steps=steps
        ).astype(float)
        assert np.isfinite(solution).all()
        away = [x - y for x, y in zip(solution, exact, strict=True)]
        return np.array(
            [np.sqrt(d @ matrix @ d) for d, (matrix, _) in zip(away, systems, strict=True)]
        )

    curve = [errors(steps) for steps in (0, 1, 2, 3, 5, 10, 200)]
    slack = 1e-5 if dtype == np.float32 else 1e-12
    for before, after in itertools.pairwise(curve):
        assert (after <= before * (1 + slack) + slack).all()
    assert curve[3].sum() < 0.8 * curve[0].sum()
    assert (curve[-1] <= curve[-2] + 100 * slack).all()


def test_an_empty_row_gives_exactly_zero_wherever_it_starts() -> None:
    indptr, indices, values, _ = _rows()
    factors, start = np.ones((M, 6), np.float32), np.full((N, 6), 9.0)
    base = np.eye(6)
    assert not kernels.refine_rows(indptr, indices, values, factors, 0.1, start, base=base)[3].any()
    none = kernels.refine_rows(np.zeros(4, int), indices[:0], values[:0], factors, 0.1, start[:3])
    assert none.shape == (3, 6) and not none.any()


@pytest.mark.parametrize("rank", [24, 33, 64])
@pytest.mark.parametrize("has_weights", [False, True])
def test_bits_do_not_depend_on_threads_or_on_company(rank: int, has_weights: bool) -> None:
    indptr, indices, values, all_weights = _rows()
    random = np.random.default_rng(2)
    factors, start = random.normal(size=(M, rank)).astype(np.float32), random.normal(size=(N, rank))
    base = np.eye(rank)

    def solve(first: int, last: int, threads: int) -> np.ndarray:
        span = slice(indptr[first], indptr[last])
        return kernels.refine_rows(
            indptr[first : last + 1] - indptr[first],
            indices[span],
            values[span],
            factors,
            0.5,
            start[first:last],
            base=base,
            weights=all_weights[span] if has_weights else None,
            threads=threads,
        )

    together = solve(0, N, 1)
    alone = [solve(i, i + 1, 1) for i in range(N)]
    assert np.array_equal(together, np.concatenate(alone))
    with ThreadPoolExecutor(4) as pool:
        for other in pool.map(lambda threads: solve(0, N, threads), [1, 2, 3, 4] * 5):
            assert np.array_equal(together, other)


def test_a_warm_start_goes_on_from_its_last_solution() -> None:
    indptr, indices, values, _ = _rows()
    random = np.random.default_rng(8)
    first, second = (random.normal(size=(M, 10)).astype(np.float32) for _ in range(2))
    solver = kernels.WarmStart(steps=2)
    one = solver(indptr, indices, values, first, 0.5)
    copy = one.copy()
    two = solver(indptr, indices, values, second, 0.5)
    zero = np.zeros((N, 10), np.float32)
    steps = {"steps": 2}
    assert np.array_equal(
        one, kernels.refine_rows(indptr, indices, values, first, 0.5, zero, **steps)
    )
    assert np.array_equal(
        two, kernels.refine_rows(indptr, indices, values, second, 0.5, copy, **steps)
    )
    assert np.array_equal(one, copy)
