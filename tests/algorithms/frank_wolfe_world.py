"""A small low-rank world for the Frank-Wolfe family."""

from typing import Any

import numpy as np

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.frank_wolfe import FrankWolfeModel
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.evaluation.metrics import rmse
from dpmf_core.privacy import Budget, Calibration, Noise, calibrate
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
    assert isinstance(fit.model, FrankWolfeModel)
    return fit.model


def centred(data: Ratings) -> Array:
    """Ratings less mid-range and their user's mean."""
    values = data.values.astype(float) - 3.0
    means = np.bincount(data.users, values, N) / np.maximum(np.bincount(data.users, minlength=N), 1)
    return np.asarray(values - means[data.users])


def held_out(name: str, ratings: Ratings, budget: Budget, **parameters: Any) -> float:
    """RMSE on held-out ratings, at a budget."""
    algorithm = build(name, parameters, ratings.shape, budget)
    exact = budget.calibration is Calibration.EXACT
    level = (
        calibrate(lambda at: algorithm.plan(ratings.shape, at), budget)
        if exact
        else algorithm.source_level(ratings.shape, budget)
    )
    parts = split(ratings, SplitSpec(), 3)
    noise = Noise(algorithm.plan(ratings.shape, level), np.random.SeedSequence(5))
    model = train(algorithm, parts.train, noise, Streams(np.random.default_rng(0), 0))
    return rmse(
        model.predict(model.personal(parts.history), parts.test.users, parts.test.items),
        parts.test.values,
    )
