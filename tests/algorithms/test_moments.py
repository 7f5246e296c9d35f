"""What a noisy sum and a noisy second moment tell of samples: the mean row, its pieces, spikes and
points.
"""

import numpy as np
import pytest

from dpmf_core.algorithms import moments
from dpmf_core.algorithms.parts import Parts
from dpmf_core.data.samples import Samples
from dpmf_core.evaluation.judges import by_samples
from dpmf_core.kernels import single_threaded_blas


def test_pieces_add_up_to_the_row_and_explain_at_least_as_much() -> None:
    rng = np.random.default_rng(8)
    for K, image in ((1, (6, 9)), (5, (6, 9)), (7, (6, 9)), (54, (6, 9)), (4, None), (13, None)):
        row = rng.random(54)
        W = moments.pieces(row, K, image)
        assert W.shape == (K, 54)
        np.testing.assert_allclose(W.sum(axis=0), row, atol=1e-12)
        assert (W >= 0).all()
        X = Samples.of(rng.random((30, 54)), unit="image", public=True)
        whole, cut = (
            by_samples(X).point(Parts(basis.astype(np.float32)))["objective"]
            for basis in (row[None], W)
        )
        assert cut <= whole + 1e-7


def test_the_mean_row_is_the_sum_without_noise_and_even_where_all_is_noise() -> None:
    rng = np.random.default_rng(9)
    total = 10 + 50 * rng.random(40)
    np.testing.assert_allclose(moments.mean_row(total, 1e-9, None), total, rtol=1e-6)
    axes = moments.cosine_patterns((5, 8))
    np.testing.assert_allclose(moments.mean_row(total, 1e-9, axes), total, rtol=1e-6)
    assert (moments.mean_row(np.zeros(40), 5.0, None) == 1).all()
    few = np.zeros(2000)
    few[:20] = 100.0
    denoised, raw = (
        moments.mean_row(few + 10 * rng.standard_normal(2000), 10.0, None),
        few + 10 * rng.standard_normal(2000),
    )
    assert (
        few @ denoised / np.linalg.norm(few) / np.linalg.norm(denoised)
        > 0.95
        > few @ raw / np.linalg.norm(few) / np.linalg.norm(raw)
    )


def test_the_threshold_has_the_least_estimated_risk_of_all() -> None:
    """Against Stein's estimate written out for every candidate."""
    rng = np.random.default_rng(10)
    y, scale = np.abs(rng.standard_normal(50) * 3 + 1), 1.3
    risks = {
        t: sum(scale**2 - 2 * scale**2 * (abs(x) <= t) + min(abs(x), t) ** 2 for x in y)
        for t in [0.0, *y]
    }
    best = min(risks, key=lambda t: risks[t])
    np.testing.assert_allclose(
        moments.mean_row(y, scale, None), np.maximum(y - best, 0), atol=1e-12
    )


def test_what_pieces_explain_is_read_off_the_moment_without_bias() -> None:
    rng = np.random.default_rng(11)
    X = rng.random((300, 20))
    W = rng.random((3, 20))
    M = X.T @ X
    Q = np.linalg.qr(W.T)[0]
    assert moments.explained_energy(M, W) == pytest.approx(((X @ Q) ** 2).sum())
    assert moments.explained_energy(M, np.vstack([W, W[0], np.zeros(20)])) == pytest.approx(
        ((X @ Q) ** 2).sum()
    )
    noisy = []
    for _ in range(300):
        G = rng.standard_normal((20, 20)) * 40
        noisy.append(moments.explained_energy(M + (G + G.T) / 2, W))
    assert np.mean(noisy) == pytest.approx(
        moments.explained_energy(M, W), abs=4 * np.std(noisy) / np.sqrt(300)
    )


def test_the_released_moment_overstates_the_space_that_was_found_by_as_much_as_said() -> None:
    """Over 200 draws of noise: what the noisy moment shows in the found space, and in one of
    its directions, less what the rows have there.
    """
    rng = np.random.default_rng(12)
    X, scale = (
        8
        * rng.standard_normal((500, 3))
        * [1.8, 1.4, 1.0]
        @ np.linalg.qr(rng.standard_normal((60, 3)))[0].T,
        300.0,
    )
    true, estimates, of_one, said_of_one = [], [], [], []
    with single_threaded_blas:
        for _ in range(200):
            G = rng.standard_normal((60, 60)) * scale
            M = X.T @ X + (G + G.T) / 2
            distribution = moments.estimate_distribution(M, X.sum(axis=0), scale, 500)
            true.append(moments.explained_energy(M - X.T @ X, distribution.directions))
            estimates.append(distribution.overstatement(distribution.directions))
            of_one.append(moments.explained_energy(M - X.T @ X, distribution.space[1:2]))
            said_of_one.append(distribution.overstatement(distribution.space[1:2]))
            outside = np.linalg.svd(distribution.space)[2][-2:]
            assert distribution.overstatement(outside) == pytest.approx(0, abs=1e-9)
    assert np.mean(estimates) == pytest.approx(np.mean(true), rel=0.25)
    assert np.mean(said_of_one) == pytest.approx(np.mean(of_one), rel=0.35)


def test_cosine_patterns_are_orthonormal_and_slow_ones_come_first() -> None:
    axes = moments.cosine_patterns((6, 4))
    np.testing.assert_allclose(axes @ axes.T, np.eye(24), atol=1e-12)
    np.testing.assert_allclose(axes[0], axes[0][0])
    crossings = [
        (np.diff(np.sign(row.reshape(6, 4)), axis=0) != 0).sum()
        + (np.diff(np.sign(row.reshape(6, 4)), axis=1) != 0).sum()
        for row in axes
    ]
    assert crossings[0] < crossings[5] < crossings[23]


def test_spikes_are_seen_through_noise_as_random_matrix_theory_says() -> None:
    """A spike of 3 sqrt(m v) among m = 400: its eigenvalue comes back unbiased, and what lies
    in the noise is left out.
    """
    rng = np.random.default_rng(5)
    m, scale = 400, 1.0
    spike = 3 * np.sqrt(m * scale**2 / 2)
    direction = rng.standard_normal(m)
    direction /= np.linalg.norm(direction)
    eigenvalues = []
    for _ in range(5):
        noise = rng.standard_normal((m, m)) * scale / np.sqrt(2)
        M = spike * np.outer(direction, direction) + np.triu(noise) + np.triu(noise, 1).T + 0
        values, _ = moments.denoised_spectrum(M, scale)
        assert len(values) == 1
        eigenvalues.append(values[0])
    assert np.mean(eigenvalues) == pytest.approx(spike, rel=0.05)


def test_points_have_the_mean_and_the_spread_that_were_released() -> None:
    rng = np.random.default_rng(6)
    X = 5 + rng.standard_normal((20_000, 3)) @ np.array(
        [[1.0, 0.5, 0.0], [0.0, 0.7, 0.1], [0.0, 0.0, 0.3]]
    )
    distribution = moments.estimate_distribution(X.T @ X, X.sum(axis=0), 1e-9, len(X))
    points = distribution.points(rng.standard_normal((200_000, 3)))
    np.testing.assert_allclose(points.mean(axis=0), X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(points.T), np.cov(X.T), atol=0.02)
