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
    attack,
    best_score,
    game_round,
    noise_of,
)

EPSILONS = (0.5, 2.0, 8.0)


def logits(shares):
    return np.asarray(np.log(shares) - np.log1p(-shares))


@pytest.mark.parametrize("known", [(5, 4, 1), (1, 1, 2)])
def test_the_attackers_belief_is_that_of_two_gaussians(known):
    """The log likelihood ratio is normal with mean d²/2 and standard deviation d."""
    noise = noise_of(2.0, 5e-6, 5, 5.0)
    assert noise == pytest.approx(5 * math.sqrt(5) / gaussian_mu(2.0, 5e-6))
    d = math.hypot(*known) / noise
    result = attack(known, noise, 40_000)
    ratios = logits(result.beliefs)
    assert ratios.std() == pytest.approx(d, rel=0.02)
    assert ratios.mean() == pytest.approx(d**2 / 2, abs=4 * d / 200)
    assert result.right == pytest.approx(norm.cdf(d / 2), abs=4 * 0.5 / math.sqrt(80_000))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_beliefs_pass_the_bound_only_by_delta(epsilon):
    """P[with you, past e^ε / (1 + e^ε)] less e^ε times the same without you is δ."""
    delta = 1e-2
    beliefs = attack((5,) * 5, noise_of(epsilon, delta, 5, 5.0), 400_000).beliefs
    past = beliefs > 1 / (1 + math.exp(-epsilon))
    slack = np.mean(past * -np.expm1(np.minimum(epsilon - logits(beliefs), 0)))
    assert slack == pytest.approx(delta, rel=0.06)


def test_without_noise_the_attacker_is_sure_and_right():
    result = attack((1, 1, 1), 0.0)
    assert (result.beliefs == 1).all() and result.right == 1


def share_won(epsilon, rounds):
    """How often somebody wins who takes the nearest of all possible sums."""
    count = 0
    for seed in range(rounds):
        it = game_round(epsilon, seed)
        distances = [*((it.sums - row) @ (it.sums - row) for row in it.suspects), it.sums @ it.sums]
        nearest = int(np.argmin(distances))
        assert nearest == it.best_guess
        count += nearest == it.answer
    return count / rounds


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_player_wins_more_than_the_bound(epsilon):
    share = share_won(epsilon, 1_000)
    assert 0.24 < share < best_score(epsilon) + 4 * 0.5 / math.sqrt(1_000)
    assert best_score(epsilon) < best_score(2 * epsilon) < 1


def test_without_noise_the_best_player_wins_every_round():
    assert share_won(None, 500) == 1 == best_score(None)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("suspects", [1, 2, 3, 10])
def test_the_bound_is_the_maximum_over_all_ways_to_name_suspects(epsilon, suspects):
    mu = gaussian_mu(epsilon, 1e-5)

    def lost(q):
        named = norm.cdf(norm.ppf(q) + mu)
        return -float(1 - suspects * q + suspects * named) / (suspects + 1)

    inside = minimize_scalar(lost, bounds=(0, 1 / suspects), options={"xatol": 1e-12})
    score = best_score(epsilon, 1e-5, suspects)
    assert score == pytest.approx(-min(inside.fun, lost(1 / suspects)), abs=1e-6)
    if suspects == 1:  # in or out: the best test of two Gaussians
        assert score == pytest.approx(norm.cdf(mu / 2))
        assert score < 1 / (1 + math.exp(-epsilon))


def test_rounds_are_what_they_say():
    """Noise as large as is said, and each answer equally often."""
    rounds = [game_round(2.0, seed) for seed in range(3_000)]
    noise = [it.sums - (it.suspects[it.answer] if it.answer < SUSPECTS else 0.0) for it in rounds]
    expected = math.sqrt(FILMS_SEEN) / gaussian_mu(2.0, 1e-5)
    assert np.std(noise) == pytest.approx(expected, rel=0.015)
    assert all((it.suspects.sum(axis=1) == FILMS_SEEN).all() for it in rounds)
    counts = np.bincount([it.answer for it in rounds])
    assert len(counts) == SUSPECTS + 1
    assert np.abs(counts - 750).max() < 4 * math.sqrt(3_000 * 0.25 * 0.75)
