"""The data sets of `benchmarks.advice`: real ones, parts of them, and other simulations.

Real data are read where they are: MovieLens in DPMF_CHECK_DATA, the shop in DPMF_CASES.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

import dpmf
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.simulated.cinema import cinema

DATA = Path(os.environ.get("DPMF_CHECK_DATA", "../shared/data"))
CASES = Path(os.environ.get("DPMF_CASES", "../shared/cases"))
SEEDS = (0, 1, 2)


def _public(
    ratings: Ratings, name: str, rows: Any = slice(None), users: Any = None
) -> Ratings:
    """These rows as public data, without times and item features. users: new ids of the rows."""
    if users is None:
        numbers = ratings.users[rows]
    else:
        numbers = users
    if users is None:
        n_users = ratings.n_users
    else:
        n_users = int(users.max()) + 1
    return Ratings.of(
        numbers,
        ratings.items[rows],
        ratings.values[rows],
        n_users=n_users,
        n_items=ratings.n_items,
        bounds=ratings.bounds,
        name=name,
        public=True,
    )


def _table(frame: pd.DataFrame, name: str) -> Ratings:
    users = np.unique(frame["user"], return_inverse=True)[1]
    items = np.unique(frame["item"], return_inverse=True)[1]
    return Ratings.of(
        users,
        items,
        frame["rating"],
        n_users=users.max() + 1,
        n_items=items.max() + 1,
        bounds=(1, 5),
        name=name,
        public=True,
    )


def _ml_100k() -> Ratings:
    columns = ["user", "item", "rating", "time"]
    return _table(
        pd.read_csv(DATA / "ml-100k/u.data", sep="\t", names=columns), "ml-100k"
    )


def _ml_1m() -> Ratings:
    return _table(pd.read_csv(DATA / "ml-1m/ratings.csv.gz"), "ml-1m")


def _some_people(ratings: Ratings, count: int, seed: int) -> Ratings:
    chosen = np.random.default_rng(seed).choice(ratings.n_users, count, replace=False)
    rows = np.isin(ratings.users, chosen)
    users = np.unique(ratings.users[rows], return_inverse=True)[1]
    return _public(ratings, f"{ratings.name}-{count}", rows, users)


def _thinned(ratings: Ratings, share: float, seed: int) -> Ratings:
    rows = np.random.default_rng(seed).random(len(ratings.users)) < share
    return _public(ratings, f"{ratings.name}-thinned", rows)


def _loaded(data_id: str, name: str) -> Ratings:
    return _public(cast(Ratings, dpmf.load(data_id)), name)


def _shop() -> Ratings:
    return _loaded(
        f"{CASES}/shop/bewertungen.csv?bounds=0.5,5&outside=leave-out", "shop"
    )


def groups(
    n_users: int, n_items: int, each: int, strength: float, seed: int
) -> Ratings:
    """People of six groups, each with own means of the items, and Zipf popularity.

    strength: standard deviation of a group's deviation from an item's mean, in stars.
    """
    rng = np.random.default_rng([seed, 6])
    popularity = 1 / (np.arange(n_items) + 10.0)
    of_group = 0.4 * rng.standard_normal(n_items) + strength * rng.standard_normal(
        (6, n_items)
    )
    group = rng.integers(6, size=n_users)
    pairs = []
    for user in range(n_users):
        count = min(1 + rng.poisson(rng.gamma(2.0, (each - 1) / 2)), n_items // 2)
        items = rng.choice(
            n_items, count, replace=False, p=popularity / popularity.sum()
        )
        pairs.append((np.full(count, user), items))
    users, items = (np.concatenate(column) for column in zip(*pairs, strict=True))
    mood = rng.laplace(0, 0.3, n_users)
    score = (
        3.6
        + mood[users]
        + of_group[group[users], items]
        + rng.logistic(0, 0.45, len(users))
    )
    return Ratings.of(
        users,
        items,
        np.rint(score).clip(1, 5),
        n_users=n_users,
        n_items=n_items,
        bounds=(1, 5),
        name=f"groups-{strength:g}",
        public=True,
    )


@dataclass(frozen=True)
class Tested:
    """A data set and the step of its scale. seeds: of the splits and noise of the truth."""

    load: Callable[[], Ratings]
    step: float = 1.0
    seeds: tuple[int, ...] = SEEDS


SETS: dict[str, Tested] = {
    "shop": Tested(_shop, 0.5),
    "cinema-small": Tested(lambda: _loaded("cinema-small", "cinema-small"), 0.5),
    "groups, strong": Tested(lambda: groups(3_000, 400, 12, 0.8, 1)),
    "groups, weak": Tested(lambda: groups(2_000, 200, 40, 0.15, 2)),
    "ml-100k": Tested(_ml_100k),
    "ml-100k, top 400": Tested(
        lambda: _public(_ml_100k().top_items(400), "ml-100k-top")
    ),
    "ml-1m, 500 people": Tested(lambda: _some_people(_ml_1m(), 500, 2)),
    "ml-1m, 2,000 people": Tested(lambda: _some_people(_ml_1m(), 2_000, 1)),
    "ml-1m, top 400": Tested(lambda: _public(_ml_1m().top_items(400), "ml-1m-top")),
    "ml-1m": Tested(_ml_1m, seeds=SEEDS[:2]),
}
CHECKS: dict[str, Tested] = {
    "check: ml-1m, an eighth of the ratings": Tested(
        lambda: _thinned(_ml_1m(), 0.125, 3)
    ),
    "check: cinema, 1,500 people": Tested(
        lambda: _public(cinema(1_500, 900, density=0.03, seed=7), "cinema-1500"), 0.5
    ),
}
