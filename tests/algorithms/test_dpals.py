"""Private ALS against plain float64 numpy, and its parts against what they are defined to be."""

from typing import Any

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY, Streams, curator_for, dpals
from dpmf_core.algorithms.dpals import DPALS, AdaDPALS, nearest_psd, orthonormal
from dpmf_core.algorithms.item_systems import Entries, item_entries
from dpmf_core.curator import in_memory
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import rmse
from dpmf_core.privacy import Noise, normal_form
from tests.algorithms.als_world import VANISHING, M, N, ratings, ridge_rows
from tests.fitting import fit, fit_by_name
from tests.support.heard_noise import HeardNoise


@pytest.fixture(scope="module")
def data() -> Ratings:
    return ratings()


def test_dpals_without_noise_is_clipped_alternating_least_squares(data: Ratings) -> None:
    """A vanishing level, no sub-sampling: each item step is least squares on clipped user rows;
    [C21, Alg. 1] in float64.
    """
    options: dict[str, Any] = {
        "rank": 3,
        "steps": 2,
        "clip_norm": 0.8,
        "rating_clip": 2.0,
        "ratings_per_user": M,
        "regularisation": 0.5,
        "noise_ridge": 0.0,
        "user_regularisation": 0.2,
        "biases": False,
        "centring": "user",
    }
    fit = fit_by_name("dpals", data, VANISHING, **options)
    counts = np.bincount(data.users, minlength=N)
    means = np.bincount(data.users, data.values - 3.0, N) / np.maximum(counts, 1)
    residuals = data.values - 3.0 - means[data.users]
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 3)))
    for _ in range(2):
        U = ridge_rows(data.users, data.items, residuals, V, N, np.full(N, 0.2))
        U *= np.minimum(1, 0.8 / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-30))
        factors = ridge_rows(data.items, data.users, residuals, U, M, np.full(M, 0.5 * 0.8**2))
        left_singular, _, right_singular = np.linalg.svd(factors, full_matrices=False)
        V = left_singular @ right_singular  # the polar factor is V (V'V)^(-1/2)
    np.testing.assert_allclose(
        fit.model.item_factors, factors * 0.8 / np.sqrt(3), rtol=2e-3, atol=2e-4
    )


def test_dpals_with_shared_second_moment_without_noise(data: Ratings) -> None:
    options: dict[str, Any] = {
        "rank": 2,
        "steps": 1,
        "clip_norm": 0.5,
        "rating_clip": 2.0,
        "ratings_per_user": M,
        "regularisation": 0.5,
        "noise_ridge": 0.0,
        "user_regularisation": 0.2,
        "biases": False,
        "centring": "none",
        "unobserved_weight": 0.4,
    }
    fit = fit_by_name("dpals", data, VANISHING, **options)
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 2)))
    values = data.values.astype(float)
    U = ridge_rows(data.users, data.items, values, V, N, np.full(N, 0.2), 0.4 * V.T @ V)
    U *= np.minimum(1, 0.5 / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-30))
    factors = ridge_rows(
        data.items, data.users, values, U, M, np.full(M, 0.5 * 0.25), 0.4 * U.T @ U
    )
    np.testing.assert_allclose(
        fit.model.item_factors, factors * 0.5 / np.sqrt(2), rtol=2e-3, atol=2e-4
    )


def entered_by(algorithm: DPALS, data: Ratings, level: float) -> tuple[Entries, Any, Any]:
    """The entries of the item step, the kept items, and the noisy counts that chose both."""
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(0))
    rng = Streams(np.random.default_rng(0), 5)
    model, counts = algorithm._start_model(curator_for(algorithm, data, noise), rng)
    noisy_counts = None if counts is None else counts.values
    kept_items = algorithm._kept_items(data.shape, noisy_counts)
    (block,) = in_memory(data).blocks
    return (
        item_entries(block, algorithm, model, counts, kept_items, rng.sampling),
        kept_items,
        noisy_counts,
    )


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_at_most_k_ratings_a_user_enter_the_item_step(data: Ratings, sampling: str) -> None:
    algorithm = DPALS(ratings_per_user=4, sampling=sampling, biases=False)
    entries, kept_items, counts = entered_by(algorithm, data, VANISHING)
    n_entries = np.bincount(entries.raters, minlength=N)
    assert (n_entries == np.minimum(np.bincount(data.users, minlength=N), 4)).all()
    if sampling == "adaptive":
        assert counts is not None
        items = np.repeat(kept_items, np.diff(entries.starts))
        for user in range(1, N):
            own, sampled_counts = (
                counts[data.items[data.users == user]],
                counts[items[entries.raters == user]],
            )
            np.testing.assert_allclose(np.sort(sampled_counts), np.sort(own)[: len(sampled_counts)])


