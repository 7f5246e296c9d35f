"""Rows about their released mean: the statistic and what is read off it, against numpy, scipy and
closed forms.
"""

import numpy as np
import pytest
from scipy.optimize import nnls

from dpmf_core.algorithms import build, moments
from dpmf_core.algorithms.oneshot_nmf import OneShotNMF
from dpmf_core.algorithms.residual_moments import (
    LEAST_REACH,
    estimate_residuals,
    patterns_under,
    residual_reach,
    unexplained_energy,
)
from dpmf_core.algorithms.sample_statistics import SampleMoment, residual_samples
from dpmf_core.curator import Block
from dpmf_core.data.samples import Samples, SampleShape
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import Budget


def unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def test_residuals_are_rows_less_their_part_along_the_centre_clipped_and_in_its_units() -> None:
    rng = np.random.default_rng(0)
    X = rng.gamma(0.5, 1.0, (40, 12))
    X[7] = 0
    centre, reach = unit(X.mean(axis=0)), 0.5
    data = Samples.of(X, image=(3, 4), unit="image", public=True)
    block = Block(np.arange(40), {"train": data}, 40)
    residuals = residual_samples(block, centre, reach)
    rows = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    remainder = rows - np.outer(rows @ centre, centre)
    size = np.linalg.norm(remainder, axis=1, keepdims=True)
    expected = remainder / np.maximum(size, reach)
    np.testing.assert_allclose(residuals, expected, atol=3e-6)
    assert not residuals[7].any()
    norms = np.linalg.norm(residuals, axis=1)
    assert norms.max() <= 1
    assert (norms[size.ravel() > reach] > 0.99999).sum() > 5
    totals = SampleMoment().empty(data.shape, None, None)  # type: ignore[arg-type]
    SampleMoment().add(block, totals, residuals, None)
    np.testing.assert_allclose(totals[0], expected.T @ expected, atol=1e-4)


def test_the_reach_is_at_least_the_root_mean_square_of_residuals() -> None:
    rng = np.random.default_rng(1)
    for spread in (0.1, 1.0, 5.0):
        X = unit(rng.gamma(1 / spread, 1.0, (500, 20)))
        centre = unit(X.sum(axis=0))
        reach = residual_reach(X.sum(axis=0), centre, 500)
        remainder = X - np.outer(X @ centre, centre)
        assert np.sqrt((remainder**2).sum(axis=1).mean()) <= reach <= 1
    alike = np.tile(centre, (30, 1))
    assert residual_reach(alike.sum(axis=0), centre, 30) == LEAST_REACH
    assert residual_reach(-alike.sum(axis=0), centre, 30) == 1
    shorter_sum = 0.6 * centre * 30
    assert residual_reach(shorter_sum, centre, 30) == pytest.approx(0.8)


def test_patterns_span_the_centre_times_slow_cosines_even_where_it_is_zero() -> None:
    rng = np.random.default_rng(2)
    axes = moments.cosine_patterns((5, 6))
    centre = rng.random(30)
    centre[[0, 3, 29]] = 0
    patterns = patterns_under(unit(centre), axes)
    np.testing.assert_allclose(patterns @ patterns.T, np.eye(30), atol=1e-12)
    for k in (1, 4, 11):
        under = axes[:k] * centre
        np.testing.assert_allclose(under @ patterns[:k].T @ patterns[:k], under, atol=1e-12)
    np.testing.assert_array_equal(patterns_under(centre, None), np.eye(30))


def test_draws_have_the_moments_of_the_rows_where_there_is_no_noise() -> None:
    rng = np.random.default_rng(3)
    centre = unit(np.array([5.0, 4.0, 6.0, 5.0]))
    y = rng.standard_normal((50_000, 4)) * [0.03, 0.02, 0.01, 0.005]
    y -= np.outer(y @ centre, centre)
    distribution = estimate_residuals(
        y.T @ y, centre, 1e-9, len(y), moments.cosine_patterns((2, 2))
    )
    points = distribution.points(rng.standard_normal((50_000, 4)))
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(np.cov(points.T), np.cov(y.T), atol=3e-5)
    np.testing.assert_allclose(unit(points.mean(axis=0)), centre, atol=1e-3)


def test_what_lies_below_the_noise_is_estimated_by_the_diagonal() -> None:
    """Every variance lies far below the noise; along the axes they are seen together all the
    same.
    """
    rng = np.random.default_rng(4)
    d, n, scale = 200, 3000, 12.0
    truth = 0.01 / (1 + np.arange(d) / 40)
    centre, remainders = np.eye(d)[-1], []
    with single_threaded_blas:
        for _ in range(10):
            G = rng.standard_normal((d, d)) * scale
            M = n * np.diag(truth) + (G + G.T) / 2
            remainders.append(estimate_residuals(M, centre, scale, n, None).remainder)
            assert (np.diff(remainders[-1]) <= 0).all()
    mean_remainder = np.mean(remainders, axis=0)
    assert mean_remainder.sum() == pytest.approx(truth.sum(), rel=0.15)
    assert mean_remainder[:40].sum() == pytest.approx(truth[:40].sum(), rel=0.2)


def test_the_unexplained_part_is_that_of_non_negative_least_squares() -> None:
    rng = np.random.default_rng(5)
    points, W = 2 * rng.random((30, 15)), rng.random((4, 15))
    exact = [nnls(W.T, row)[1] ** 2 / 2 for row in points]
    assert unexplained_energy(points, W) == pytest.approx(np.mean(exact), rel=1e-5)
    assert unexplained_energy(points, np.zeros((4, 15))) == pytest.approx((points**2).sum() / 60)


def test_the_excess_is_by_how_much_draws_vary_more_than_rows_along_what_was_found() -> None:
    """Over 100 draws of noise, with two planted directions well above it."""
    rng = np.random.default_rng(6)
    d, n, scale = 80, 1000, 12.0
    directions = np.linalg.qr(rng.standard_normal((d - 1, 2)))[0]
    truth = np.zeros((d, d))
    truth[:-1, :-1] = n * directions @ np.diag([0.4, 0.25]) @ directions.T
    centre = np.eye(d)[-1]
    over, excesses = [], []
    with single_threaded_blas:
        for _ in range(100):
            G = rng.standard_normal((d, d)) * scale
            distribution = estimate_residuals(truth + (G + G.T) / 2, centre, scale, n, None)
            along = np.einsum("kd,de,ke->k", distribution.space, truth / n, distribution.space)
            over.append(np.sum(distribution.spreads**2 - along))
            excesses.append(np.sum(distribution.excess))
    assert np.mean(over) == pytest.approx(np.mean(excesses), rel=0.25)


def test_the_sum_takes_more_of_a_small_budget_for_images() -> None:
    shares = []
    for epsilon in (0.5, 2.0, 20.0):
        budget = Budget(epsilon=epsilon, delta=1e-5)
        algorithm = build("oneshot-nmf", {}, SampleShape(1800, 64, (8, 8)), budget)
        assert isinstance(algorithm, OneShotNMF)
        shares.append(algorithm.sum_share)
        words = build("oneshot-nmf", {}, SampleShape(1800, 64), budget)
        assert isinstance(words, OneShotNMF)
        assert words.sum_share == 0.1
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 0.25  # 4 / sqrt(1800 / 7.0318)
    assert shares[-1] == 0.1
