"""A public table of items beside ratings: what is kept of it, and that it enters fingerprints."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.testing.worlds import world

TABLE = ItemFeatures(
    ("drama", "comedy", "1990s"),
    np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], np.float32),
)


def test_of_dropped_items_nothing_is_left():
    features = TABLE.keeping(np.array([2, 0]))
    assert features.names == ("comedy",)
    assert features.values.tolist() == [[1.0], [0.0]]
    assert TABLE.keeping(np.array([3])).names == ()


def test_what_is_no_table_is_refused():
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
    assert (
        few.item_features is not None and few.shape.item_features is few.item_features
    )
    assert np.array_equal(
        few.item_features.values[:, -1], data.item_features.values[popular, -1]
    )
    bare = replace(data, item_features=None)
    other = replace(
        data, item_features=ItemFeatures(("x",), data.item_features.values[:, :1])
    )
    assert len({data.fingerprint, bare.fingerprint, other.fingerprint}) == 3
    assert data.shape == bare.shape
