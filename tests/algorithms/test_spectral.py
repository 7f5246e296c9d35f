"""The spectral recommender against dense linear algebra, planted spectra and random
matrix theory.
"""

import numpy as np
import pytest

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.baselines import PrivateBias
from dpmf_core.algorithms.item_moments import (
    MOMENT,
    MomentColumns,
    SecondMoment,
    kept_rows,
)
from dpmf_core.algorithms.spectral import Spectral
from dpmf_core.algorithms.spectrum import column_space, least_signal
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import NOTHING, Budget, Noise, normal_form
from dpmf_core.testing.worlds import world
from tests.fitting import fit

BUDGET = Budget(epsilon=1.0, delta=1e-6)


def fit_spectral(algorithm: Spectral, data: Ratings, level: float, seed: int = 0):
    plan = algorithm.plan(data.shape, level)
    return fit(
        algorithm,
        data,
        Noise(plan, np.random.SeedSequence(seed)),
        Streams(np.random.default_rng(seed), 1),
    )


def test_a_drowned_second_moment_is_left_out_of_the_plan_by_n_m_and_mu() -> None:
    """671 and 943 people at epsilon 1 and 2: offsets alone.

    Where factors paid on MovieLens 1M they stay.
    """
    for n, m, at, release in (
        (671, 9066, 1.0, "none"),
        (671, 1682, 2.0, "none"),
        (943, 1682, 1.0, "none"),
        (943, 1682, 10.0, "covariance"),
        (6040, 400, 0.5, "covariance"),
        (6040, 400, 1.0, "covariance"),
        (6040, 3706, 1.0, "none"),
        (6040, 3706, 5.0, "covariance"),
        (20_000, 400, 0.5, "covariance"),
    ):
        budget = Budget(epsilon=at, delta=1e-5)
        algorithm = build("spectral", {}, Shape(n, m, (1, 5)), budget)
        assert algorithm.release == release, (n, m, at)
        assert (n * budget.mu < least_signal(m, refined=True)) == (release == "none")
        statistics = [
            leaf.statistic
            for leaf, _ in normal_form(algorithm.plan(Shape(n, m, (1, 5)), 1 / budget.mu))
        ]
        assert (MOMENT in statistics) == (release == "covariance")
    for parameters in ({"biases": False}, {"release": "covariance"}):
        assert (
            build("spectral", parameters, Shape(671, 1682, (1, 5)), BUDGET).model_dump()["release"]
            == "covariance"
        )


def test_without_a_second_moment_all_goes_to_the_offsets_as_in_private_biases() -> None:
    data, shape = world(), world().shape
    alone, biases = Spectral(release="none", bias_share=0.3), PrivateBias()
    assert normal_form(alone.plan(shape, 2.0)) == normal_form(biases.plan(shape, 2.0))
    assert normal_form(Spectral(release="none", biases=False).plan(shape, 2.0)) == normal_form(
        biases.plan(shape, 2.0)
    )
    one = fit_spectral(alone, data, 2.0).model
    other = train(
        biases,
        data,
        Noise(biases.plan(shape, 2.0), np.random.SeedSequence(0)),
        Streams(np.random.default_rng(0), 1),
    )
    for mine, theirs in zip(
        (one.personal(data).offsets, one.item_offsets),
        (other.personal(data).offsets, other.item_offsets),
        strict=True,
    ):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(
        one.predict(one.personal(data), data.users, data.items),
        other.predict(other.personal(data), data.users, data.items),
    )


def test_columns_are_those_of_the_moment_and_span_its_space() -> None:
    data, kept_items = world(), np.arange(9)
    curator = OpenCurator(in_memory(data, 3), Noise(NOTHING), {})
    rows, column_ids = curator.hold(kept_rows, None, kept_items, np.ones(9)), np.array([0, 3, 5, 8])
    np.testing.assert_allclose(
        curator.total(MomentColumns(), rows, 9, column_ids),
        curator.total(SecondMoment(), rows, 9)[:, column_ids],
        atol=1e-12,
    )
    rng = np.random.default_rng(0)
    G = np.linalg.qr(rng.normal(size=(60, 2)))[0]
    M = G @ np.diag([5.0, 3.0]) @ G.T
    Q = column_space(M[:, :30], np.arange(30), 6)
    assert Q.shape == (60, 6)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-9)
    assert np.linalg.norm(Q.T @ G, axis=0).min() > 0.98  # all but what the diagonal held


def test_lists_score_by_sums_over_what_was_liked() -> None:
    """Scores are dense products of rows and the shared model; two planted groups are found."""
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 2, 800)
    chance = np.where((np.arange(30) < 15)[None, :] == (groups == 0)[:, None], 0.5, 0.05)
    users, items = np.nonzero(rng.random((800, 30)) < chance)
    data = Ratings.of(
        users, items, np.ones(len(users)), n_users=800, n_items=30, bounds=(0, 1), public=True
    )
    model = fit_spectral(Spectral(implicit=True, rank=4, popularity_exponent=-0.2), data, 0.1).model
    X = np.zeros((800, 30))
    X[users, items] = 1
    scores = model.scores(model.personal(data), np.arange(800))
    np.testing.assert_allclose(
        scores, X @ model.probe @ model.item_factors.T + model.item_offsets, rtol=1e-4, atol=1e-5
    )
    own = np.where(X > 0, -np.inf, scores)
    best = own.argmax(axis=1)
    assert (((best < 15) == (groups == 0))[X.sum(axis=1) > 3]).mean() > 0.95


def test_a_user_mends_her_mean_together_with_her_factor() -> None:
    """Her mean over the items she rated is off by her taste for these; dense least squares over
    factor and offset is not.
    """
    rng = np.random.default_rng(2)
    V = rng.normal(size=(12, 2)).astype(np.float32)
    data = Ratings.of(
        [0] * 8,
        range(8),
        3 + (V @ [0.6, -0.4])[:8],
        n_users=1,
        n_items=12,
        bounds=(0, 6),
        public=True,
    )
    model = fit_spectral(Spectral(rank=2, biases=False), data, 1.0).model
    model = type(model)(data.bounds, 3.0, np.zeros(12, np.float32), V, 0.0, ridge=1e-6, mended=True)
    personal = model.personal(data)
    assert 3 + personal.offsets[0] == pytest.approx(3, abs=1e-3)
    np.testing.assert_allclose(personal.factors[0], [0.6, -0.4], atol=1e-3)
