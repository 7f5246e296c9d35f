"""Private SVD and SVD after cleansing against dense linear algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms.svd import PrivateSVD, SVDCleansing, top_directions
from dpmf_core.testing.rating_worlds import low_rank
from tests.fitting import trained
from tests.support.algebra import predict, shortened
from tests.support.dense import centred, counts, dense, user_means


@pytest.mark.parametrize("row_clip", [10.0, 0.05])
def test_without_noise_the_directions_are_the_right_singular_vectors(row_clip):
    data = low_rank()
    model = trained(PrivateSVD(rank=3, row_clip=row_clip), data)
    bound = row_clip * data.shape.half_range * np.sqrt(data.n_items)
    M = shortened(dense(data, centred(data)), bound)
    expected = np.linalg.svd(M)[2][:3]
    overlap = np.abs(expected @ model.item_factors)
    assert_allclose(overlap, np.eye(3), atol=1e-5)


def test_the_sources_user_step_is_the_scaled_projection():
    data = low_rank()
    model = trained(
        PrivateSVD(
            rank=2,
            row_clip=10.0,
            user_step="projection",
        ),
        data,
    )
    means = user_means(data, data.values)
    M = dense(data, centred(data))
    V = model.item_factors.astype(float)
    share = counts(data.users, data.n_users) / data.n_items
    projection = (M @ V) @ V.T / share[:, None]
    expected = np.clip(means[:, None] + projection, *data.bounds)
    users, items = np.indices(expected.shape).reshape(2, -1)
    predictions = predict(model, data, users, items)
    assert_allclose(predictions, expected.ravel(), atol=1e-4)


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
    centre = user_means(data, data.values).mean()
    assert model.centre == pytest.approx(centre, abs=1e-5)
    half = data.shape.half_range
    b = np.zeros(data.n_items)
    for item in range(data.n_items):
        values = data.values[data.items == item]
        clipped = (values - model.centre).clip(-half, half)
        b[item] = clipped.sum() / (len(values) + 3)
    assert_allclose(model.item_offsets, b, atol=1e-5)

    residuals = data.values - model.centre - b[data.items]
    n_rated = counts(data.users, data.n_users)
    a = np.bincount(data.users, residuals, data.n_users) / (n_rated + 2)
    M = dense(data, residuals - a[data.users]) / np.sqrt(n_rated)[:, None]
    expected = np.linalg.svd(M)[2][:2]
    overlap = np.abs(expected @ model.item_factors)
    assert_allclose(overlap, np.eye(2), atol=1e-4)


def test_top_directions_are_ordered_and_cover_all_when_asked():
    A = np.diag([3.0, -5.0, 1.0, 2.0, 0.5])
    assert np.abs(top_directions(A, 2)).argmax(axis=0).tolist() == [0, 3]
    assert np.abs(top_directions(A, 5)).argmax(axis=0).tolist() == [0, 3, 2, 4, 1]
