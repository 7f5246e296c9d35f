import dataclasses
from collections import Counter

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import (
    ITEM_SET_IS_PUBLIC,
    Ratings,
    often_rated,
    rank_within_user,
)
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.testing.rating_worlds import HEAVY, N_ITEMS, N_USERS, world
from tests.support.dense import rated


def triples(ratings):
    return set(
        zip(
            ratings.users.tolist(),
            ratings.items.tolist(),
            ratings.values.tolist(),
            strict=True,
        )
    )


def timed_ratings(n_users=11, n_items=29):
    """Every user rates 10 items; times are a permutation, unlike in every row."""
    rng = np.random.default_rng(3)
    users = np.repeat(np.arange(n_users), 10)
    items_of_users = [rng.permutation(n_items)[:10] for _ in range(n_users)]
    items = np.concatenate(items_of_users)
    return Ratings.of(
        users,
        items,
        rng.integers(1, 6, len(users)),
        n_users=n_users,
        n_items=n_items,
        bounds=(1, 5),
        order=rng.permutation(len(users)),
    )


class TestOf:
    @pytest.mark.parametrize(
        ("user", "item"),
        [
            (-1, 0),
            (3, 0),
            (0, -1),
            (0, 5),
        ],
    )
    def test_refuses_ids_outside_the_declared_shape(self, user, item):
        with pytest.raises(BadInput, match=r"\[0, 3\) and \[0, 5\)"):
            users = [0, user]
            items = [0, item]
            Ratings.of(users, items, [1, 1], n_users=3, n_items=5, bounds=(1, 5))

    @pytest.mark.parametrize(
        "bounds",
        [
            (5, 1),
            (2, 2),
            (float("nan"), 5),
            (1, float("nan")),
            (0, 1e39),
            (-1e10, 0),
            (1e6, 1e6 + 0.1),
            (0, 1e-12),
        ],
    )
    def test_refuses_bounds_that_are_no_interval(self, bounds):
        with pytest.raises(BadInput, match="bounds"):
            Ratings.of([0], [0], [1], n_users=1, n_items=1, bounds=bounds)

    def test_ids_beyond_32_bit_products_do_not_collide(self):
        data = Ratings.of(
            [0, 65536], [1, 0], [1, 2], n_users=65537, n_items=65537, bounds=(1, 5)
        )
        assert triples(data) == {(0, 1, 1.0), (65536, 0, 2.0)}


