"""A small low-rank world for the Frank-Wolfe family."""

from typing import Any

import numpy as np

from dpmf_core.algorithms.frank_wolfe import FrankWolfeModel
from dpmf_core.data.ratings import Ratings
from tests.fitting import FitResult

Array = np.ndarray[Any, Any]
N, M = 40, 17
BOUNDS = (-4.0, 10.0)


def ratings() -> Ratings:
    """A low-rank matrix of ratings on a rectangle, half observed, user 0 empty."""
    random = np.random.default_rng(7)
    truth = 3 + random.normal(size=(N, 3)) @ np.diag([2, 1, 0.5]) @ random.normal(size=(3, M)) / 2
    users, items = np.nonzero(random.random((N, M)) < 0.5)
    users, items = users[users > 0], items[users > 0]
    return Ratings.of(
        users, items, truth[users, items], n_users=N, n_items=M, bounds=BOUNDS, public=True
    )


def frank_wolfe(fit: FitResult) -> FrankWolfeModel:
    return fit.model


def centred(data: Ratings) -> Array:
    """Ratings less mid-range and their user's mean."""
    values = data.values.astype(float) - 3.0
    means = np.bincount(data.users, values, N) / np.maximum(np.bincount(data.users, minlength=N), 1)
    return np.asarray(values - means[data.users])
