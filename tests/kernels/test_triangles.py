"""Sums of outer products and Cholesky in tiles against dense numpy."""

from typing import Any

import numpy as np
import pytest

from dpmf_core import kernels
from dpmf_core.kernels.tiles import LONGEST, add_triangle, factorise, fits_tiles, solve_factorised

PRECISION = {np.float32: 2e-4, np.float64: 1e-11}


def _system(rank: int, dtype: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix and a right-hand side."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(2 * rank, rank))
    return (rows.T @ rows + np.eye(rank)).astype(dtype), random.normal(size=rank).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank", [16, 48, 128])
@pytest.mark.parametrize("count", [0, 1, 7, 40])
def test_the_triangle_of_sums_is_numpys(dtype: Any, rank: int, count: int) -> None:
    random = np.random.default_rng(count)
    rows = random.normal(size=(40, rank)).astype(dtype)
    sums = random.normal(size=(rank, rank)).astype(dtype)
    expected = sums.astype(float) + rows[:count].astype(float).T @ rows[:count].astype(float)
    add_triangle(rows, count, sums)
    upper = np.triu_indices(rank)
    np.testing.assert_allclose(sums[upper], expected[upper], rtol=1e-5, atol=PRECISION[dtype] / 10)


def test_sums_of_numbers_on_a_grid_have_no_rounding() -> None:
    rows = np.random.default_rng(3).integers(-(2**12), 2**12, (300, 32)) * 2.0**-12
    sums = np.zeros((32, 32))
    add_triangle(rows, 300, sums)
    upper = np.triu_indices(32)
    assert (sums[upper] == (rows.T @ rows)[upper]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank", [16, 32, 64, 128])
def test_factor_and_solution_are_numpys(dtype: Any, rank: int) -> None:
    gram, right = _system(rank, dtype)
    exact = gram.astype(float)
    U, x = gram.copy(), right.copy()
    assert factorise(U)
    np.testing.assert_allclose(
        np.triu(U), np.linalg.cholesky(exact).T, rtol=PRECISION[dtype], atol=PRECISION[dtype]
    )
    solve_factorised(U, x)
    np.testing.assert_allclose(x, np.linalg.solve(exact, right), atol=PRECISION[dtype])


@pytest.mark.parametrize("place", [0, 1, 2, 3, 17, 31])
@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan])
def test_what_is_not_positive_definite_is_noticed_wherever_it_shows(
    place: int, wrong: float
) -> None:
    diagonal = np.ones(32)
    diagonal[place] = wrong
    assert not factorise(np.diag(diagonal))
    assert factorise(np.eye(32))


@pytest.mark.parametrize("rank", [16, 64, 128, 24, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_solved_alike_with_and_without_tiles(rank: int, dtype: Any) -> None:
    """Ranks that suit tiles, one that is no multiple of their width, and one beyond them."""
    assert fits_tiles(rank, np.dtype(dtype).itemsize) == (
        rank % 16 == 0 and rank * np.dtype(dtype).itemsize <= LONGEST
    )
    random = np.random.default_rng(rank)
    factors = random.normal(size=(700, rank)).astype(dtype)
    indices = np.concatenate([np.arange(700), random.integers(0, 700, 5)])
    indptr, values = np.array([0, 700, 705]), random.normal(size=705)
    weights, base = random.uniform(0.5, 2, 705), np.eye(rank)
    solution = kernels.solve_rows(indptr, indices, values, factors, 0.7, base=base, weights=weights)
    for i in range(2):
        span = slice(indptr[i], indptr[i + 1])
        F = factors[indices[span]].astype(float)
        system = F.T @ (weights[span, None] * F) + 1.7 * np.eye(rank)
        expected = np.linalg.solve(system, F.T @ (weights[span] * values[span]))
        np.testing.assert_allclose(solution[i], expected, atol=10 * PRECISION[dtype])
