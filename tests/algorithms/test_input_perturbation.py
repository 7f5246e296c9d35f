"""Laplace noise on every rating."""

import numpy as np
import pytest

from dpmf_core.algorithms import curator_for
from dpmf_core.algorithms.input_perturbation import (
    RATINGS,
    InputPerturbation,
    noisy_ratings,
)
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Budget, Noise, calibrate


def test_every_rating_carries_laplace_noise_of_the_range_over_epsilon() -> None:
    data = Ratings.of(
        np.repeat(np.arange(200), 50),
        np.tile(np.arange(50), 200),
        np.full(10_000, 3.0),
        n_users=200,
        n_items=50,
        bounds=(1, 5),
        public=True,
    )
    algorithm = InputPerturbation()
    level = calibrate(lambda at: algorithm.plan(data.shape, at), Budget(epsilon=2.0, delta=1e-9))
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(0))
    noise_sizes = np.abs(
        noisy_ratings(curator_for(algorithm, data, noise), clamp=False).values.astype(float) - 3.0
    )
    scale = 4 / 2.0  # range over epsilon
    assert noise_sizes.mean() == pytest.approx(scale, rel=4 / np.sqrt(10_000))
    assert noise_sizes.mean() != pytest.approx(scale * 1.05, rel=4 / np.sqrt(10000))
    assert noise.ledger[0][0].statistic == RATINGS
