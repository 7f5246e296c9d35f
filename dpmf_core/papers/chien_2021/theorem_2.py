"""Theorem 2 of Chien et al. 2021 in a world that meets its conditions.

The world: M = s t^T with signs s and t, every entry observed. Then r = 1, kappa = 1, mu = 1 and
p = 1, so p >= log^3 n / m where m >= log^3 n. Rank 5 and the share of observed entries of the
paper's own synthetic data do not meet the condition (`bounds.least_share`).
"""

import functools
import itertools
import math
from typing import Any

import numpy as np

from dpmf_core.algorithms import Streams, curator_for
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.dpals import DPALS
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import Curator
from dpmf_core.data.ratings import Ratings
from dpmf_core.papers.chien_2021 import bounds
from dpmf_core.papers.chien_2021.bounds import frobenius
from dpmf_core.papers.clauses import Results, judged, line, of_label
from dpmf_core.papers.figures import Claim
from dpmf_core.papers.theory import Exponent, Place, exponent, no_slower
from dpmf_core.privacy import Budget, Calibration
from dpmf_core.privacy.accounts import NoisePermit
from dpmf_core.runs.measurements import Measured

ITEMS = 600
EPSILON = 10.0
DELTA = 1e-5
USERS = (1_600, 2_500, 4_000)
DRAWS = 2
RELATIVE = "relative error"
LARGEST = "largest error of an entry"
DISTANCE = "Err(V*, V)"


def prescribed(at: Place) -> dict[str, Any]:
    """Theorem 2's parameters for C = 1, r = kappa = mu = 1 and entries of size 1.

    k = m p log n, at most what DPALS takes; T = log(n / eps). The largest singular value of M is
    sqrt(mn), so Gamma_u = sqrt(m) and Gamma_M = 1.
    """
    return {
        "ratings_per_user": math.ceil(at.items * at.share * math.log(at.users)),
        "steps": math.ceil(math.log(at.users / at.epsilon)),
        "clip_norm": math.sqrt(at.items),
        "rating_clip": 1.0,
    }


def signs(seed: int, number: int) -> Array:
    """Public signs, (number,)."""
    return np.where(keyed_uniform(seed, np.arange(number)) < 0.5, -1.0, 1.0)


def world(n_users: int, seed: int) -> Ratings:
    """S t^T, fully observed."""
    s = signs(2 * seed, n_users)
    t = signs(2 * seed + 1, ITEMS)
    users, items = np.divmod(np.arange(n_users * ITEMS), ITEMS)
    return Ratings.of(
        users,
        items,
        np.outer(s, t).ravel(),
        n_users=n_users,
        n_items=ITEMS,
        bounds=(-1.0, 1.0),
        public=True,
    )


def start_distance(n_users: int) -> float:
    """||(I - V* V*^T) V0|| as Theorem 2 allows it: 1 / (kappa^2 r^2 ln n)."""
    return 1 / math.log(n_users)


class FromAStart(DPALS):
    """DPALS from item factors near the true ones, as the theorem assumes."""

    def _start(self, curator: Curator, *others: object) -> Array:
        """T / sqrt(m), turned until ||(I - V* V*^T) V0|| = 1 / (kappa^2 r^2 ln n)."""
        shape = curator.shape
        t = signs(self.world_seed * 2 + 1, shape.n_items) / math.sqrt(shape.n_items)
        other = np.ones(shape.n_items) - t * t.sum()
        distance = start_distance(shape.n_users)
        turned = math.sqrt(1 - distance**2) * t + distance * other / np.linalg.norm(
            other
        )
        return np.asarray(turned[:, None], np.float32)

    world_seed: int = 0


@functools.lru_cache(maxsize=16)
def errors(n_users: int, seed: int) -> tuple[tuple[float, float], ...]:
    """Both errors after each step, of the users' own least squares on all their ratings.

    They are Err(V*, V), which is the relative Frobenius error for rank 1, and the largest error of
    an entry.
    """
    algorithm = FromAStart(
        **prescribed(place(n_users)),
        rank=1,
        biases=False,
        centring="none",
        gram_share=0.5,
        regularisation=1e-6,
        noise_ridge=0.0,
        user_regularisation=1e-6,
        resample=True,
        world_seed=seed,
    )
    data = world(n_users, seed)
    budget = Budget(
        epsilon=EPSILON,
        delta=DELTA,
        calibration=Calibration.SOURCE,
    )
    plan = algorithm.plan(data.shape, algorithm.source_level(data.shape, budget))
    noise = NoisePermit(private=not data.public).noise(
        plan, np.random.SeedSequence(seed)
    )
    curator = curator_for(algorithm, data, noise)
    fit = algorithm.fit(curator, Streams(np.random.default_rng(seed), seed))
    return tuple(errors_of(model, signs(2 * seed + 1, ITEMS)) for model in fit)


