"""Lists from a noisy second moment, against dense inverses, dense rows and least squares."""

import numpy as np
import pytest

from dpmf_core.algorithms.item_lists import ItemLikes, content_share, item_regression, liked_rows
from dpmf_core.algorithms.item_moments import SecondMoment
from dpmf_core.algorithms.spectrum import Spectrum
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NOTHING, Noise


def likes(is_liked: np.ndarray, features: ItemFeatures | None = None) -> Ratings:
    users, items = np.nonzero(is_liked)
    n_users, n_items = is_liked.shape
    return Ratings.of(
        users,
        items,
        np.ones(len(users)),
        n_users=n_users,
        n_items=n_items,
        bounds=(0, 1),
        public=True,
        item_features=features,
    )


def test_the_regression_is_that_of_the_inverse_of_the_whole_covariance() -> None:
    rng = np.random.default_rng(1)
    F, diagonal, ridge = rng.normal(size=(12, 3)), rng.uniform(15, 30, 12), 0.7
    S = F @ F.T
    np.fill_diagonal(S, diagonal)
    P = np.linalg.inv(S + ridge * np.eye(12))
    B = np.eye(12) - P / np.diag(P)
    probe, V = item_regression(F, diagonal, ridge)
    regression = probe @ V.T
    np.fill_diagonal(regression, 0)
    np.testing.assert_allclose(regression, B, atol=1e-12)


def test_rows_are_what_popularity_leaves_scaled_to_norm_one() -> None:
    rng = np.random.default_rng(2)
    X = (rng.random((1100, 9)) < 0.4).astype(float)  # more than are held dense at once
    kept_items, counts = np.array([1, 2, 5, 8]), np.array([4.0, 9.0, 1.0, 16.0])
    item_likes = ItemLikes.of(kept_items, counts, -0.5)
    X[0], X[1] = 0.0, 1.0  # the second lies along popularity: weight times count is sqrt(count)
    along = item_likes.along
    np.testing.assert_allclose(item_likes.weights, [0.5, 1 / 3, 1, 0.25])
    np.testing.assert_allclose(along, np.sqrt(counts / 30))
    rows = X[:, kept_items] * item_likes.weights
    rows -= np.outer(rows @ along, along)
    norms = np.linalg.norm(rows, axis=1)
    rows /= np.where(norms > 1e-9, norms, 1.0)[:, None]
    curator = OpenCurator(in_memory(likes(X), 3), Noise(NOTHING), {})
    local_rows = curator.hold(liked_rows, kept_items, item_likes.weights, along)
    moment = curator.total(SecondMoment(), local_rows, 4)
    np.testing.assert_allclose(moment, rows.T @ rows, rtol=1e-4, atol=1e-2)
    assert np.trace(moment) <= (norms > 1e-9).sum()


def test_the_share_of_content_is_least_squares_off_the_diagonal() -> None:
    rng = np.random.default_rng(3)
    along = rng.uniform(0.1, 1, 10)
    along /= np.linalg.norm(along)
    content, (Q, _) = rng.normal(size=(10, 4)), np.linalg.qr(rng.normal(size=(10, 2)))
    moment_spectrum = Spectrum(Q, np.array([5.0, 2.0]), 0.0)
    Y = content - np.outer(along, along @ content)
    off = ~np.eye(10, dtype=bool)
    M = np.where(off, rng.normal(size=(10, 10)) + 3 * Y @ Y.T, 0.0)
    M = (M + M.T) / 2
    remainder = M - (Q * moment_spectrum.eta) @ Q.T
    expected = np.linalg.lstsq((Y @ Y.T)[off][:, None], remainder[off], rcond=None)[0][0]
    assert content_share(M, moment_spectrum, along, content) == pytest.approx(expected)
    assert content_share(-M, moment_spectrum, along, content) == 0.0
    assert content_share(M, moment_spectrum, along, np.zeros((10, 0))) == 0.0
