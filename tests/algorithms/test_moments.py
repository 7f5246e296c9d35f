"""What a noisy sum and a noisy second moment of samples show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import moments
from dpmf_core.algorithms.components import Components
from dpmf_core.algorithms.moments import estimate_residuals
from dpmf_core.algorithms.sample_statistics import SampleMoment, residual_samples
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import Block
from dpmf_core.data.samples import Samples
from dpmf_core.evaluation.judges import by_samples
from tests.support.algebra import relative, shortened


@pytest.mark.parametrize(
    ("K", "image"),
    [
        (1, (6, 9)),
        (5, (6, 9)),
        (7, (6, 9)),
        (54, (6, 9)),
        (4, None),
        (13, None),
    ],
)
def test_pieces_add_up_to_the_row_and_explain_at_least_as_much(K, image):
    rng = np.random.default_rng(8)
    row = rng.random(54)
    W = moments.pieces(row, K, image)
    assert W.shape == (K, 54)
    assert_allclose(W.sum(axis=0), row, atol=1e-12)
    assert (W >= 0).all()
    judge = by_samples(
        Samples.of(
            rng.random((30, 54)),
            unit="image",
            public=True,
        )
    )

    def objective(basis):
        return judge.point(Components(basis.astype(np.float32)))["objective"]

    assert objective(W) <= objective(row[None]) + 1e-7


def test_the_mean_row_is_the_sum_without_noise_and_even_where_all_is_noise():
    rng = np.random.default_rng(9)
    total = 10 + 50 * rng.random(40)
    assert_allclose(moments.mean_row(total, 1e-9, None), total, rtol=1e-6)
    axes = moments.cosine_patterns((5, 8))
    assert_allclose(moments.mean_row(total, 1e-9, axes), total, rtol=1e-6)
    assert (moments.mean_row(np.zeros(40), 5.0, None) == 1).all()


def test_the_mean_row_of_few_large_entries_is_found_through_noise():
    rng = np.random.default_rng(9)
    row = np.zeros(2000)
    row[:20] = 100.0
    noisy = row + 10 * rng.standard_normal(2000)
    denoised = moments.mean_row(noisy, 10.0, None)

    def cosine(estimate):
        return relative(row) @ relative(estimate)

    assert cosine(denoised) > 0.95
    assert cosine(noisy) < 0.95


def test_what_pieces_explain_is_read_off_the_moment_without_bias():
    rng = np.random.default_rng(11)
    X = rng.random((300, 20))
    W = rng.random((3, 20))
    M = X.T @ X
    Q = np.linalg.qr(W.T)[0]
    explained = ((X @ Q) ** 2).sum()
    assert moments.explained_energy(M, W) == pytest.approx(explained)
    dependent = np.vstack([W, W[0], np.zeros(20)])
    assert moments.explained_energy(M, dependent) == pytest.approx(explained)
    noisy = []
    for _ in range(300):
        G = rng.standard_normal((20, 20)) * 40
        noisy.append(moments.explained_energy(M + (G + G.T) / 2, W))
    standard_error = np.std(noisy) / np.sqrt(300)
    assert np.mean(noisy) == pytest.approx(explained, abs=4 * standard_error)


def test_spikes_are_seen_through_noise_as_random_matrix_theory_says():
    """A spike of 3 sqrt(m v) among m = 400 comes back unbiased, and nothing else is found."""
    rng = np.random.default_rng(5)
    m = 400
    scale = 1.0
    spike = 3 * np.sqrt(m * scale**2 / 2)
    direction = relative(rng.standard_normal(m))
    eigenvalues = []
    for _ in range(5):
        G = rng.standard_normal((m, m)) * scale / np.sqrt(2)
        noise = np.triu(G) + np.triu(G, 1).T
        M = spike * np.outer(direction, direction) + noise
        values, _ = moments.denoised_spectrum(M, scale)
        assert len(values) == 1
        eigenvalues.append(values[0])
    assert np.mean(eigenvalues) == pytest.approx(spike, rel=0.05)


def test_residuals_are_rows_less_their_part_along_the_centre_clipped_and_in_its_units():
    rng = np.random.default_rng(0)
    X = rng.gamma(0.5, 1.0, (40, 12))
    X[7] = 0
    centre = relative(X.mean(axis=0))
    reach = 0.5
    data = Samples.of(
        X,
        image=(3, 4),
        unit="image",
        public=True,
    )
    block = Block(np.arange(40), {"train": data}, 40)
    residuals = residual_samples(block, centre, reach)

    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    rows = X / np.maximum(lengths, 1e-300)
    remainder = rows - np.outer(rows @ centre, centre)
    expected = shortened(remainder / reach, 1.0)
    assert_allclose(residuals, expected, atol=3e-6)
    assert not residuals[7].any()
    norms = np.linalg.norm(residuals, axis=1)
    assert norms.max() <= 1
    is_clipped = np.linalg.norm(remainder, axis=1) > reach
    assert (norms[is_clipped] > 0.99999).sum() > 5

    totals = SampleMoment().empty(data.shape, None, None)
    SampleMoment().add(block, totals, residuals, None)
    assert_allclose(totals[0], expected.T @ expected, atol=1e-4)


def test_draws_have_the_moments_of_the_rows_where_there_is_no_noise():
    rng = np.random.default_rng(3)
    centre = relative(np.array([5.0, 4.0, 6.0, 5.0]))
    y = rng.standard_normal((50_000, 4)) * [0.03, 0.02, 0.01, 0.005]
    y -= np.outer(y @ centre, centre)
    axes = moments.cosine_patterns((2, 2))
    distribution = estimate_residuals(y.T @ y, centre, 1e-9, len(y), axes)
    points = distribution.points(rng.standard_normal((50_000, 4)))
    assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    assert_allclose(np.cov(points.T), np.cov(y.T), atol=3e-5)
    assert_allclose(relative(points.mean(axis=0)), centre, atol=1e-3)


def test_what_lies_below_the_noise_is_estimated_by_the_diagonal():
    """Each variance is far below the noise; their sum along the axes is still found."""
    rng = np.random.default_rng(4)
    d = 200
    n = 3000
    scale = 12.0
    truth = 0.01 / (1 + np.arange(d) / 40)
    centre = np.eye(d)[-1]
    remainders = []
    with single_threaded_blas:
        for _ in range(10):
            G = rng.standard_normal((d, d)) * scale
            M = n * np.diag(truth) + (G + G.T) / 2
            remainders.append(estimate_residuals(M, centre, scale, n, None).remainder)
            assert (np.diff(remainders[-1]) <= 0).all()
    mean_remainder = np.mean(remainders, axis=0)
    assert mean_remainder.sum() == pytest.approx(truth.sum(), rel=0.15)
    assert mean_remainder[:40].sum() == pytest.approx(truth[:40].sum(), rel=0.2)
