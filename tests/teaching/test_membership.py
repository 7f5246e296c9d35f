"""The attacks on sums, against closed forms and against players written another way."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.teaching.membership import (
    FILMS_SEEN,
    SUSPECTS,
    best_score,
    game_round,
)

EPSILONS = (0.5, 2.0, 8.0)


def share_won(epsilon, rounds):
    """How often somebody wins who takes the nearest of all possible sums."""
    count = 0
    for seed in range(rounds):
        played = game_round(epsilon, seed)
        distances = []
        for row in played.suspects:
            away = played.sums - row
            distances.append(away @ away)
        distances.append(played.sums @ played.sums)
        nearest = int(np.argmin(distances))
        assert nearest == played.best_guess
        count += nearest == played.answer
    return count / rounds


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_player_wins_more_than_the_bound(epsilon):
    share = share_won(epsilon, 1_000)
    slack = 4 * 0.5 / math.sqrt(1_000)
    assert 0.24 < share < best_score(epsilon) + slack
    assert best_score(epsilon) < best_score(2 * epsilon) < 1


def test_without_noise_the_best_player_wins_every_round():
    assert share_won(None, 500) == 1
    assert best_score(None) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("suspects", [1, 2, 3, 10])
def test_the_bound_is_the_maximum_over_all_ways_to_name_suspects(epsilon, suspects):
    mu = gaussian_mu(epsilon, 1e-5)

    def lost(q):
        named = norm.cdf(norm.ppf(q) + mu)
        return -float(1 - suspects * q + suspects * named) / (suspects + 1)

    options = {"xatol": 1e-12}
    inside = minimize_scalar(lost, bounds=(0, 1 / suspects), options=options)
    score = best_score(epsilon, 1e-5, suspects)
    expected = -min(inside.fun, lost(1 / suspects))
    assert score == pytest.approx(expected, abs=1e-6)
    if suspects == 1:  # in or out: the best test of two Gaussians
        assert score == pytest.approx(norm.cdf(mu / 2))
        assert score < 1 / (1 + math.exp(-epsilon))


def test_rounds_are_what_they_say():
    """Noise as large as is said, and each answer equally often."""
    rounds = [game_round(2.0, seed) for seed in range(3_000)]
    noise = [
        played.sums
        - (played.suspects[played.answer] if played.answer < SUSPECTS else 0.0)
        for played in rounds
    ]
    expected = math.sqrt(FILMS_SEEN) / gaussian_mu(2.0, 1e-5)
    assert np.std(noise) == pytest.approx(expected, rel=0.015)
    for played in rounds:
        assert (played.suspects.sum(axis=1) == FILMS_SEEN).all()
    counts = np.bincount([played.answer for played in rounds])
    assert len(counts) == SUSPECTS + 1
    deviations = np.abs(counts - 750)
    assert deviations.max() < 4 * math.sqrt(3_000 * 0.25 * 0.75)
