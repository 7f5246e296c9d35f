"""Small simulated sets as a catalogue (DPMF_CATALOGUE=tests.support.two_sets)."""

from typing import Any

import numpy as np

import dpmf_datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings

SHAPES = {
    "small": (210, 40, 5_000),
    "medium": (2_100, 300, 120_000),
    "own": (210, 40, 5_000),
}


def load(data_id: str) -> Ratings:
    """small: runs take milliseconds; medium: ALS steps take tens of them; own: private."""
    if data_id not in SHAPES:
        raise BadInput(f"There is no data set '{data_id}'. Known: {', '.join(SHAPES)}.")
    n_users, n_items, count = SHAPES[data_id]
    rng = np.random.default_rng(5)
    users = rng.integers(0, n_users, count)
    items = rng.integers(0, n_items, count)
    values = rng.integers(1, 6, count)
    return Ratings.of(
        users,
        items,
        values,
        n_users=n_users,
        n_items=n_items,
        bounds=(1.0, 5.0),
        name=data_id,
        public=data_id != "own",
    )


def __getattr__(name: str) -> Any:
    """All else as the catalogue of the project has it."""
    return getattr(dpmf_datasets, name)


def is_own(data_id: str) -> bool:
    return False


def stamp(data_id: str) -> float:
    return 0.0
