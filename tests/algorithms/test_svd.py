"""Private SVD and SVD after cleansing against dense linear algebra."""

import numpy as np
import pytest

from dpmf_core.algorithms.svd import PrivateSVD, SVDCleansing, top_directions
from dpmf_core.testing.worlds import low_rank
from tests.fitting import trained
from tests.support.dense import centred, counts, dense, user_means


@pytest.mark.parametrize("row_clip", [10.0, 0.05])
def test_without_noise_the_directions_are_the_right_singular_vectors(row_clip):
    data = low_rank()
    model = trained(PrivateSVD(rank=3, row_clip=row_clip), data)
    M = dense(data, centred(data))
    bound = row_clip * data.shape.half_range * np.sqrt(data.n_items)
    norms = np.linalg.norm(M, axis=1, keepdims=True)
    M = M * np.minimum(1, bound / np.maximum(norms, 1e-300))
    expected = np.linalg.svd(M)[2][:3]
    overlap = np.abs(expected @ model.item_factors)
    np.testing.assert_allclose(overlap, np.eye(3), atol=1e-5)


def test_the_sources_user_step_is_the_scaled_projection():
    data = low_rank()
    model = trained(PrivateSVD(rank=2, row_clip=10.0, user_step="projection"), data)
    personal = model.personal(data)
    means = user_means(data, data.values)
    M = dense(data, centred(data))
    V = model.item_factors.astype(float)
    share = counts(data.users, data.n_users) / data.n_items
    expected = (M @ V) @ V.T / share[:, None]
    users, items = np.divmod(np.arange(data.n_users * data.n_items), data.n_items)
    predictions = model.predict(personal, users, items).reshape(expected.shape)
    np.testing.assert_allclose(
        predictions, np.clip(means[:, None] + expected, *data.bounds), atol=1e-4
    )


def test_cleansing_without_noise_is_the_covariance_of_what_averages_leave():
    data = low_rank()
    algorithm = SVDCleansing(
        rank=2,
        ratings_per_user=data.n_items,
        row_clip=2.0,
        item_damping=3.0,
        user_damping=2.0,
    )
    model = trained(algorithm, data)
    assert model.centre == pytest.approx(user_means(data, data.values).mean(), abs=1e-5)
    half = data.shape.half_range
    b = np.array(
        [
            (data.values[data.items == j] - model.centre).clip(-half, half).sum()
            / ((data.items == j).sum() + 3)
            for j in range(data.n_items)
        ]
    )
    np.testing.assert_allclose(model.item_offsets, b, atol=1e-5)
    residuals = data.values - model.centre - b[data.items]
    n_rated = counts(data.users, data.n_users)
    a = np.bincount(data.users, residuals, data.n_users) / (n_rated + 2)
    M = dense(data, residuals - a[data.users]) / np.sqrt(n_rated)[:, None]
    expected = np.linalg.svd(M)[2][:2]
    np.testing.assert_allclose(
        np.abs(expected @ model.item_factors), np.eye(2), atol=1e-4
    )


def test_top_directions_are_ordered_and_cover_all_when_asked():
    A = np.diag([3.0, -5.0, 1.0, 2.0, 0.5])
    assert np.abs(top_directions(A, 2)).argmax(axis=0).tolist() == [0, 3]
    assert np.abs(top_directions(A, 5)).argmax(axis=0).tolist() == [0, 3, 2, 4, 1]
