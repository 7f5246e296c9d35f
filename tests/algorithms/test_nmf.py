"""Non-negative factorisation against scipy, scikit-learn and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from dpmf_core.algorithms import build, curator_for
from dpmf_core.algorithms.private_nmf import DPNMF
from dpmf_core.data.samples import SampleShape
from dpmf_core.kernels import nmf_loops as kernel
from dpmf_core.privacy import Budget, Calibration, Noise, Status, normal_form
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import IMAGES
from tests.fitting import trained
from tests.support.algebra import streams
from tests.support.made_up_samples import blocks


def test_coefficients_are_non_negative_least_squares():
    rng = np.random.default_rng(0)
    W = rng.random((6, 30))
    X = rng.random((50, 30))
    H = kernel.coefficients(
        X @ W.T,
        W @ W.T,
        passes=5000,
        close=1e-12,
    )
    exact = np.array([nnls(W.T, row)[0] for row in X])
    assert_allclose(H, exact, atol=1e-6)


def test_the_basis_step_reaches_the_constrained_minimum():
    """Against projected gradient run to its end: entries at least 0, rows in the unit ball."""
    rng = np.random.default_rng(2)
    H = rng.random((40, 4))
    X = 3 * rng.random((40, 9))
    A = H.T @ H
    B = H.T @ X
    basis = kernel.basis(A, B, rng.random((4, 9)), 3000)
    slow = rng.random((4, 9))
    length = np.linalg.eigvalsh(A)[-1]
    for _ in range(60_000):
        slow = kernel.in_unit_ball(np.maximum(slow - (A @ slow - B) / length, 0))
    assert_allclose(basis, slow, atol=1e-5)
    assert np.linalg.norm(basis, axis=1).max() <= 1 + 1e-12


def test_outliers_are_the_soft_threshold_cut_off_at_the_limit():
    E = np.array([[0.5, -0.5, 0.05, 3.0, -3.0]])
    _, R = kernel.robust_coefficients(E, np.zeros((1, 5)), 0.1, 1.0, passes=1)
    assert_allclose(R, [[0.4, -0.4, 0.0, 1.0, -1.0]])


def test_robust_coefficients_minimise_their_objective():
    """Against the source's own inner loop: alternating projected gradient and soft threshold."""
    rng = np.random.default_rng(3)
    W = kernel.in_unit_ball(rng.random((4, 25)))
    X = rng.gamma(1.0, 1.0, (12, 4)) @ W
    X[::3, :6] += 0.8
    threshold = 0.1

    def objective(H, R):
        error = X - H @ W - R
        return float(0.5 * (error**2).sum() + threshold * np.abs(R).sum())

    sides = kernel.robust_coefficients(X, W, threshold, 1.0, passes=600)
    H = np.zeros((12, 4))
    R = np.zeros_like(X)
    length = np.linalg.eigvalsh(W @ W.T)[-1]
    for _ in range(20_000):
        gradient = (X - R - H @ W) @ W.T
        H = np.maximum(H + gradient / length, 0)
        residuals = X - H @ W
        excess = np.clip(np.abs(residuals) - threshold, 0, 1.0)
        R = np.sign(residuals) * excess
    assert objective(*sides) == pytest.approx(objective(H, R), rel=1e-6)


def test_without_noise_steps_are_alternating_least_squares():
    """One step against numpy: coefficients by scipy, the basis by its own minimum."""
    data = blocks(n_samples=300)
    algorithm = DPNMF(
        n_components=3,
        steps=1,
        basis_passes=400,
        coefficient_clip=10.0,
    )
    noise = Noise(algorithm.plan(data.shape, 1.0))
    curator = curator_for(algorithm, data, noise)
    start = algorithm._start(curator, streams()).astype(np.float64)
    X = data.scaled(data.X, np.float64)
    H = np.array([nnls(start.T, row)[0] for row in X])
    expected = kernel.basis(H.T @ H, H.T @ X, start, 400)
    assert_allclose(trained(algorithm, data).basis, expected, atol=2e-4)


@pytest.mark.parametrize(("outliers", "deviation"), [(False, 2.0), (True, 4.0)])
def test_the_sources_noise_on_the_products_is_its_own(outliers, deviation):
    """Delta sqrt(2 ln(1.25/delta)) / epsilon, times N: Delta_A = 2/N, Delta_B by the outliers."""
    shape = SampleShape(300, 20)
    budget = Budget(
        epsilon=0.7,
        delta=1e-5,
        calibration=Calibration.SOURCE,
    )
    parameters = {"start": "nndsvd", "outliers": outliers}
    algorithm = build("dp-nmf", parameters, shape, budget)
    assert algorithm.guarantee().status is Status.UNPROVEN
    plan = algorithm.plan(shape, algorithm.source_level(shape, budget))
    classical = np.sqrt(2 * np.log(1.25 / 1e-5)) / 0.7
    noises = {leaf.statistic: leaf.noise_multiplier for leaf, _ in normal_form(plan)}
    first, second = sorted(noises.values())
    assert first == pytest.approx(2 * classical)
    assert second == pytest.approx(deviation * classical)


def test_a_start_from_the_private_data_shows_in_the_blindfold():
    """The very test that random and private starts pass; so the guarantee says UNPROVEN."""
    for start in ("random", "mean-row", "private-svd"):
        laws.check_blindfold(
            DPNMF(
                n_components=3,
                steps=2,
                start=start,
            ),
            IMAGES,
        )
    leaky = DPNMF(
        n_components=3,
        steps=2,
        start="nndsvd",
        basis_rate=0.2,
    )
    with pytest.raises(AssertionError, match="basis differs"):
        laws.check_blindfold(leaky, IMAGES)
    assert leaky.guarantee().status is Status.UNPROVEN
    assert "start is computed from the private samples" in leaky.guarantee().words


def test_a_start_from_the_private_data_shows_in_the_sensitivity():
    laws.check_sensitivity(DPNMF(n_components=3, steps=2), home=IMAGES)
    leaky = DPNMF(
        n_components=3,
        steps=2,
        start="nndsvd",
    )
    with pytest.raises(AssertionError, match=r"moved '.*' by .*, declared"):
        laws.check_sensitivity(leaky, home=IMAGES)
