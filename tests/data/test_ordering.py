"""Orders of ratings: against numpy's sort by several keys."""

import numpy as np
import pytest

from dpmf_core.data.ordering import order_of, order_of_pairs
from dpmf_core.data.ratings import Ratings

# the last ones leave no room for positions in 63 bits
SIZES = [
    (1, 1),
    (7, 5),
    (300, 1),
    (1, 40),
    (2**31 - 1, 2**30),
    (2**31 - 1, 2**31 - 1),
]


def pairs(n_users, n_items, n=500):
    rng = np.random.default_rng(2)
    users = rng.integers(0, n_users, n // 2)
    items = rng.integers(0, n_items, n // 2)
    users = np.tile(users, 2)
    items = np.tile(items, 2)
    return users.astype(np.int32), items.astype(np.int32)


@pytest.mark.parametrize(("n_users", "n_items"), SIZES)
def test_pairs_are_sorted_and_equal_ones_stay_in_order(n_users, n_items):
    users, items = pairs(n_users, n_items)
    before = users.copy(), items.copy()
    order = order_of_pairs(users, items, n_users, n_items)
    expected = np.lexsort((items, users))
    if order is None:
        assert expected.tolist() == list(range(len(users)))
    else:
        assert order.tolist() == expected.tolist()
        assert order_of_pairs(users[order], items[order], n_users, n_items) is None
    assert (users == before[0]).all()
    assert (items == before[1]).all()


@pytest.mark.parametrize("count", [1, 9, 2**31 - 1, 2**60])
def test_ids_are_sorted_and_equal_ones_stay_in_order(count):
    most = min(count, 2**31 - 1)
    ids = np.random.default_rng(4).integers(0, most, 300)
    expected = np.argsort(ids, kind="stable")
    assert order_of(ids, count).tolist() == expected.tolist()


class TestRatings:
    def test_ratings_own_their_arrays(self):
        users = np.array([0, 1], np.int32)
        items = np.array([0, 1], np.int32)
        values = np.array([1, 2], np.float32)
        times = np.array([5, 6])
        data = Ratings.of(
            users, items, values, n_users=2, n_items=2, bounds=(1, 5), order=times
        )
        before = data.fingerprint
        for array in (users, items, values, times):
            array[:] = 1
        again = Ratings(
            data.users, data.items, data.values, 2, 2, data.bounds, data.order
        )
        assert again.fingerprint == before
