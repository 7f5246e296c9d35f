"""One fit, as tests look at it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmf_core.algorithms import REGISTRY, Algorithm, Streams, train
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Noise
from dpmf_core.privacy.events import Ledger


@dataclass(frozen=True)
class FitResult:
    """The result of a fit, and what its noise spent."""

    model: Any
    ledger: Ledger = ()


def fit(algorithm: Algorithm, data: Any, noise: Noise, rng: Streams) -> FitResult:
    model = train(algorithm, data, noise, rng)
    return FitResult(model, noise.ledger)


def fit_by_name(
    name: str, data: Ratings, level: float = 1.0, seed: int = 0, **parameters: Any
) -> FitResult:
    """An algorithm of the registry at a level of noise; seed: of starts, noise and samples."""
    algorithm = REGISTRY[name](**parameters)
    plan = algorithm.plan(data.shape, level)
    noise = Noise(plan, np.random.SeedSequence(seed))
    rng = Streams(np.random.default_rng(seed), seed)
    return fit(algorithm, data, noise, rng)


def trained(algorithm: Algorithm, data: Any, level: float = 1e-9, seed: int = 0) -> Any:
    """The model of an algorithm, with noise below rounding where no level is given."""
    plan = algorithm.plan(data.shape, level)
    noise = Noise(plan, np.random.SeedSequence(seed))
    rng = Streams(np.random.default_rng(seed), 1)
    return train(algorithm, data, noise, rng)
