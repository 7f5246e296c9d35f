"""Orders of ratings: against numpy's sort by several keys."""

import numpy as np
import pytest

from dpmf_core.data.ordering import order_of, order_of_pairs
from dpmf_core.data.ratings import Ratings

# the last ones leave no room for positions in 63 bits
SIZES = [(1, 1), (7, 5), (300, 1), (1, 40), (2**31 - 1, 2**30), (2**31 - 1, 2**31 - 1)]


def pairs(n_users, n_items, n=500):
    rng = np.random.default_rng(2)
    users, items = rng.integers(0, n_users, n // 2), rng.integers(0, n_items, n // 2)
    return np.tile(users, 2).astype(np.int32), np.tile(items, 2).astype(np.int32)


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
    assert (users == before[0]).all() and (items == before[1]).all()


@pytest.mark.parametrize("count", [1, 9, 2**31 - 1, 2**60])
def test_ids_are_sorted_and_equal_ones_stay_in_order(count):
    ids = np.random.default_rng(4).integers(0, min(count, 2**31 - 1), 300)
    assert order_of(ids, count).tolist() == np.argsort(ids, kind="stable").tolist()


class TestRatings:
    @pytest.mark.parametrize("ids", [np.int32, np.int64])
    @pytest.mark.parametrize("numbers", [np.float32, np.float64])
    @pytest.mark.parametrize("distinct", [True, False])
    def test_sorted_and_mixed_are_equal(self, ids, numbers, *, distinct):
        users, items = pairs(30, 20)
        if distinct:
            users, items = np.divmod(np.unique(users * 20 + items), 20)
        values = np.random.default_rng(1).integers(0, 13, len(users)) / 2
        times = np.arange(len(users))
        permutation = np.random.default_rng(3).permutation(len(users))
        both = [
            Ratings.of(
                users[at].astype(ids),
                items[at].astype(ids),
                values[at].astype(numbers),
                n_users=30,
                n_items=20,
                bounds=(0.7, 5.1),
                order=times[at],
            )
            for at in (permutation, np.lexsort((items, users)))
        ]
        assert both[0].fingerprint == both[1].fingerprint
        means = {}
        for user, item, value in zip(users.tolist(), items.tolist(), values, strict=True):
            means.setdefault((user, item), []).append(min(max(value, 0.7), 5.1))
        expected = [np.float32(np.mean(means[pair])) for pair in sorted(means)]
        assert both[0].values.tolist() == [float(value) for value in expected]

    def test_arrays_are_its_own(self):
        users, items = np.array([0, 1], np.int32), np.array([0, 1], np.int32)
        values, times = np.array([1, 2], np.float32), np.array([5, 6])
        data = Ratings.of(users, items, values, n_users=2, n_items=2, bounds=(1, 5), order=times)
        before = data.fingerprint
        for array in (users, items, values, times):
            array[:] = 1
        again = Ratings(data.users, data.items, data.values, 2, 2, data.bounds, data.order)
        assert again.fingerprint == before
