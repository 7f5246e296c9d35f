"""The one-shot spectral recommender against dense linear algebra, planted spectra and random matrix theory."""

import math

import numpy as np
import pytest

from datasets.synthetic import lowrank
from dpmf_core.algorithms import Streams, build
from dpmf_core.algorithms.baselines import PrivateBias
from dpmf_core.algorithms.spectral import (
    COLUMNS,
    COLUMNS_SHARE,
    MOMENT,
    PRODUCT,
    Projection,
    Rows,
    Spectral,
    Spectrum,
    column_space,
    items_that_pay,
    least_signal,
    rating_factors,
    spectrum,
    subspace_spectrum,
)
from dpmf_core.data import Ratings, Shape, SplitSpec, split
from dpmf_core.kernels.moments import second_moment
from dpmf_core.metrics import rmse
from dpmf_core.privacy import Budget, Noise, normal_form
from tests.worlds import world

BUDGET = Budget(epsilon=1.0, delta=1e-6)


def sparse(n: int, m: int, density: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, m)) < density, rng.normal(size=(n, m)), 0.0)


def rows_of(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    users, items = np.nonzero(dense)
    return np.searchsorted(users, np.arange(len(dense) + 1)), items, dense[users, items]


def planted(n: int = 3000, m: int = 40, rank: int = 2, density: float = 0.6, seed: int = 0) -> Ratings:
    """Ratings of exactly low rank about a user mean of 0, with nothing else in them."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) / math.sqrt(rank)
    users, items = np.nonzero(rng.random((n, m)) < density)
    return Ratings.of(users, items, dense[users, items], n_users=n, n_items=m, bounds=(-8, 8), public=True)


def fitted(algorithm: Spectral, data: Ratings, level: float, seed: int = 0):  # type: ignore[no-untyped-def]
    plan = algorithm.plan(data.shape, level)
    return algorithm.fit(data, noise=Noise(plan, np.random.SeedSequence(seed)), rng=Streams(np.random.default_rng(seed), 1))


# ---- the kernel -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_second_moment_is_the_dense_product_whatever_the_threads(threads: int) -> None:
    dense = sparse(200, 37, 0.3)
    dense[17] = 0
    found = second_moment(*rows_of(dense), 37, threads=threads)
    np.testing.assert_allclose(found, dense.T @ dense, rtol=1e-12, atol=1e-12)
    assert np.array_equal(found, found.T)
    assert np.array_equal(found, second_moment(*rows_of(dense), 37, threads=1))


def test_rows_have_norm_one_on_the_kept_items_and_empty_rows_stay_empty() -> None:
    data, kept = world(), np.array([1, 4, 7])
    rows = Rows.of(data, data.values, kept, np.array([1.0, 2.0, 0.5]))
    dense = np.zeros((data.n_users, data.n_items))
    dense[data.users, data.items] = data.values
    expected = dense[:, kept] * [1.0, 2.0, 0.5]
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = np.divide(expected, norms, out=np.zeros_like(expected), where=norms > 0)
    np.testing.assert_allclose(rows.moment(), expected.T @ expected, rtol=1e-5)
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0]
    np.testing.assert_allclose(rows.product(Q), expected.T @ expected @ Q, rtol=1e-5, atol=1e-6)
    assert (np.diff(rows.indptr)[norms.ravel() == 0] == 0).all()


# ---- the spectrum -----------------------------------------------------------------------------------------------------


def symmetric_noise(m: int, scale: float, seed: int) -> np.ndarray:
    """Independent of Noise: variance scale^2 on the diagonal, half of it off."""
    G = np.random.default_rng(seed).normal(size=(m, m)) * scale
    return (G + G.T) / 2


def test_pure_noise_has_its_edge_where_wigner_says() -> None:
    for seed in range(5):
        assert not len(spectrum(symmetric_noise(400, 3.0, seed), 0, 3.0, 20, 1.05).eta)
        assert len(spectrum(symmetric_noise(400, 3.0, seed), 0, 3.0, 20, 0.9).eta)


def test_a_planted_factor_is_found_at_its_size() -> None:
    m, q = 400, np.ones(400) / 20.0
    found = spectrum(symmetric_noise(m, 1.0, 0) + 200 * np.outer(q, q), 0, 1.0, 5, 1.05)
    assert len(found.eta) == 1
    # a spike theta shows at theta + v m / theta (Benaych-Georges & Nadakuditi 2011); 200 less its share of the lost diagonal
    assert found.eta[0] == pytest.approx(200, rel=0.02)
    assert abs(found.Q[:, 0] @ q) ** 2 == pytest.approx(1 - 200 / 200**2, abs=0.02)
    assert found.error == pytest.approx(0.5)


def test_iteration_ends_where_the_eigenvectors_are_without_noise() -> None:
    A = sparse(500, 30, 0.5)
    M = A.T @ A
    Y = np.random.default_rng(1).normal(size=(30, 8))
    for _ in range(60):
        Q = np.linalg.qr(Y)[0]
        Y = M @ Q
    found = subspace_spectrum(Q, Y, 0, 0.0, 0.0)
    w, E = np.linalg.eigh(M)
    np.testing.assert_allclose(found.eta[:3], w[::-1][:3], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(found.Q[:, :3] * E[:, ::-1][:, :3], axis=0)), 1, rtol=1e-5)


def test_what_the_moment_turns_round_is_no_factor() -> None:
    Q = np.eye(6)[:, :2]
    found = subspace_spectrum(Q, Q * [5.0, -9.0], 0, 0.0, 0.0)
    assert found.eta.tolist() == [5.0]


def test_factors_undo_the_weights_where_there_is_no_noise() -> None:
    """A moment h G G^T h made by hand gives back G, up to the scale of the users' factors."""
    rng = np.random.default_rng(3)
    G, counts, exponent = np.linalg.qr(rng.normal(size=(50, 2)))[0], rng.uniform(1, 9, 50), 0.25
    h = counts ** (1 + exponent)
    w, Q = np.linalg.eigh(h[:, None] * (G @ np.diag([4.0, 2.0]) @ G.T) * h)
    F = rating_factors(Spectrum(Q[:, -2:], w[-2:], 0.0), counts, exponent, 100)
    np.testing.assert_allclose(F @ F.T, G @ np.diag([4.0, 2.0]) @ G.T * 100 * (counts**0.5).mean(), rtol=1e-8)


# ---- which items pay --------------------------------------------------------------------------------------------------


def test_all_items_pay_when_all_are_alike_and_few_when_few_are_rated() -> None:
    flat = np.full(1000, 200.0)
    skewed = 3000.0 / np.arange(1, 1001) ** 1.2
    assert items_that_pay(flat, 20_000, 3.0, 0.25, 0.03, 1000) == 1000
    assert items_that_pay(skewed, 20_000, 3000.0, 0.25, 0.03, 1000) < 20
    kept = [items_that_pay(skewed, 20_000, scale, 0.25, 0.03, 1000) for scale in (0.1, 1, 10, 100, 1000)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]
    assert items_that_pay(flat, 20_000, 3.0, 0.25, 0.03, 64) <= 64


# ---- the whole --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["covariance", "iteration"])
def test_exact_low_rank_is_found_when_the_noise_is_small(release: str) -> None:
    data = planted()
    algorithm = Spectral(rank=2, biases=False, release=release, popularity_exponent=0.0, prediction_ridge=1e-4, rounds=4)  # type: ignore[arg-type]
    model = fitted(algorithm, data, 0.01).model
    error = model.predict(model.personal(data), data.users, data.items) - data.values
    assert np.sqrt((error**2).mean()) < 0.12  # of a standard deviation of 1
    assert model.item_factors.shape == (40, 2)


def test_drowned_in_noise_it_is_the_private_biases() -> None:
    data = world()
    model = fitted(Spectral(rank=5, shrinkage=1.5), data, 1e4).model
    assert model.item_factors.shape == (data.n_items, 0)
    assert np.abs(model.item_offsets).max() < 0.2  # and these have shrunk too


def test_biases_and_moment_split_the_budget_as_said() -> None:
    shape = Shape(1000, 50, (1, 5))
    ledger = dict(normal_form(Spectral(bias_share=0.3, rank=4).plan(shape, 2.0)))
    total = sum(count / leaf.noise_multiplier**2 for leaf, count in ledger.items())
    moment = sum(count / leaf.noise_multiplier**2 for leaf, count in ledger.items() if leaf.statistic == MOMENT)
    assert total == pytest.approx(1 / 4)
    assert moment == pytest.approx(0.7 / 4)
    ledger = dict(normal_form(Spectral(biases=False, release="iteration", rounds=5, rank=4).plan(shape, 2.0)))
    assert [(leaf.statistic, count) for leaf, count in ledger.items()] == [(COLUMNS, 1), (PRODUCT, 5)]
    spent = {leaf.statistic: count / leaf.noise_multiplier**2 for leaf, count in ledger.items()}
    assert sum(spent.values()) == pytest.approx(1 / 4)
    assert spent[COLUMNS] == pytest.approx(COLUMNS_SHARE / 4)


def test_defaults_come_from_public_figures() -> None:
    small = build("spectral", {}, Shape(8000, 20, (1, 5)), BUDGET)
    assert isinstance(small, Spectral)
    assert (small.rank, small.release, small.implicit) == (20, "covariance", False)
    vast = build("spectral", {}, Shape(3_000_000, 100_000, (1, 5)), Budget(epsilon=5, delta=1e-8))
    assert isinstance(vast, Spectral)
    assert vast.release == "iteration"
    liked = build("spectral", {}, Shape(2000, 500, (0, 1)), BUDGET)
    assert isinstance(liked, Spectral)
    assert liked.implicit


def test_a_drowned_second_moment_is_left_out_of_the_plan_by_n_m_and_mu() -> None:
    """671 people at epsilon 1 and 10, 943 at 1: offsets alone. Where factors paid on MovieLens 1M (6,040 people, epsilon 1 and up) they stay."""
    for n, m, at, release in (
        (671, 9066, 1.0, "none"), (671, 1682, 10.0, "none"), (943, 1682, 1.0, "none"), (943, 1682, 10.0, "covariance"), (6040, 400, 0.5, "none"),
        (6040, 400, 1.0, "covariance"), (6040, 3706, 1.0, "covariance"), (20_000, 400, 0.5, "covariance"),
    ):  # fmt: skip
        budget = Budget(epsilon=at, delta=1e-5)
        chosen = build("spectral", {}, Shape(n, m, (1, 5)), budget)
        assert isinstance(chosen, Spectral)
        assert chosen.release == release, (n, m, at)
        assert (n * budget.mu < least_signal(m)) == (release == "none")
        statistics = [leaf.statistic for leaf, _ in normal_form(chosen.plan(Shape(n, m, (1, 5)), 1 / budget.mu))]
        assert (MOMENT in statistics) == (release == "covariance")
    for given in ({"biases": False}, {"implicit": True}, {"release": "covariance"}):
        assert build("spectral", given, Shape(671, 1682, (1, 5)), BUDGET).model_dump()["release"] == "covariance"


def test_without_a_second_moment_all_goes_to_the_offsets_as_in_private_biases() -> None:
    data, shape = world(), world().shape
    alone, biases = Spectral(release="none", bias_share=0.3), PrivateBias()
    assert normal_form(alone.plan(shape, 2.0)) == normal_form(biases.plan(shape, 2.0))
    assert normal_form(Spectral(release="none", biases=False).plan(shape, 2.0)) == normal_form(biases.plan(shape, 2.0))
    one = fitted(alone, data, 2.0).model
    other = biases.fit(data, noise=Noise(biases.plan(shape, 2.0), np.random.SeedSequence(0)), rng=Streams(np.random.default_rng(0), 1)).model
    for mine, theirs in zip((one.personal(data).offsets, one.item_offsets), (other.personal(data).offsets, other.item_offsets), strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(one.predict(one.personal(data), data.users, data.items), other.predict(other.personal(data), data.users, data.items))


def test_lists_without_a_second_moment_go_by_noisy_counts_alone() -> None:
    data = Ratings.of(*np.nonzero(np.tri(40, 40)), np.ones(820), n_users=40, n_items=40, bounds=(0, 1), public=True)
    algorithm = Spectral(implicit=True, release="none")
    assert sum(count / leaf.noise_multiplier**2 for leaf, count in normal_form(algorithm.plan(data.shape, 2.0))) == pytest.approx(1 / 4)
    model = fitted(algorithm, data, 1e-3).model
    assert (np.diff(model.scores(model.personal(data), np.array([39]))[0]) < 0).all()


def test_columns_are_those_of_the_moment_and_span_its_space() -> None:
    data, kept = world(), np.arange(9)
    rows = Rows.of(data, data.values, kept, np.ones(9))
    chosen = np.array([0, 3, 5, 8])
    np.testing.assert_allclose(rows.columns(chosen), rows.moment()[:, chosen], atol=1e-12)
    rng = np.random.default_rng(0)
    G = np.linalg.qr(rng.normal(size=(60, 2)))[0]
    M = G @ np.diag([5.0, 3.0]) @ G.T
    Q = column_space(M[:, :30], np.arange(30), 6)
    assert Q.shape == (60, 6)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-9)
    assert np.linalg.norm(Q.T @ G, axis=0).min() > 0.98  # all but what the diagonal held


def test_columns_at_once_find_what_the_whole_moment_finds() -> None:
    """Low rank, signal well above the noise: at most twice the covariance's error, where equal rounds from a random start had over twice."""
    data = lowrank(4000, 300, rank=3, p=0.3)
    parts = split(data, SplitSpec(), 0)
    errors = {}
    for release in ("covariance", "iteration"):
        algorithm = Spectral(rank=8, biases=False, release=release, popularity_exponent=0.0, prediction_ridge=0.05)  # type: ignore[arg-type]
        found = [fitted(algorithm, parts.train, 0.4, seed).model for seed in range(3)]
        errors[release] = np.median(
            [rmse(model.predict(model.personal(parts.history), parts.test.users, parts.test.items), parts.test.values) for model in found]
        )
    assert errors["covariance"] < 0.3
    assert errors["iteration"] < 2 * errors["covariance"]


def test_lists_score_by_the_denoised_item_item_regression() -> None:
    """Scores are x W Q d Q^T with W the weights, checked against dense products of the shared model."""
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 2, 800)
    chance = np.where((np.arange(30) < 15)[None, :] == (groups == 0)[:, None], 0.5, 0.05)
    users, items = np.nonzero(rng.random((800, 30)) < chance)
    data = Ratings.of(users, items, np.ones(len(users)), n_users=800, n_items=30, bounds=(0, 1), public=True)
    model = fitted(Spectral(implicit=True, rank=4, popularity_exponent=-0.2), data, 0.1).model
    assert isinstance(model, Projection)
    X = np.zeros((800, 30))
    X[users, items] = 1
    scores = model.scores(model.personal(data), np.arange(800))
    np.testing.assert_allclose(scores, X @ model.probe @ model.item_factors.T + model.item_offsets, rtol=1e-4, atol=1e-5)
    own = np.where(X > 0, -np.inf, scores)
    best = own.argmax(axis=1)
    assert (((best < 15) == (groups == 0))[X.sum(axis=1) > 3]).mean() > 0.95


