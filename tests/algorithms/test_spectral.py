"""The spectral recommender against dense algebra, planted spectra and random matrix theory."""

import numpy as np
import pytest

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
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import NOTHING, Budget, Noise, normal_form
from dpmf_core.testing.worlds import world
from tests.fitting import trained
from tests.support.dense import rated

BUDGET = Budget(epsilon=1.0, delta=1e-6)


def test_a_drowned_second_moment_is_left_out_of_the_plan_by_n_m_and_mu():
    """671 and 943 people at epsilon 1 and 2: offsets alone.

    Where factors paid on MovieLens 1M they stay.
    """
    for n, m, at, release in (
        (671, 9066, 1.0, "none"),
        (943, 1682, 1.0, "none"),
        (6040, 400, 1.0, "covariance"),
        (6040, 3706, 5.0, "covariance"),
        (20_000, 400, 0.5, "covariance"),
    ):
        budget = Budget(epsilon=at, delta=1e-5)
        algorithm = build("spectral", {}, Shape(n, m, (1, 5)), budget)
        assert algorithm.release == release, (n, m, at)
        assert (n * budget.mu < least_signal(m, refined=True)) == (release == "none")
    for parameters in ({"biases": False}, {"release": "covariance"}):
        assert (
            build(
                "spectral", parameters, Shape(671, 1682, (1, 5)), BUDGET
            ).model_dump()["release"]
            == "covariance"
        )


def test_without_a_second_moment_all_goes_to_the_offsets_as_in_private_biases():
    data = world()
    shape = world().shape
    alone = Spectral(release="none", bias_share=0.3)
    biases = PrivateBias()
    for plain in (alone, Spectral(release="none", biases=False)):
        assert normal_form(plain.plan(shape, 2.0)) == normal_form(
            biases.plan(shape, 2.0)
        )
    one, other = (trained(algorithm, data, 2.0) for algorithm in (alone, biases))
    assert np.array_equal(one.item_offsets, other.item_offsets)
    predictions = [
        model.predict(model.personal(data), data.users, data.items)
        for model in (one, other)
    ]
    assert np.array_equal(*predictions)


def test_columns_are_those_of_the_moment_and_span_its_space():
    data = world()
    kept_items = np.arange(9)
    curator = OpenCurator(in_memory(data, 3), Noise(NOTHING), {})
    rows = curator.hold(kept_rows, None, kept_items, np.ones(9))
    column_ids = np.array([0, 3, 5, 8])
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
    # all but what the diagonal held
    assert np.linalg.norm(Q.T @ G, axis=0).min() > 0.98


def test_lists_score_by_sums_over_what_was_liked():
    """Scores are dense products of rows and the shared model; two planted groups are found."""
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 2, 800)
    chance = np.where(
        (np.arange(30) < 15)[None, :] == (groups == 0)[:, None], 0.5, 0.05
    )
    X = rng.random((800, 30)) < chance
    data = rated(X)
    model = trained(
        Spectral(implicit=True, rank=4, popularity_exponent=-0.2), data, 0.1
    )
    scores = model.scores(model.personal(data), np.arange(800))
    np.testing.assert_allclose(
        scores,
        X @ model.probe @ model.item_factors.T + model.item_offsets,
        rtol=1e-4,
        atol=1e-5,
    )
    own = np.where(X, -np.inf, scores)
    best = own.argmax(axis=1)
    assert (((best < 15) == (groups == 0))[X.sum(axis=1) > 3]).mean() > 0.95


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
    np.testing.assert_allclose(regression, B, atol=1e-12)


def test_rows_are_what_popularity_leaves_scaled_to_norm_one():
    rng = np.random.default_rng(2)
    X = (rng.random((1100, 9)) < 0.4).astype(float)  # more than are held dense at once
    kept_items = np.array([1, 2, 5, 8])
    counts = np.array([4.0, 9.0, 1.0, 16.0])
    item_likes = ItemLikes.of(kept_items, counts, -0.5)
    # the second lies along popularity: weight times count is sqrt(count)
    X[0] = 0.0
    X[1] = 1.0
    along = item_likes.along
    np.testing.assert_allclose(item_likes.weights, [0.5, 1 / 3, 1, 0.25])
    np.testing.assert_allclose(along, np.sqrt(counts / 30))
    rows = X[:, kept_items] * item_likes.weights
    rows -= np.outer(rows @ along, along)
    norms = np.linalg.norm(rows, axis=1)
    rows /= np.where(norms > 1e-9, norms, 1.0)[:, None]
    curator = OpenCurator(in_memory(rated(X > 0), 3), Noise(NOTHING), {})
    local_rows = curator.hold(liked_rows, kept_items, item_likes.weights, along)
    moment = curator.total(SecondMoment(), local_rows, 4)
    np.testing.assert_allclose(moment, rows.T @ rows, rtol=1e-4, atol=1e-2)
    assert np.trace(moment) <= (norms > 1e-9).sum()


def test_the_share_of_content_is_least_squares_off_the_diagonal():
    rng = np.random.default_rng(3)
    along = rng.uniform(0.1, 1, 10)
    along /= np.linalg.norm(along)
    content = rng.normal(size=(10, 4))
    (Q, _) = np.linalg.qr(rng.normal(size=(10, 2)))
    moment_spectrum = Spectrum(Q, np.array([5.0, 2.0]), 0.0)
    Y = content - np.outer(along, along @ content)
    off = ~np.eye(10, dtype=bool)
    M = np.where(off, rng.normal(size=(10, 10)) + 3 * Y @ Y.T, 0.0)
    M = (M + M.T) / 2
    remainder = M - (Q * moment_spectrum.eta) @ Q.T
    expected = np.linalg.lstsq((Y @ Y.T)[off][:, None], remainder[off], rcond=None)[0][
        0
    ]
    assert content_share(M, moment_spectrum, along, content) == pytest.approx(expected)
    assert content_share(-M, moment_spectrum, along, content) == 0.0
    assert content_share(M, moment_spectrum, along, np.zeros((10, 0))) == 0.0