def test_rows_are_clipped_whatever_the_inner_solve_leaves() -> None:
    """Tiny factors under a tiny ridge overflow float32: such a row must not carry a NaN into
    what all users add up to.
    """
    U = np.array(
        [[np.inf, 1], [np.nan, 0], [1e38, -1e38], [-np.inf, np.inf], [3, 4], [0.1, 0], [0, 0]],
        np.float32,
    )
    clipped_rows = DPALS(clip_norm=0.5).clipped(U)
    norms = np.linalg.norm(clipped_rows.astype(float), axis=1)
    assert (norms <= 0.5).all()
    np.testing.assert_allclose(norms[[0, 2, 4, 5, 6]], [0.5, 0.5, 0.5, 0.1, 0], rtol=1e-5)
    np.testing.assert_allclose(clipped_rows[4:6], [[0.3, 0.4], [0.1, 0]], rtol=1e-5)


def test_the_size_of_a_block_is_only_a_matter_of_memory(
    data: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grams are released block by block as one event: same ledger, same model up to (vanishing)
    noise.
    """
    whole = fit_by_name("dpals", data, VANISHING, rank=3, steps=2, biases=False)
    monkeypatch.setattr(dpals, "BLOCK_BYTES", 4 * 3 * 3 * 5)  # 5 of 23 items at a time
    parts = fit_by_name("dpals", data, VANISHING, rank=3, steps=2, biases=False)
    assert parts.ledger == whole.ledger
    np.testing.assert_allclose(
        parts.model.item_factors, whole.model.item_factors, rtol=1e-4, atol=1e-6
    )


def test_ada_weights_sum_to_k_for_every_user(data: Ratings) -> None:
    algorithm = AdaDPALS(ratings_per_user=5)
    entries, _, _ = entered_by(algorithm, data, 1.0)
    squares = np.bincount(entries.raters, entries.weights.astype(float) ** 2, N)  # type: ignore[union-attr]
    present = np.bincount(data.users, minlength=N) > 0
    np.testing.assert_allclose(squares[present], 5, rtol=1e-4)
    assert (squares <= 5).all()


def test_frequent_fraction_leaves_rare_items_without_factors(data: Ratings) -> None:
    model = fit_by_name("dpals", data, 0.01, rank=2, frequent_fraction=0.5, biases=False).model
    without = ~model.item_factors.any(axis=1)
    assert without.sum() == M - 12
    popularity = np.bincount(data.items, minlength=M)
    assert popularity[without].max() <= popularity[~without].min()


@pytest.mark.parametrize("start", ["random", "private-svd"])
@pytest.mark.parametrize("name", ["dpals", "ada-dpals"])
def test_noise_is_what_the_ledger_says(data: Ratings, name: str, start: str) -> None:
    """Variance of what is released, over repeats on nobody's data, against each event:
    chi-square, 5% off is caught.
    """
    algorithm = REGISTRY[name](rank=4, steps=2, unobserved_weight=0.2, start=start)
    plan = algorithm.plan(data.shape, 0.7)
    squares: dict[str, list[np.ndarray]] = {}
    nobody = data.only(np.zeros(len(data), bool))
    for seed in range(1 + 650 * (start == "random")):
        noise = HeardNoise(plan, np.random.SeedSequence(seed))
        fit(algorithm, nobody, noise, Streams(np.random.default_rng(0), 0))
        for leaf, values in noise.squares():
            squares.setdefault(leaf.statistic, []).append(values)
    assert squares.keys() == {leaf.statistic for leaf, _ in normal_form(plan)}
    for statistic, parts in squares.items():
        draws = np.concatenate(parts)
        deviation = (draws.sum() - len(draws)) / np.sqrt(2 * len(draws))
        assert abs(deviation) < 4, statistic
        if start == "random" and len(draws) > 14_000:
            for off in (0.95, 1.05):
                assert abs((off**2 * draws.sum() - len(draws)) / np.sqrt(2 * len(draws))) > 4, (
                    statistic
                )


def test_orthonormal_and_nearest_psd() -> None:
    V = np.random.default_rng(0).normal(size=(30, 4))
    Q = orthonormal(V)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-5)
    assert np.isfinite(orthonormal(np.zeros((30, 4)))).all()
    A = np.diag([2.0, -1.0])
    np.testing.assert_allclose(nearest_psd(A), np.diag([2.0, 0.0]), atol=1e-12)


def test_without_psd_projection_noise_ruins_the_fit(data: Ratings) -> None:
    """The ablation of [C21, Fig. 5]: unprojected Grams are worse."""
    options: dict[str, Any] = {
        "rank": 4,
        "noise_ridge": 0.0,
        "regularisation": 0.1,
        "biases": False,
    }

    def error(psd: bool) -> float:
        models = [
            fit_by_name("dpals", data, 3.0, seed, psd=psd, **options).model for seed in range(5)
        ]
        return float(
            np.median(
                [
                    rmse(model.predict(model.personal(data), data.users, data.items), data.values)
                    for model in models
                ]
            )
        )

    assert error(psd=True) < error(psd=False)