def errors_of(model: Recommender, t: Array) -> tuple[float, float]:
    """Err(V*, V) and the largest error of an entry, for the true signs t (m,) of the items."""
    V = model.item_factors[:, 0].astype(float)
    V /= np.linalg.norm(V)
    inner = float(V @ t) / math.sqrt(ITEMS)
    largest = float(np.abs(t - inner * math.sqrt(ITEMS) * V).max())
    return math.sqrt(max(0.0, 1 - inner**2)), largest


def place(n_users: float) -> Place:
    """The world's place in the bounds."""
    return Place(n_users, ITEMS, EPSILON, DELTA, share=1.0)


def last_errors() -> list[Measured]:
    """Both errors after the last step, by the number of users."""
    return [
        Measured(label, "dpals", EPSILON, {"users": n}, draws)
        for n in USERS
        for label, draws in zip(
            (RELATIVE, LARGEST),
            zip(*(errors(n, seed)[-1] for seed in range(DRAWS)), strict=True),
            strict=True,
        )
    ]


def by_step() -> list[Measured]:
    """Err(V*, V) after each step for the fewest users; step 0 is the start."""
    n = USERS[0]
    draws = [
        (start_distance(n), *(error for error, _ in errors(n, seed)))
        for seed in range(DRAWS)
    ]
    return [
        Measured(DISTANCE, "dpals", EPSILON, {"users": n, "step": step}, at_step)
        for step, at_step in enumerate(zip(*draws, strict=True))
    ]


# ---- what the theorem and its lemma state --------------------------------------------------------


def _exponents(results: Results) -> tuple[Exponent, float]:
    errors = of_label(results, RELATIVE)
    draws = [
        (float(result.grid["users"]), draw)
        for result in errors
        for draw in result.draws
    ]
    return exponent(draws), exponent((n, frobenius(place(n))) for n, _ in draws).value


def sketched_order(results: Results) -> str:
    """How the bound without one sqrt(m) compares with the same errors."""
    measured = line(results, RELATIVE, "users")
    limits = {n: frobenius(place(n)) / math.sqrt(ITEMS) for n in measured}
    ratio = max(measured[n] / limits[n] for n in measured)
    largest = max(line(results, LARGEST, "users").values())
    return (
        "Only how fast the error falls is judged: with C = 1 the bounds on the error and on its"
        " largest entry are above 1, which predicting 0 already meets. The largest error of an"
        f" entry is {largest:.2f}. The bound without one √m, γ log(1/δ) / (√p n ε), is"
        f" {limits[max(limits)]:.2f} for the most users; measured errors are at most {ratio:.0%} of"
        " it."
    )


def _contractions(results: Results) -> list[tuple[float, float]]:
    """Err(V*, V) of each step, and its limit: a quarter of the one before plus alpha."""
    n = next(
        float(result.grid["users"]) for result in results if result.label == DISTANCE
    )
    distances = list(line(results, DISTANCE, "step").values())
    alpha = bounds.noise_of_a_step(place(n), prescribed(place(n))["steps"])
    return [
        (after, before / 4 + alpha) for before, after in itertools.pairwise(distances)
    ]


OUTSIDE_LEMMA_4 = (
    f"Lemma 4 supposes Err(V*, V) ≤ 1/(κ² log² n) = {1 / math.log(USERS[0]) ** 2:.3f}, which"
    " no step here meets: Theorem 2's start is farther away, and α is larger. With C = 1, α is"
    " small enough from about 2.8 million users on, who rate all of 3,273 items."
)


CLAIMS = (
    Claim.of(
        __package__,
        "chien-theorem-2",
        compute=last_errors,
        clauses=(
            no_slower(
                "the error falls at least as fast with users n as the bound", _exponents
            ),
        ),
        remark=sketched_order,
    ),
    Claim.of(
        __package__,
        "chien-lemma-4",
        limits=OUTSIDE_LEMMA_4,
        compute=by_step,
        clauses=(
            judged(
                "after each step Err(V*, V) is at most a quarter of the one before, plus α with"
                " C = 1",
                _contractions,
                lambda steps: min(limit - after for after, limit in steps),
                lambda steps: ", ".join(
                    f"{after:.4f}, limit {value:.4f}" for after, value in steps
                ),
            ),
        ),
    ),
)