def test_lists_put_items_without_factors_last_by_their_counts() -> None:
    data = Ratings.of(*np.nonzero(np.tri(40, 40)), np.ones(820), n_users=40, n_items=40, bounds=(0, 1), public=True)
    model = fitted(Spectral(implicit=True, rank=3, items_kept=10), data, 0.001).model
    scores = model.scores(model.personal(data), np.array([39]))[0]
    assert set(np.argsort(-scores)[:10]) == set(range(10))
    assert (np.diff(scores[10:]) < 0).all()


def test_a_user_mends_her_mean_together_with_her_factor() -> None:
    """Her mean over the items she rated is off by her taste for these; dense least squares over factor and offset is not."""
    rng = np.random.default_rng(2)
    V = rng.normal(size=(12, 2)).astype(np.float32)
    data = Ratings.of([0] * 8, range(8), 3 + (V @ [0.6, -0.4])[:8], n_users=1, n_items=12, bounds=(0, 6), public=True)
    model = fitted(Spectral(rank=2, biases=False), data, 1.0).model
    model = type(model)(data.bounds, 3.0, np.zeros(12, np.float32), V, 0.0, ridge=1e-6, mended=True)
    personal = model.personal(data)
    assert 3 + personal.offsets[0] == pytest.approx(3, abs=1e-3)
    np.testing.assert_allclose(personal.factors[0], [0.6, -0.4], atol=1e-3)
