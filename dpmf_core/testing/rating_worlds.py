"""Small rating worlds with everything that has ever broken a recommender.

They have empty and heavy users, duplicates, half stars and values out of range. Shapes are
rectangular and share no number with a rank, so that no transposition can hide.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmf_core.base.arrays import Doubles, Ints
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import FACTS, Ratings

N_USERS = 23
N_ITEMS = 19
BOUNDS = (0.5, 5.0)
EMPTY = (3, 22)
HEAVY = 5
Row = tuple[Sequence[int] | Ints, Sequence[float] | Doubles]


def of(
    rows: dict[int, Row],
    *,
    n_users: int = N_USERS,
    n_items: int = N_ITEMS,
    bounds: tuple[float, float] = BOUNDS,
) -> Ratings:
    """Ratings from each user's (items, values); users without a row are empty."""
    none: Any = np.array([], int)
    users = np.repeat([*rows, 0], [*(len(items) for items, _ in rows.values()), 0])
    items = np.concatenate(
        [none, *(np.asarray(items, int) for items, _ in rows.values())]
    )
    values = np.concatenate(
        [none, *(np.asarray(values, float) for _, values in rows.values())]
    )
    return Ratings.of(
        users,
        items,
        values,
        n_users=n_users,
        n_items=n_items,
        bounds=bounds,
        public=True,
        item_features=features(n_items),
    )


def features(n_items: int) -> ItemFeatures:
    """A public table of items: a category, another, and a number."""
    place = np.arange(n_items)
    values = np.column_stack([place % 2 == 0, place % 5 == 1, (place - 4.0) / 7])
    return ItemFeatures(("even", "fifth", "place"), values.astype(np.float32))


def rows(seed: int = 0, *, skew: float = 1.0) -> dict[int, Row]:
    """Raw rows as an upload might hold them.

    They have skewed popularity, half stars, duplicated pairs and some values beyond the bounds.
    """
    rng = np.random.default_rng(seed)
    popularity = (1.0 + np.arange(N_ITEMS)) ** -skew
    popularity /= popularity.sum()
    out: dict[int, Row] = {}
    for user in range(N_USERS):
        if user in EMPTY:
            continue
        if user == HEAVY:
            count = N_ITEMS
        else:
            count = int(rng.integers(1, max(2, N_ITEMS // 2)))
        items = rng.choice(N_ITEMS, count, replace=False, p=popularity)
        items = np.append(items, items[0])
        values = np.round(rng.uniform(BOUNDS[0] - 1, BOUNDS[1] + 1, len(items)) * 2) / 2
        out[user] = (items, values)
    return out


def world(
    seed: int = 0, *, bounds: tuple[float, float] = BOUNDS, skew: float = 1.0
) -> Ratings:
    return of(rows(seed, skew=skew), bounds=bounds)


def with_row(
    ratings: Ratings, user: int, items: Sequence[int], values: Sequence[float]
) -> Ratings:
    """The neighbour in which `user`'s row is this one (empty: the user is removed)."""
    others = ratings.only(ratings.users != user)
    facts: Any = {name: getattr(ratings, name) for name in FACTS if name != "origin"}
    return Ratings.of(
        np.concatenate([others.users, np.full(len(items), user)]),
        np.concatenate([others.items, np.asarray(items, int)]),
        np.concatenate([others.values, np.asarray(values, float)]),
        **facts,
    )


def low_rank(
    seed: int = 0,
    *,
    n_users: int = 60,
    n_items: int = 17,
    density: float = 0.6,
) -> Ratings:
    """Ratings with structure to find: a matrix of rank 3 plus a little noise, partly observed."""
    rng = np.random.default_rng(seed)
    taste = rng.standard_normal((n_users, 3)) @ rng.standard_normal((3, n_items)) * 0.8
    M = 2.75 + taste + 0.2 * rng.standard_normal((n_users, n_items))
    users, items = np.nonzero(rng.random(M.shape) < density)
    return Ratings.of(
        users,
        items,
        M[users, items],
        n_users=n_users,
        n_items=n_items,
        bounds=BOUNDS,
        public=True,
    )
