"""Membership attacks on sums of a film club: the best attack, and a game."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.gaussian import gaussian_mu

MEMBERS = 60
FILMS = 12
Sums = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Club:
    """A film club before and after you joined.

    Attributes
    ----------
    others : (FILMS,)
        How many other members saw each film.
    published_sums : (FILMS,)
        The sums with you, possibly with noise.
    has_seen : bool (FILMS,)
        The films you saw.
    """

    others: Sums
    published_sums: Sums
    has_seen: npt.NDArray[np.bool_]

    @property
    def difference(self) -> Sums:
        """What remains for an attacker who knows all other members."""
        return self.published_sums - self.others


def club(films: tuple[int, ...], noise: float = 0.0, draw: int = 0) -> Club:
    """The club with you, who saw these films. `noise` is the standard deviation for every sum."""
    others = (
        np.random.default_rng(0)
        .binomial(MEMBERS, np.linspace(0.8, 0.2, FILMS))
        .astype(float)
    )
    has_seen = np.isin(np.arange(FILMS), films)
    noise_sample = np.zeros(FILMS)
    if noise:
        Gaussian.draw(np.random.default_rng((1, draw)), noise_sample, noise, 0.0)
    return Club(others, others + has_seen + noise_sample, has_seen)


def noise_of(
    epsilon: float, delta: float = 1e-5, films: int = FILMS, largest: float = 1.0
) -> float:
    """The standard deviation that every sum needs for a total epsilon.

    A member changes at most `films` sums by at most `largest` each: largest √films in L2 norm.
    """
    return largest * math.sqrt(films) / gaussian_mu(epsilon, delta)


def best_attack(epsilon: float, films: int = FILMS) -> float:
    """How often the best attacker is right about a person who saw `films` films.

    The prior is even. The likelihood ratio test of two Gaussians μ standard deviations apart is
    right with probability Φ(μ/2).
    """
    return float(ndtr(math.sqrt(films) / noise_of(epsilon) / 2))


# ---- the attack as a game ------------------------------------------------------------------------

# one suspect was in the data, or none; films that each of them saw
SUSPECTS = 3
FILMS_SEEN = 6


@dataclass(frozen=True)
class Round:
    """One round of the game.

    Attributes
    ----------
    suspects : bool (SUSPECTS, FILMS)
        The films that each suspect saw.
    sums : (FILMS,)
        The published sums minus everyone else's rows.
    answer : int
        The suspect in the data, from 0; SUSPECTS for none.
    """

    suspects: npt.NDArray[np.bool_]
    sums: Sums
    answer: int

    @property
    def best_guess(self) -> int:
        """The most likely answer: the nearest row, or none. All rows have equal length."""
        scores = [*(self.suspects @ self.sums - FILMS_SEEN / 2), 0.0]
        return int(np.argmax(scores))


def game_round(epsilon: float | None, seed: int, delta: float = 1e-5) -> Round:
    """Publish noisy sums of a club that one suspect, or none, has joined, each equally likely.

    Parameters
    ----------
    epsilon
        The epsilon of the sums; None publishes them without noise.
    seed
        The seed of the round.
    delta
        The delta of the sums.
    """
    rng = np.random.default_rng((3, seed))
    suspects = np.zeros((SUSPECTS, FILMS), np.bool_)
    while len(np.unique(suspects, axis=0)) < SUSPECTS:
        suspects = rng.permuted(
            np.tile(np.arange(FILMS) < FILMS_SEEN, (SUSPECTS, 1)), axis=1
        )
    answer = int(rng.integers(SUSPECTS + 1))
    sums = np.zeros(FILMS)
    if epsilon is not None:
        Gaussian.draw(rng, sums, noise_of(epsilon, delta, FILMS_SEEN), 0.0)
    if answer < SUSPECTS:
        sums += suspects[answer]
    return Round(suspects, sums, answer)


def best_score(
    epsilon: float | None, delta: float = 1e-5, suspects: int = SUSPECTS
) -> float:
    """The largest share of rounds that any player can win on average.

    Suppose a player names suspect i with probability q_i when none of them joined. By the trade-off
    curve of the noise they name i with probability at most Φ(Φ⁻¹(q_i) + μ) when i joined (Dong,
    Roth & Su 2019). The sum over all answers is concave in q, so its maximum has equal q_i. The
    slope is 0 at q = Φ(-μ/2), unless the q_i would then exceed 1 in total.
    """
    if epsilon is None:
        return 1.0
    mu = gaussian_mu(epsilon, delta)
    q = min(float(ndtr(-mu / 2)), 1 / suspects)
    power = 1.0 if q == 1 else float(ndtr(ndtri(q) + mu))
    return (1 - suspects * q + suspects * power) / (suspects + 1)
