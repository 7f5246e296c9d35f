"""Sums of outer products, Cholesky in tiles and draws of rows, against dense numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core import kernels
from dpmf_core.kernels.tiles import (
    LONGEST,
    add_triangle,
    factorise,
    fits_tiles,
    solve_factorised,
)

PRECISION = {np.float32: 2e-4, np.float64: 1e-11}


def _system(rank, dtype, seed=0):
    """A positive definite matrix and a right-hand side."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(2 * rank, rank))
    matrix = (rows.T @ rows + np.eye(rank)).astype(dtype)
    right_side = random.normal(size=rank).astype(dtype)
    return matrix, right_side


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank", [16, 48, 128])
@pytest.mark.parametrize("count", [0, 1, 7, 40])
def test_the_triangle_of_sums_is_numpys(dtype, rank, count):
    random = np.random.default_rng(count)
    rows = random.normal(size=(40, rank)).astype(dtype)
    sums = random.normal(size=(rank, rank)).astype(dtype)
    exact = rows[:count].astype(float)
    expected = sums.astype(float) + exact.T @ exact
    add_triangle(rows, count, sums)
    upper = np.triu_indices(rank)
    tolerance = PRECISION[dtype] / 10
    assert_allclose(sums[upper], expected[upper], rtol=1e-5, atol=tolerance)


def test_sums_of_numbers_on_a_grid_have_no_rounding():
    whole = np.random.default_rng(3).integers(-(2**12), 2**12, (300, 32))
    rows = whole * 2.0**-12
    sums = np.zeros((32, 32))
    add_triangle(rows, 300, sums)
    upper = np.triu_indices(32)
    assert (sums[upper] == (rows.T @ rows)[upper]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank", [16, 32, 64, 128])
def test_factor_and_solution_are_numpys(dtype, rank):
    gram, right = _system(rank, dtype)
    exact = gram.astype(float)
    U = gram.copy()
    x = right.copy()
    assert factorise(U)
    expected = np.linalg.cholesky(exact).T
    assert_allclose(
        np.triu(U),
        expected,
        rtol=PRECISION[dtype],
        atol=PRECISION[dtype],
    )
    solve_factorised(U, x)
    expected = np.linalg.solve(exact, right)
    assert_allclose(x, expected, atol=PRECISION[dtype])


@pytest.mark.parametrize("place", [0, 1, 2, 3, 17, 31])
@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan])
def test_a_matrix_that_is_not_positive_definite_is_noticed(place, wrong):
    diagonal = np.ones(32)
    diagonal[place] = wrong
    assert not factorise(np.diag(diagonal))
    assert factorise(np.eye(32))


@pytest.mark.parametrize("rank", [16, 64, 128, 24, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_solved_alike_with_and_without_tiles(rank, dtype):
    """Ranks that suit tiles, one that is no multiple of their width, and one beyond them."""
    assert fits_tiles(rank, np.dtype(dtype).itemsize) == (
        rank % 16 == 0 and rank * np.dtype(dtype).itemsize <= LONGEST
    )
    random = np.random.default_rng(rank)
    factors = random.normal(size=(700, rank)).astype(dtype)
    others = random.integers(0, 700, 5)
    indices = np.concatenate([np.arange(700), others])
    indptr = np.array([0, 700, 705])
    values = random.normal(size=705)
    weights = random.uniform(0.5, 2, 705)
    base = np.eye(rank)
    solution = kernels.solve_rows(
        indptr, indices, values, factors, 0.7, base=base, weights=weights
    )
    for i in range(2):
        span = slice(indptr[i], indptr[i + 1])
        F = factors[indices[span]].astype(float)
        weighted = F.T * weights[span]
        system = weighted @ F + 1.7 * np.eye(rank)
        expected = np.linalg.solve(system, weighted @ values[span])
        assert_allclose(solution[i], expected, atol=10 * PRECISION[dtype])


R = 5


def world(seed=3):
    """Sparse rows of three users, one without entries; factors, prior precision, prior term."""
    rng = np.random.default_rng(seed)
    starts = np.array([0, 4, 4, 11])
    columns = rng.integers(0, 9, 11).astype(np.int32)
    values = rng.normal(size=11)
    factors = rng.normal(size=(9, R))
    root = rng.normal(size=(R, R))
    return (
        starts,
        columns,
        values,
        factors,
        root @ root.T + np.eye(R),
        rng.normal(size=(3, R)),
    )


def dense(starts, columns, values, factors, precision, linear, noise, row):
    """The posterior precision and mean of a row by its definition."""
    entries = slice(starts[row], starts[row + 1])
    F = factors[columns[entries]]
    A = noise * F.T @ F + precision
    right_side = noise * F.T @ values[entries] + linear[row]
    return A, np.linalg.solve(A, right_side)


def test_without_noise_a_draw_is_the_posterior_mean():
    starts, columns, values, factors, precision, linear = world()
    nothing = np.zeros((3, R))

    drawn = kernels.draw_rows(
        starts, columns, values, factors, 0.7, precision, linear, nothing
    )

    for row in range(3):
        _, mean = dense(*world(), 0.7, row)
        assert drawn[row] == pytest.approx(mean, rel=1e-4, abs=1e-5)


def test_the_noise_of_a_draw_has_the_posterior_covariance():
    # what each unit vector moves a row by are the columns of a root of its covariance
    starts, columns, values, factors, precision, linear = world()
    arguments = starts, columns, values, factors, 0.7, precision, linear
    mean = kernels.draw_rows(*arguments, np.zeros((3, R)))
    moves = []
    for unit in np.eye(R):
        drawn = kernels.draw_rows(*arguments, np.tile(unit, (3, 1)))
        moves.append(drawn - mean)

    for row in range(3):
        A, _ = dense(*world(), 0.7, row)
        root = np.column_stack([move[row] for move in moves]).astype(float)
        expected = np.linalg.inv(A)
        assert root @ root.T == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_any_number_of_threads_draws_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    n = 400
    m = 60
    size = 17
    starts = np.arange(0, n * 30 + 1, 30)
    columns = rng.integers(0, m, n * 30).astype(np.int32)
    arguments = (
        starts,
        columns,
        rng.normal(size=n * 30),
        rng.normal(size=(m, size)),
        1.0,
        np.eye(size),
        np.zeros((n, size)),
        rng.normal(size=(n, size)),
    )
    draws = []
    for threads in ("1", "2"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        draws.append(kernels.draw_rows(*arguments))
    assert np.array_equal(*draws)


def test_a_precision_that_is_not_positive_definite_is_an_error():
    starts, columns, values, factors, _, linear = world()
    with pytest.raises(FloatingPointError):
        kernels.draw_rows(
            starts, columns, values, factors, 0.7, -np.eye(R), linear, linear
        )
