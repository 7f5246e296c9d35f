"""Non-negative factorisation against scipy, scikit-learn and closed forms; the leak of a start
that is not private.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn import decomposition

import dpmf_datasets as datasets
from dpmf_core.algorithms import Streams, build, curator_for
from dpmf_core.algorithms.moments import MOST_FEATURES, least_signal
from dpmf_core.algorithms.nmf import NMF
from dpmf_core.algorithms.oneshot_nmf import OneShotNMF
from dpmf_core.algorithms.private_nmf import DPNMF
from dpmf_core.algorithms.sample_statistics import START, SUM
from dpmf_core.base.errors import BadInput
from dpmf_core.data.preparation import Preparation, prepared
from dpmf_core.data.samples import Samples, SampleShape
from dpmf_core.evaluation.judges import by_samples
from dpmf_core.kernels import components as kernel
from dpmf_core.privacy import Budget, Calibration, Gaussian, Noise, Relation, Status, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import IMAGES
from dpmf_core.testing.sample_worlds import blocks

# ---- kernels -------------------------------------------------------------------------------------
from tests.fitting import trained


def objective_of(model: Any, data: Samples) -> float:
    return by_samples(data).point(model)["objective"]


def test_coefficients_are_non_negative_least_squares() -> None:
    rng = np.random.default_rng(0)
    W, X = rng.random((6, 30)), rng.random((50, 30))
    H = kernel.coefficients(X @ W.T, W @ W.T, passes=5000, close=1e-12)
    exact = np.array([nnls(W.T, row)[0] for row in X])
    np.testing.assert_allclose(H, exact, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_coefficients_do_not_depend_on_threads_or_other_rows(threads: int) -> None:
    rng = np.random.default_rng(1)
    W, X = rng.random((5, 20)), rng.random((40, 20))
    B, G = X @ W.T, W @ W.T
    whole = kernel.coefficients(B, G)
    assert kernel.coefficients(B, G, threads=threads).tobytes() == whole.tobytes()
    assert kernel.coefficients(B[7:9], G).tobytes() == whole[7:9].tobytes()


def test_the_basis_step_reaches_the_constrained_minimum() -> None:
    """Against projected gradient run to its end: entries at least 0, rows in the unit ball."""
    rng = np.random.default_rng(2)
    H, X = rng.random((40, 4)), 3 * rng.random((40, 9))
    A, B = H.T @ H, H.T @ X
    basis = kernel.basis(A, B, rng.random((4, 9)), 3000)
    slow = rng.random((4, 9))
    for _ in range(60_000):
        slow = kernel.in_unit_ball(np.maximum(slow - (A @ slow - B) / np.linalg.eigvalsh(A)[-1], 0))
    np.testing.assert_allclose(basis, slow, atol=1e-5)
    assert np.linalg.norm(basis, axis=1).max() <= 1 + 1e-12


def test_outliers_are_the_soft_threshold_cut_off_at_the_limit() -> None:
    E = np.array([[0.5, -0.5, 0.05, 3.0, -3.0]])
    R = kernel.outliers(np.zeros((1, 5)), E.copy(), 0.1, 1.0)
    np.testing.assert_allclose(R, [[0.4, -0.4, 0.0, 1.0, -1.0]])
    np.testing.assert_allclose(kernel.trim(np.zeros((1, 5)), E.copy(), 0.1, 1.0), E - R)


@pytest.mark.parametrize("minimise", [kernel.robust_coefficients, kernel.robust_rows])
def test_robust_coefficients_minimise_their_objective(minimise: Callable[..., Any]) -> None:
    """Against plain alternating projected gradient and soft threshold, the source's own inner
    loop.
    """
    rng = np.random.default_rng(3)
    W = kernel.in_unit_ball(rng.random((4, 25)))
    X = rng.gamma(1.0, 1.0, (12, 4)) @ W
    X[::3, :6] += 0.8
    threshold = 0.1

    def objective(H: Any, R: Any) -> float:
        return float(0.5 * ((X - H @ W - R) ** 2).sum() + threshold * np.abs(R).sum())

    sides = minimise(X, W, threshold, 1.0, passes=600)
    H, R = np.zeros((12, 4)), np.zeros_like(X)
    for _ in range(20_000):
        H = np.maximum(H + (X - R - H @ W) @ W.T / np.linalg.eigvalsh(W @ W.T)[-1], 0)
        residuals = X - H @ W
        R = np.sign(residuals) * np.minimum(np.maximum(np.abs(residuals) - threshold, 0), 1.0)
    assert objective(*sides) == pytest.approx(objective(H, R), rel=1e-6)


def test_plain_reaches_scikit_learns_objective() -> None:
    for data in (
        blocks(n_samples=200, n_features=30),
        prepared(datasets.load("news"), Preparation(most_samples=500)),
    ):
        rows = data.scaled(data.X)
        theirs = decomposition.NMF(4, init="nndsvda", max_iter=400, random_state=0).fit(rows)
        objective = 0.5 * theirs.reconstruction_err_**2 / len(data)
        assert (
            objective_of(trained(NMF(n_components=4, iterations=400), data), data)
            <= 1.01 * objective
        )


def test_without_noise_steps_are_alternating_least_squares() -> None:
    """One step against numpy: coefficients by scipy, the basis by its own minimum."""
    data = blocks(n_samples=300)
    algorithm = DPNMF(n_components=3, steps=1, basis_passes=400, coefficient_clip=10.0)
    noise = Noise(algorithm.plan(data.shape, 1.0))
    start = algorithm._start(
        curator_for(algorithm, data, noise), Streams(np.random.default_rng(0), 1)
    ).astype(np.float64)
    X = data.scaled(data.X, np.float64)
    H = np.array([nnls(start.T, row)[0] for row in X])
    expected = kernel.basis(H.T @ H, H.T @ X, start, 400)
    np.testing.assert_allclose(trained(algorithm, data).basis, expected, atol=2e-4)


def test_the_mechanism_draws_the_noise_it_declares() -> None:
    """Variance of the released second moment over 200 repeats, within 5% at six standard
    errors: 200 x 210 coordinates.
    """
    data = blocks(n_samples=40)
    algorithm, draws = OneShotNMF(n_components=2, features_kept=20, points=10, iterations=1), []
    for seed in range(200):
        from dpmf_core.testing.probes import record

        entry = record(algorithm, data, level=2.0, seed=seed).log[1]
        noise = (entry.noisy[0] - entry.exact[0]) / (entry.scale * entry.leaf.sensitivity)
        draws.append(noise[np.triu_indices(20, 1)] * np.sqrt(2))
    assert np.var(draws) == pytest.approx(1.0, abs=0.05)
    assert not 0.95 < np.var(np.array(draws) * 1.05) < 1.05


def test_the_sources_noise_costs_what_the_contract_says() -> None:
    """docs/PRIVACY.md, "Saha and Imtiaz 2022": nominal 0.5 a step, in 100 and in 500 steps, by
    Delta_B; cleaned rows are clipped to norm 1, which halves how far one moves B.
    """
    shape, budget = SampleShape(2414, 1024), Budget(epsilon=0.5, delta=1e-5)
    for steps, outliers, share, of_adding, of_replacing in (
        (100, False, 0.5, 3.05, 4.54),
        (500, False, 0.5, 7.80, 11.94),
        (100, False, 0.8, 2.34, 3.46),
        (100, True, 0.8, 2.34, 3.85),
        (500, True, 0.8, 5.89, 9.99),
    ):
        algorithm = DPNMF(steps=steps, moment_share=share, outliers=outliers)
        event = algorithm.plan(shape, algorithm.source_level(shape, budget))
        assert epsilon(event, 1e-5) == pytest.approx(of_adding, abs=0.006)
        assert epsilon(event, 1e-5, Relation.REPLACE_ONE) == pytest.approx(of_replacing, abs=0.006)
    for share, outliers in ((0.1, False), (0.5, True), (0.1, True)):
        with pytest.raises(BadInput, match="Δ_B = 4/N"):
            DPNMF(moment_share=share, outliers=outliers).source_level(shape, budget)


@pytest.mark.parametrize(("outliers", "deviation"), [(False, 2.0), (True, 4.0)])
def test_the_sources_noise_on_the_products_is_its_own(outliers: bool, deviation: float) -> None:
    """Delta sqrt(2 ln(1.25/delta)) / epsilon, times N: Delta_A = 2/N, Delta_B by the outliers."""
    shape = SampleShape(300, 20)
    budget = Budget(epsilon=0.7, delta=1e-5, calibration=Calibration.SOURCE)
    algorithm = build("dp-nmf", {"start": "nndsvd", "outliers": outliers}, shape, budget)
    plan = algorithm.plan(shape, algorithm.source_level(shape, budget))
    classical = np.sqrt(2 * np.log(1.25 / 1e-5)) / 0.7
    noises = {leaf.statistic: leaf.noise_multiplier for leaf, _ in normal_form(plan)}
    assert sorted(noises.values()) == pytest.approx(sorted((2 * classical, deviation * classical)))
    assert algorithm.guarantee().status is Status.UNPROVEN


def test_a_start_from_the_private_data_shows_in_the_blindfold() -> None:
    """The very test that random and private starts pass; so the guarantee says UNPROVEN."""
    for start in ("random", "mean-row", "private-svd"):
        laws.check_blindfold(DPNMF(n_components=3, steps=2, start=start), IMAGES)
    leaky = DPNMF(n_components=3, steps=2, start="nndsvd", basis_rate=0.2)
    with pytest.raises(AssertionError, match="basis differs"):
        laws.check_blindfold(leaky, IMAGES)
    laws.check_sensitivity(DPNMF(n_components=3, steps=2), home=IMAGES)
    with pytest.raises(AssertionError, match=r"moved '.*' by .*, declared"):
        laws.check_sensitivity(DPNMF(n_components=3, steps=2, start="nndsvd"), home=IMAGES)
    assert leaky.guarantee().status is Status.UNPROVEN
    assert "start is computed from the private samples" in leaky.guarantee().words


def test_too_many_features_for_a_second_moment_are_refused() -> None:
    with pytest.raises(BadInput, match=f"at most {MOST_FEATURES:,}"):
        DPNMF(start="private-svd").check(SampleShape(10, 5000))
    with pytest.raises(BadInput, match="pixels"):
        OneShotNMF().check(SampleShape(10, 10_000, (100, 100)))
    OneShotNMF().check(SampleShape(10, 50_000))


@pytest.mark.parametrize(
    ("shape", "mu", "is_visible"),
    [
        (SampleShape(400, 576, (24, 24)), 0.374, False),
        (SampleShape(400, 576, (24, 24)), 0.376, True),
        (SampleShape(3000, 36_771), 0.166, False),
        (SampleShape(3000, 36_771), 0.167, True),
        (SampleShape(3000, 258), 0.0499, False),
        (SampleShape(3000, 258), 0.0501, True),
    ],
)
def test_where_little_can_be_seen_the_sum_takes_all(
    shape: SampleShape, mu: float, is_visible: bool
) -> None:
    budget = Budget(epsilon=_epsilon_at(mu), delta=1e-5)
    assert (shape.n_samples * budget.mu >= least_signal(shape)) == is_visible
    algorithm = build("oneshot-nmf", {}, shape, budget)
    shares = {
        leaf.statistic: 1 / leaf.noise_multiplier**2
        for leaf, _ in normal_form(algorithm.plan(shape, 2.0))
    }
    assert set(shares) == ({SUM, START} if is_visible else {SUM})
    assert sum(shares.values()) == pytest.approx(1 / 4)


def _epsilon_at(mu: float) -> float:
    return epsilon(Gaussian(1 / mu, "x", 1.0, 1.0), 1e-5)
