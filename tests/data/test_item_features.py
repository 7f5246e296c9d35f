"""A public table of items beside ratings: what is kept of it, and that it enters fingerprints."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.testing.rating_worlds import world

GENRES = np.array(
    [
        [1, 0, 0],
        [0, 1, 0],
        [1, 1, 0],
        [0, 0, 1],
    ],
    np.float32,
)
TABLE = ItemFeatures(("drama", "comedy", "1990s"), GENRES)


def test_of_dropped_items_nothing_is_left():
    features = TABLE.keeping(np.array([2, 0]))
    assert features.names == ("comedy",)
    assert features.values.tolist() == [[1.0], [0.0]]
    names = TABLE.keeping(np.array([3])).names
    assert names == ()


def test_features_that_are_no_table_are_refused():
    with pytest.raises(ValueError, match="columns"):
        ItemFeatures(("a", "b"), np.zeros((3, 1), np.float32))
    with pytest.raises(ValueError, match="finite"):
        ItemFeatures(("a",), np.full((3, 1), np.nan, np.float32))


def test_filters_and_fingerprints_follow_the_table():
    data = world()
    few = data.top_items(5)
    popular = np.argsort(
        -np.bincount(data.items, minlength=data.n_items), kind="stable"
    )[:5]
    assert few.item_features is not None
    assert few.shape.item_features is few.item_features
    values = data.item_features.values
    last_column = few.item_features.values[:, -1]
    assert np.array_equal(last_column, values[popular, -1])
    bare = replace(data, item_features=None)
    first_column = ItemFeatures(("x",), values[:, :1])
    other = replace(data, item_features=first_column)
    fingerprints = {data.fingerprint, bare.fingerprint, other.fingerprint}
    assert len(fingerprints) == 3
    assert data.shape == bare.shape
