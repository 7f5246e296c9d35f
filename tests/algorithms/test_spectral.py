"""The spectral recommender against dense algebra, planted spectra and random matrix theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import build
from dpmf_core.algorithms.baselines import PrivateBias
from dpmf_core.algorithms.item_lists import (
    ItemLikes,
    content_share,
    item_regression,
    liked_rows,
)
from dpmf_core.algorithms.item_moments import MomentColumns, SecondMoment, kept_rows
from dpmf_core.algorithms.spectral import Spectral
from dpmf_core.algorithms.spectrum import Spectrum, column_space, least_signal
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Budget, normal_form
from dpmf_core.testing.rating_worlds import world
from tests.fitting import trained
from tests.support.algebra import exact_curator, orthonormal, predict, relative
from tests.support.dense import rated

BUDGET = Budget(epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "release"),
    [
        (671, 9066, 1.0, "none"),
        (943, 1682, 1.0, "none"),
        (6040, 400, 1.0, "covariance"),
        (6040, 3706, 5.0, "covariance"),
        (20_000, 400, 0.5, "covariance"),
    ],
)
def test_a_drowned_second_moment_is_left_out_of_the_plan_by_n_m_and_mu(
    n, m, epsilon, release
):
    """Offsets alone for 671 and 943 people; factors stay where they paid on MovieLens 1M."""
    budget = Budget(epsilon=epsilon, delta=1e-5)
    algorithm = build("spectral", {}, Shape(n, m, (1, 5)), budget)
    assert algorithm.release == release
    is_drowned = n * budget.mu < least_signal(m, refined=True)
    assert is_drowned == (release == "none")


@pytest.mark.parametrize("parameters", [{"biases": False}, {"release": "covariance"}])
def test_a_drowned_second_moment_stays_where_it_is_asked_for(parameters):
    algorithm = build("spectral", parameters, Shape(671, 1682, (1, 5)), BUDGET)
    assert algorithm.model_dump()["release"] == "covariance"


def test_without_a_second_moment_all_goes_to_the_offsets_as_in_private_biases():
    data = world()
    plan = normal_form(PrivateBias().plan(data.shape, 2.0))
    without_biases = Spectral(release="none", biases=False)
    assert normal_form(without_biases.plan(data.shape, 2.0)) == plan
    alone = Spectral(release="none", bias_share=0.3)
    assert normal_form(alone.plan(data.shape, 2.0)) == plan

    one = trained(alone, data, 2.0)
    other = trained(PrivateBias(), data, 2.0)
    assert np.array_equal(one.item_offsets, other.item_offsets)
    predictions = predict(one, data, data.users, data.items)
    assert np.array_equal(predict(other, data, data.users, data.items), predictions)


def test_columns_are_those_of_the_moment():
    curator = exact_curator(world(), 3)
    rows = curator.hold(kept_rows, None, np.arange(9), np.ones(9))
    column_ids = np.array([0, 3, 5, 8])
    columns = curator.total(MomentColumns(), rows, 9, column_ids)
    moment = curator.total(SecondMoment(), rows, 9)
    assert_allclose(columns, moment[:, column_ids], atol=1e-12)


def test_columns_span_the_space_of_the_moment():
    rng = np.random.default_rng(0)
    G = orthonormal(rng, 60, 2)
    M = G @ np.diag([5.0, 3.0]) @ G.T
    Q = column_space(M[:, :30], np.arange(30), 6)
    assert Q.shape == (60, 6)
    assert_allclose(Q.T @ Q, np.eye(6), atol=1e-9)
    # all but what the diagonal held
    assert np.linalg.norm(Q.T @ G, axis=0).min() > 0.98


def test_lists_score_by_sums_over_what_was_liked():
    """Scores are dense products of rows and the shared model; two planted groups are found."""
    rng = np.random.default_rng(5)
    group_of_user = rng.integers(0, 2, 800)
    group_of_item = np.where(np.arange(30) < 15, 0, 1)
    is_own_group = group_of_item == group_of_user[:, None]
    X = rng.random((800, 30)) < np.where(is_own_group, 0.5, 0.05)
    data = rated(X)
    algorithm = Spectral(
        implicit=True,
        rank=4,
        popularity_exponent=-0.2,
    )
    model = trained(algorithm, data, 0.1)
    scores = model.scores(model.personal(data), np.arange(800))
    expected = X @ model.probe @ model.item_factors.T + model.item_offsets
    assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)

    best = np.where(X, -np.inf, scores).argmax(axis=1)
    is_right = group_of_item[best] == group_of_user
    assert is_right[X.sum(axis=1) > 3].mean() > 0.95


def test_the_regression_is_that_of_the_inverse_of_the_whole_covariance():
    rng = np.random.default_rng(1)
    F = rng.normal(size=(12, 3))
    diagonal = rng.uniform(15, 30, 12)
    ridge = 0.7
    S = F @ F.T
    np.fill_diagonal(S, diagonal)
    P = np.linalg.inv(S + ridge * np.eye(12))
    B = np.eye(12) - P / np.diag(P)
    probe, V = item_regression(F, diagonal, ridge)
    regression = probe @ V.T
    np.fill_diagonal(regression, 0)
    assert_allclose(regression, B, atol=1e-12)


def test_rows_are_what_popularity_leaves_scaled_to_norm_one():
    rng = np.random.default_rng(2)
    X = (rng.random((1100, 9)) < 0.4).astype(float)  # more than are held dense at once
    kept_items = np.array([1, 2, 5, 8])
    counts = np.array([4.0, 9.0, 1.0, 16.0])
    item_likes = ItemLikes.of(kept_items, counts, -0.5)
    weights = item_likes.weights
    along = item_likes.along
    # the second lies along popularity: weight times count is sqrt(count)
    X[0] = 0.0
    X[1] = 1.0
    assert_allclose(weights, [0.5, 1 / 3, 1, 0.25])
    assert_allclose(along, np.sqrt(counts / 30))

    rows = X[:, kept_items] * weights
    rows -= np.outer(rows @ along, along)
    norms = np.linalg.norm(rows, axis=1)
    is_left = norms > 1e-9
    rows[is_left] = relative(rows[is_left])
    curator = exact_curator(rated(X > 0), 3)
    local_rows = curator.hold(liked_rows, kept_items, weights, along)
    moment = curator.total(SecondMoment(), local_rows, 4)
    assert_allclose(moment, rows.T @ rows, rtol=1e-4, atol=1e-2)
    assert np.trace(moment) <= is_left.sum()


def test_the_share_of_content_is_least_squares_off_the_diagonal():
    rng = np.random.default_rng(3)
    along = relative(rng.uniform(0.1, 1, 10))
    content = rng.normal(size=(10, 4))
    Q = orthonormal(rng, 10, 2)
    moment_spectrum = Spectrum(Q, np.array([5.0, 2.0]), 0.0)
    Y = content - np.outer(along, along @ content)
    products = Y @ Y.T
    off = ~np.eye(10, dtype=bool)
    M = np.where(off, rng.normal(size=(10, 10)) + 3 * products, 0.0)
    M = (M + M.T) / 2
    remainder = M - (Q * moment_spectrum.eta) @ Q.T
    solution = np.linalg.lstsq(products[off][:, None], remainder[off], rcond=None)
    (expected,) = solution[0]
    assert content_share(M, moment_spectrum, along, content) == pytest.approx(expected)
    assert content_share(-M, moment_spectrum, along, content) == 0.0
    assert content_share(M, moment_spectrum, along, np.zeros((10, 0))) == 0.0
