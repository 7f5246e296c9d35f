"""Laws of the data containers: each user's result depends on their own row alone."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split

N_USERS, N_ITEMS, BOUNDS = 7, 5, (0.5, 5.0)
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
    users, items, values, order = (
        (list(column) for column in zip(*triples, strict=True))
        if triples
        else ([], [], [], [])
    )
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
    columns = (ratings.items.tolist(), ratings.values.tolist(), ratings.order.tolist())
    return [
        list(zip(*(column[low:high] for column in columns), strict=True))
        for low, high in zip(ratings.by_user, ratings.by_user[1:], strict=False)
    ]


@LAW
@given(TRIPLES)
def test_pairs_are_unique_sorted_finite_and_within_bounds(triples):
    ratings = of(triples)
    pairs = list(zip(ratings.users.tolist(), ratings.items.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert set(pairs) == {(u, i) for u, i, v, _ in triples if np.isfinite(v)}
    assert ((ratings.values >= BOUNDS[0]) & (ratings.values <= BOUNDS[1])).all()


@LAW
@given(TRIPLES, st.randoms())
def test_the_order_of_the_triples_does_not_matter(triples, random):
    in_other_order = list(triples)
    random.shuffle(in_other_order)
    first, second = rows(of(triples)), rows(of(in_other_order))
    assert [[(i, o) for i, _, o in row] for row in first] == [
        [(i, o) for i, _, o in row] for row in second
    ]
    np.testing.assert_allclose(
        [v for row in first for _, v, _ in row],
        [v for row in second for _, v, _ in row],
        rtol=1e-6,
    )


@LAW
@given(TRIPLES, TRIPLES, st.integers(0, N_USERS - 1), st.integers(0, 6))
def test_a_users_row_follows_from_her_triples_alone(triples, others, user, minimum):
    """Locality of merging, clamping and the user filter: all other triples are exchanged."""
    hers = [row for row in triples if row[0] == user]
    foreign = [row for row in others if row[0] != user]
    first, second = of(triples), of(foreign + hers)
    assert rows(first)[user] == rows(second)[user]
    assert (
        rows(first.min_user_count(minimum))[user]
        == rows(second.min_user_count(minimum))[user]
    )
    assert rows(first.positives(3.0))[user] == rows(second.positives(3.0))[user]


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
    first, second = split(of(triples), how, seed), split(of(foreign + hers), how, seed)
    for part in ("train", "history", "validation", "test"):
        assert rows(getattr(first, part))[user] == rows(getattr(second, part))[user]
