"""Draws of rows from their posterior, against dense computation."""

import numpy as np
import pytest

from dpmf_core import kernels

R = 5


def world(seed: int = 3):
    """Sparse rows of three users, one without entries; factors, prior precision, prior term."""
    rng = np.random.default_rng(seed)
    starts, columns = np.array([0, 4, 4, 11]), rng.integers(0, 9, 11).astype(np.int32)
    values, factors = rng.normal(size=11), rng.normal(size=(9, R))
    root = rng.normal(size=(R, R))
    return starts, columns, values, factors, root @ root.T + np.eye(R), rng.normal(size=(3, R))


def dense(starts, columns, values, factors, precision, linear, noise, row):
    """The posterior precision and mean of a row by its definition."""
    entries = slice(starts[row], starts[row + 1])
    F = factors[columns[entries]]
    A = noise * F.T @ F + precision
    return A, np.linalg.solve(A, noise * F.T @ values[entries] + linear[row])


def test_without_noise_a_draw_is_the_posterior_mean():
    starts, columns, values, factors, precision, linear = world()
    nothing = np.zeros((3, R))

    drawn = kernels.draw_rows(starts, columns, values, factors, 0.7, precision, linear, nothing)

    for row in range(3):
        _, mean = dense(*world(), 0.7, row)
        assert drawn[row] == pytest.approx(mean, rel=1e-4, abs=1e-5)


def test_the_noise_of_a_draw_has_the_posterior_covariance():
    # what each unit vector moves a row by are the columns of a root of its covariance
    starts, columns, values, factors, precision, linear = world()
    arguments = starts, columns, values, factors, 0.7, precision, linear
    mean = kernels.draw_rows(*arguments, np.zeros((3, R)))
    moves = [kernels.draw_rows(*arguments, np.tile(unit, (3, 1))) - mean for unit in np.eye(R)]

    for row in range(3):
        A, _ = dense(*world(), 0.7, row)
        root = np.column_stack([move[row] for move in moves]).astype(float)
        assert root @ root.T == pytest.approx(np.linalg.inv(A), rel=1e-3, abs=1e-4)


def test_any_number_of_threads_draws_the_same():
    rng = np.random.default_rng(0)
    n, m, size = 400, 60, 17
    starts = np.arange(0, n * 30 + 1, 30)
    columns = rng.integers(0, m, n * 30).astype(np.int32)
    arguments = (
        *(starts, columns, rng.normal(size=n * 30), rng.normal(size=(m, size)), 1.0),
        *(np.eye(size), np.zeros((n, size)), rng.normal(size=(n, size))),
    )
    one, two = (kernels.draw_rows(*arguments, threads=threads) for threads in (1, 2))
    assert np.array_equal(one, two)


def test_a_precision_that_is_not_positive_definite_is_an_error():
    starts, columns, values, factors, _, linear = world()
    with pytest.raises(FloatingPointError):
        kernels.draw_rows(starts, columns, values, factors, 0.7, -np.eye(R), linear, linear)
