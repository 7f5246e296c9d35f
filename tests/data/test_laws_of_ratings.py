"""Laws of the data containers: each user's result depends on their own row alone."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split

N_USERS = 7
N_ITEMS = 5
BOUNDS = (0.5, 5.0)
VALUES = st.one_of(
    st.floats(-2, 8, width=32),
    st.sampled_from([0.5, 3.5, 5.0, float("nan"), float("inf"), -float("inf")]),
)
TRIPLES = st.lists(
    st.tuples(
        st.integers(0, N_USERS - 1),
        st.integers(0, N_ITEMS - 1),
        VALUES,
        st.integers(0, 99),
    ),
    max_size=60,
)
LAW = settings(max_examples=60, deadline=None, derandomize=True)


def of(triples):
    if triples:
        users, items, values, order = (
            list(column) for column in zip(*triples, strict=True)
        )
    else:
        users = []
        items = []
        values = []
        order = []
    return Ratings.of(
        users,
        items,
        values,
        n_users=N_USERS,
        n_items=N_ITEMS,
        bounds=BOUNDS,
        order=order,
    )


def rows(ratings):
    columns = (
        ratings.items.tolist(),
        ratings.values.tolist(),
        ratings.order.tolist(),
    )
    triples = list(zip(*columns, strict=True))
    edges = itertools.pairwise(ratings.by_user)
    return [triples[low:high] for low, high in edges]


@LAW
@given(TRIPLES)
def test_pairs_are_unique_sorted_finite_and_within_bounds(triples):
    ratings = of(triples)
    users = ratings.users.tolist()
    pairs = list(zip(users, ratings.items.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    finite = {(user, item) for user, item, value, _ in triples if np.isfinite(value)}
    assert set(pairs) == finite
    assert (ratings.values >= BOUNDS[0]).all()
    assert (ratings.values <= BOUNDS[1]).all()


@LAW
@given(TRIPLES, st.randoms())
def test_the_order_of_the_triples_does_not_matter(triples, random):
    in_other_order = list(triples)
    random.shuffle(in_other_order)
    first = rows(of(triples))
    second = rows(of(in_other_order))
    assert [[(i, o) for i, _, o in row] for row in first] == [
        [(i, o) for i, _, o in row] for row in second
    ]
    expected = [v for row in second for _, v, _ in row]
    assert_allclose(
        [v for row in first for _, v, _ in row],
        expected,
        rtol=1e-6,
    )


@LAW
@given(TRIPLES, TRIPLES, st.integers(0, N_USERS - 1), st.integers(0, 6))
def test_a_users_row_follows_from_her_triples_alone(triples, others, user, minimum):
    """Locality of merging, clamping and the user filter: all other triples are exchanged."""
    hers = [row for row in triples if row[0] == user]
    foreign = [row for row in others if row[0] != user]
    first = of(triples)
    second = of(foreign + hers)
    assert rows(first)[user] == rows(second)[user]
    assert (
        rows(first.min_user_count(minimum))[user]
        == rows(second.min_user_count(minimum))[user]
    )
    positives = rows(first.positives(3.0))
    other_positives = rows(second.positives(3.0))
    assert positives[user] == other_positives[user]


@LAW
@given(
    TRIPLES,
    TRIPLES,
    st.integers(0, N_USERS - 1),
    st.sampled_from(["random", "per-user", "time", "users"]),
    st.integers(0, 2**62),
    st.floats(0.05, 0.5),
    st.floats(0, 0.4),
)
def test_a_users_folds_follow_from_the_seed_and_her_row_alone(
    triples, others, user, kind, seed, test, validation
):
    hers = [row for row in triples if row[0] == user]
    foreign = [row for row in others if row[0] != user]
    how = SplitSpec(kind=kind, test_fraction=test, validation_fraction=validation)
    first = split(of(triples), how, seed)
    second = split(of(foreign + hers), how, seed)
    for part in ("train", "history", "validation", "test"):
        of_first = rows(getattr(first, part))
        of_second = rows(getattr(second, part))
        assert of_first[user] == of_second[user]
