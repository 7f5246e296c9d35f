"""Rows by conjugate gradients against numpy's solutions and scipy's steps."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse.linalg import cg

from dpmf_core import kernels
from tests.support.sparse_rows import M, N, sparse_rows, systems


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-8), (np.float32, 2e-3)]
)
@pytest.mark.parametrize(("has_weights", "has_base"), [(False, True), (True, False)])
@pytest.mark.parametrize("rank", [1, 17])
def test_many_steps_solve_every_row(rank, has_base, has_weights, dtype, tolerance):
    rows = sparse_rows()
    random = np.random.default_rng(1)
    factors = random.normal(size=(M, rank)).astype(dtype)
    if has_base:
        base = np.eye(rank) * 0.3 + 0.1
    else:
        base = None
    ridge = random.random(N) + 0.2
    start = random.normal(size=(N, rank))
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
    assert solution.dtype == dtype
    assert np.array_equal(start, copy)
    if has_weights:
        weighted = rows
    else:
        weighted = (*rows[:3], None)
    expected = []
    for matrix, right in systems(weighted, factors, ridge, base):
        expected.append(np.linalg.solve(matrix, right))
    assert_allclose(solution, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
@pytest.mark.parametrize("has_base", [False, True])
def test_every_step_is_that_of_scipy(steps, has_base):
    rows = sparse_rows()
    random = np.random.default_rng(2)
    factors = random.normal(size=(M, 12))
    start = random.normal(size=(N, 12))
    if has_base:
        base = np.eye(12) * 0.3 + 0.1
    else:
        base = None
    solution = kernels.refine_rows(
        *rows[:3], factors, 0.1, start, base=base, weights=rows[3], steps=steps
    )
    for i, (matrix, right) in enumerate(systems(rows, factors, 0.1, base)):
        expected, _ = cg(matrix, right, x0=start[i], rtol=0, atol=0, maxiter=steps)
        if i == 3:
            expected = 0
        assert_allclose(solution[i], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ridge", [1e-3, 1e-6, 1e-12])
def test_an_ill_conditioned_row_comes_closer_and_stays_finite(dtype, ridge):
    """Errors fall to rounding with factors from 1 to 1e-4, and more steps do no harm."""
    rows = sparse_rows()
    random = np.random.default_rng(3)
    scales = np.logspace(0, -4, 20)
    factors = (random.normal(size=(M, 20)) * scales).astype(dtype)
    every_system = systems(rows, factors, ridge)
    exact = [np.linalg.solve(*system) for system in every_system]

    def errors(steps):
        start = np.zeros((N, 20), dtype)
        solution = kernels.refine_rows(
            *rows[:3], factors, ridge, start, weights=rows[3], steps=steps
        )
        solution = solution.astype(float)
        assert np.isfinite(solution).all()
        away = [x - y for x, y in zip(solution, exact, strict=True)]
        return np.array(
            [
                np.sqrt(d @ matrix @ d)
                for d, (matrix, _) in zip(away, every_system, strict=True)
            ]
        )

    curve = [errors(steps) for steps in (0, 1, 2, 3, 5, 10, 200)]
    if dtype == np.float32:
        slack = 1e-5
    else:
        slack = 1e-12
    for before, after in itertools.pairwise(curve):
        assert (after <= before * (1 + slack) + slack).all()
    assert curve[3].sum() < 0.8 * curve[0].sum()
    assert (curve[-1] <= curve[-2] + 100 * slack).all()


def test_an_empty_row_gives_exactly_zero_wherever_it_starts():
    indptr, indices, values, _ = sparse_rows()
    factors = np.ones((M, 6), np.float32)
    start = np.full((N, 6), 9.0)
    base = np.eye(6)
    assert not kernels.refine_rows(
        indptr, indices, values, factors, 0.1, start, base=base
    )[3].any()
    none = kernels.refine_rows(
        np.zeros(4, int), indices[:0], values[:0], factors, 0.1, start[:3]
    )
    assert none.shape == (3, 6)
    assert not none.any()


@pytest.mark.parametrize("rank", [24, 33, 64])
@pytest.mark.parametrize("has_weights", [False, True])
def test_bits_do_not_depend_on_threads_or_on_company(rank, has_weights, monkeypatch):
    indptr, indices, values, all_weights = sparse_rows()
    random = np.random.default_rng(2)
    factors = random.normal(size=(M, rank)).astype(np.float32)
    start = random.normal(size=(N, rank))
    base = np.eye(rank)

    def solve(first, last):
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
        )

    monkeypatch.setenv("DPMF_THREADS", "1")
    together = solve(0, N)
    alone = [solve(i, i + 1) for i in range(N)]
    assert np.array_equal(together, np.concatenate(alone))
    for threads in ("2", "3"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        with ThreadPoolExecutor(4) as pool:
            others = pool.map(lambda _: solve(0, N), range(10))
            for other in others:
                assert np.array_equal(together, other)


def test_a_warm_start_goes_on_from_its_last_solution():
    indptr, indices, values, _ = sparse_rows()
    random = np.random.default_rng(8)
    first = random.normal(size=(M, 10)).astype(np.float32)
    second = random.normal(size=(M, 10)).astype(np.float32)
    solver = kernels.WarmStart(steps=2)
    one = solver(indptr, indices, values, first, 0.5)
    copy = one.copy()
    two = solver(indptr, indices, values, second, 0.5)
    zero = np.zeros((N, 10), np.float32)
    expected = kernels.refine_rows(indptr, indices, values, first, 0.5, zero, steps=2)
    assert np.array_equal(one, expected)
    expected = kernels.refine_rows(indptr, indices, values, second, 0.5, copy, steps=2)
    assert np.array_equal(two, expected)
    assert np.array_equal(one, copy)
