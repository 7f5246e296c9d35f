"""One more user in a data frame, or other types of its ids, change nobody else's draws."""

import numpy as np
import pandas as pd
import pytest

from dpmf import RatingFolds
from dpmf_core.algorithms.svd import CappedCounts, capped_ratings
from dpmf_core.curator import in_memory
from dpmf_core.data.frames import ratings_of
from dpmf_core.data.ids import canonical_texts
from dpmf_core.data.splits import SplitSpec, split

BOUNDS = (0.5, 5.0)
USERS = 2_000
ITEMS = 40
EACH = 10
CAP = 2


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(USERS), EACH),
            "item": np.concatenate(
                [rng.permutation(ITEMS)[:EACH] for _ in range(USERS)]
            ),
            "rating": rng.integers(1, 11, USERS * EACH) / 2,
        }
    )


def with_row(frame, user, **cells):
    row = {"user": user, "item": 3, "rating": 4.0, **cells}
    return pd.concat([frame, pd.DataFrame([row])], ignore_index=True)


def joined(frame):
    """A join with an item that nobody rated: its row has no user, so ids become floats."""
    both = frame.merge(pd.DataFrame({"item": [77]}), how="outer")
    assert both["user"].dtype == float
    return both


NEIGHBOURS = {
    "a user called .5": lambda frame: with_row(frame, 0.5),
    "a user called '.5'": lambda frame: with_row(frame.astype({"user": str}), ".5"),
    "a user called '.5' among numbers": lambda frame: with_row(
        frame.astype({"user": object}), ".5"
    ),
    "a user called True": lambda frame: with_row(frame.astype({"user": object}), True),
    "a join": joined,
    "a user without an id": lambda frame: with_row(frame, None),
    "an item called .5": lambda frame: with_row(frame, 3, item=0.5, rating=None),
    "a rating that is text": lambda frame: with_row(
        frame.astype({"rating": object}), 9e9, rating="x"
    ),
    "a rating outside the bounds": lambda frame: with_row(frame, -3, rating=99),
    "a user whose rating is clean": lambda frame: with_row(frame, -3),
    "a category": lambda frame: with_row(frame, "x").astype({"user": "category"}),
}


def capped_counts(ratings):
    (block,) = in_memory(ratings).blocks
    rows = capped_ratings(block, CAP, 5)
    return np.bincount(ratings.items[rows], minlength=ITEMS)


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
@pytest.mark.parametrize("change", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_a_capped_count_moves_by_no_more_than_declared(frame, change):
    ratings = ratings_of(frame, BOUNDS)
    neighbour = ratings_of(change(frame), BOUNDS)
    assert neighbour.labels == ratings.labels
    difference = capped_counts(ratings) - capped_counts(neighbour)
    moved = np.linalg.norm(difference)
    assert moved <= CappedCounts(CAP).sensitivity
    assert np.isin(ratings.user_keys, neighbour.user_keys).all()


@pytest.mark.filterwarnings("ignore::dpmf_core.base.errors.RowsChanged")
@pytest.mark.parametrize("change", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_everybody_elses_ratings_stay_in_their_part_of_a_split(frame, change):
    spec = SplitSpec(test_fraction=0.3)
    trained = []
    for data in (frame, change(frame)):
        ratings = ratings_of(data, BOUNDS)
        train = split(ratings, spec, 7).train
        users = train.user_keys[train.users].tolist()
        rows = zip(users, train.items.tolist(), strict=True)
        trained.append(set(rows))
    assert len(trained[0] ^ trained[1]) <= 1


def folds_of(frame):
    """The pairs in each fold."""
    columns = [canonical_texts(frame[role]) for role in ("user", "item")]
    pairs = np.column_stack(columns)
    folds = RatingFolds(3).split(frame)
    return [set(map(tuple, pairs[test])) for _, test in folds]


@pytest.mark.parametrize("change", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_everybody_elses_ratings_stay_in_their_fold(frame, change):
    folds = zip(folds_of(frame), folds_of(change(frame)), strict=True)
    n_moved = sum(len(before ^ after) for before, after in folds)
    assert n_moved <= 1