class TestFingerprint:
    def test_any_single_rating_changes_it(self):
        data = world()
        fingerprints = {data.fingerprint}
        for place in range(len(data)):
            values = data.values.copy()
            values[place] += np.float32(1e-3)
            other_values = dataclasses.replace(data, values=values)
            fingerprints.add(other_values.fingerprint)
            one_less = data.only(np.arange(len(data)) != place)
            fingerprints.add(one_less.fingerprint)
        assert len(fingerprints) == 2 * len(data) + 1

    @pytest.mark.parametrize(
        "change",
        [
            {"bounds": (0.5, 6.0)},
            {"assumptions": (ITEM_SET_IS_PUBLIC,)},
            {"public": False},
            {"n_users": N_USERS + 1},
            {"n_items": N_ITEMS + 1},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_any_declared_fact_changes_it(self, change):
        data = world()
        fingerprint = dataclasses.replace(data, **change).fingerprint
        assert fingerprint != data.fingerprint


class TestFilters:
    def test_top_items_keeps_the_most_rated_with_their_titles_and_times(self):
        data = dataclasses.replace(
            timed_ratings(), titles=tuple(f"film {j}" for j in range(29))
        )

        def rows(ratings):
            titles = [ratings.titles[j] for j in ratings.items]
            columns = (ratings.users, titles, ratings.order, ratings.values)
            lists = [np.asarray(column).tolist() for column in columns]
            return set(zip(*lists, strict=True))

        top = data.top_items(5)
        counts = np.bincount(data.items, minlength=29).tolist()
        assert (
            np.bincount(top.items, minlength=5).tolist()
            == sorted(counts, reverse=True)[:5]
        )
        assert rows(top) < rows(data)
        assert top.n_items == 5
        assert top.n_users == 11
        assert top.assumptions == (ITEM_SET_IS_PUBLIC,)

    def test_items_with_enough_ratings_are_kept(self):
        data = world()
        counts = np.bincount(data.items, minlength=N_ITEMS)
        frequent = data.keeping(often_rated(data.item_counts, 6))
        assert sorted(
            np.bincount(frequent.items, minlength=frequent.n_items)
        ) == sorted(counts[counts >= 6])
        with pytest.raises(BadInput, match="No item"):
            often_rated(data.item_counts, N_USERS + 1)


class TestKeyedUniform:
    def test_a_keyed_draw_is_splitmix64_wherever_a_rating_stands(self):
        """Against whole numbers of any size, on both sides of where a block of numbers ends."""

        def mix(x):
            x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
            return x ^ x >> 31

        step = 0x9E3779B97F4A7C15
        assert mix(step) == 0xE220A8397B1DCDAF  # the first number that seed 0 gives
        users = np.arange(40_000) // 3
        items = np.arange(40_000) % 1_000
        draw = keyed_uniform(7, users, items)
        for at in (0, 1, 32_767, 32_768, 39_999):
            x = mix(7 + step)
            for number in (users[at], items[at]):
                start = x + step * (int(number) + 1)
                x = mix(start % 2**64)
            assert draw[at] == (x >> 11) / 2**53

    def test_rank_within_user_is_a_permutation_of_every_row_by_key(self):
        data = world()
        key = keyed_uniform(1, data.users, data.items)
        place = rank_within_user(data, key)
        for user in range(N_USERS):
            row = slice(*data.by_user[user : user + 2])
            order_of_keys = np.argsort(key[row])
            order_of_places = np.argsort(place[row])
            assert (order_of_keys == order_of_places).all()
            assert sorted(place[row]) == list(range(row.stop - row.start))


KINDS = ("random", "per-user", "time", "users")


def spec(kind, **more):
    return SplitSpec.model_validate(
        {"kind": kind, "test_fraction": 0.3, "validation_fraction": 0.2, **more}
    )


@pytest.mark.parametrize("kind", KINDS)
class TestEverySplit:
    def test_every_rating_lands_somewhere_and_held_out_ones_nowhere_else(self, kind):
        data = timed_ratings()
        parts = split(data, spec(kind), 5)
        train = triples(parts.train)
        history = triples(parts.history)
        validation = triples(parts.validation)
        test = triples(parts.test)
        assert test
        assert validation
        assert train | history | validation | test == triples(data)
        assert not test & (train | history | validation)
        assert not validation & (train | history)

    def test_a_split_leaves_ratings_to_train_on(self, kind):
        with pytest.raises(BadInput, match="below 1"):
            split(
                timed_ratings(),
                spec(kind, test_fraction=0.6, validation_fraction=0.4),
                5,
            )


def large():
    return rated(np.ones((400, 50), bool), 3.0, (1, 5))


def test_per_user_holds_out_the_same_share_of_every_row():
    parts = split(timed_ratings(), spec("per-user"), 5)
    assert set(np.diff(parts.test.by_user)) == {3}
    assert set(np.diff(parts.validation.by_user)) == {2}


def test_time_holds_out_every_users_latest():
    parts = split(timed_ratings(), spec("time"), 5)
    for user in range(11):
        train = parts.train.order[parts.train.users == user]
        validation = parts.validation.order[parts.validation.users == user]
        test = parts.test.order[parts.test.users == user]
        assert train.max() < validation.min()
        assert validation.max() < test.min()


def test_time_needs_times():
    with pytest.raises(BadInput, match="no times"):
        split(world(), spec("time"), 5)


def test_held_out_users_bring_the_fold_in_share():
    parts = split(large(), spec("users"), 1)
    judged = np.concatenate([parts.test.users, parts.validation.users])
    test_users = np.unique(judged)
    assert not set(test_users) & set(parts.train.users)
    lengths = np.diff(parts.history.by_user)
    assert (lengths[test_users] == 40).all()
    assert set(np.diff(parts.test.by_user)) == {0, 10}


def test_at_most_k_ratings_of_a_user_are_kept_by_her_own_row_alone():
    data = world()
    few = data.most_per_user(3)
    assert np.diff(few.by_user).max() == 3
    kept = np.diff(few.by_user)
    rated_before = np.diff(data.by_user)
    assert (kept == np.minimum(rated_before, 3)).all()
    assert few.shape == data.shape
    hers = data.only(data.users == HEAVY).most_per_user(3)
    kept_of_her = few.items[few.users == HEAVY]
    assert hers.items.tolist() == kept_of_her.tolist()
    assert few.assumptions == data.assumptions


def stamped_ratings(n_users=40, n_items=30):
    """Every rating at a second of its own, users in no order."""
    rng = np.random.default_rng(4)
    where = rng.random((n_users, n_items)) < 0.5
    data = rated(where, rng.uniform(1, 5, where.shape), (1, 5))
    order = 10**9 + rng.permutation(len(data))
    return dataclasses.replace(data, order=order)


def test_windows_follow_the_clock_and_what_comes_later_is_left_out():
    data = stamped_ratings()
    sizes = []
    all_tested = set()
    for window in range(1, 6):
        spec = SplitSpec(kind="window", windows=6, window=window)
        parts = split(data, spec, 1)
        assert parts.train.order.max() < parts.test.order.min()
        expected = len(data) * window / 6
        assert len(parts.train) == pytest.approx(expected, abs=1)
        sizes.append(len(parts.test))
        all_tested |= triples(parts.test)
    assert max(sizes) - min(sizes) <= 1
    assert len(all_tested) == sum(sizes)


def test_windows_of_places_cut_every_row():
    spec = SplitSpec(kind="window", windows=2, window=1)
    parts = split(timed_ratings(), spec, 5)
    for user in range(11):
        train = parts.train.order[parts.train.users == user]
        test = parts.test.order[parts.test.users == user]
        assert len(train) == 5
        assert len(test) == 5
        assert train.max() < test.min()


def test_rare_users_and_items_are_judged_by_nobody_nor_trained_on():
    """Counted over all ratings, before the split; the ratings that are trained on stay."""
    data = world()
    how = SplitSpec(validation_fraction=0.2, test_fraction=0.2)
    everybody = how.model_copy(update={"least_judged": 0})
    frequent = how.model_copy(update={"least_judged": 10})
    every = split(data, everybody, 3)
    often = split(data, frequent, 3)
    assert triples(often.train) == triples(often.history)
    assert triples(every.train) == triples(often.history)
    users = Counter(data.users.tolist())
    items = Counter(data.items.tolist())
    for frequent, held_out in (
        (often.test, every.test),
        (often.validation, every.validation),
    ):
        expected = {
            rating
            for rating in triples(held_out)
            if users[rating[0]] >= 10 and items[rating[1]] >= 10
        }
        assert triples(frequent) == expected < triples(held_out)
    rare = how.model_copy(update={"least_judged": 10})
    assert "least_judged" not in how.model_dump()
    assert rare.model_dump()["least_judged"] == 10


def test_windows_say_what_they_take_as_public():
    how = SplitSpec(kind="window", windows=4, window=2)
    assert SplitSpec().assumptions == ()
    assert "windows" not in SplitSpec().model_dump()
    assert how.model_dump()["window"] == 2
    with pytest.raises(BadInput, match="at most 3"):
        last = SplitSpec(kind="window", windows=4, window=4)
        split(stamped_ratings(), last, 1)
    with pytest.raises(BadInput, match="no times"):
        split(world(), how, 1)
