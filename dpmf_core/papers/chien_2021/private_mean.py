"""The private mean of Chien et al. 2021, section 5.2, and one with enough noise, replayed.

Proof: docs/PRIVACY.md, "Noise of the private mean".
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpmf_core.algorithms.base import PrivateAlgorithm, Recommender, Streams
from dpmf_core.curator import Block, Curator, Statistic, Totals, on_grid
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.evaluation.audit.canaries import AttackTarget
from dpmf_core.evaluation.audit.canary_data import Pair
from dpmf_core.privacy import Budget, Event, Guarantee, Status, calibrate, sequence

RATINGS, USERS, BOUNDS = 50, 20, (1.0, 5.0)  # of a user, in the world that is replayed
Noise = Literal["one count", "every count"]


@dataclass(frozen=True)
class _Total(Statistic):
    """A sum over all ratings. A user has at most k, and moves it by up to k times the bound of one.

    docs/PRIVACY.md, "Noise of the private mean". noise: "every count" declares this; "one count"
    declares sqrt(k) times the bound, as in the source, for the correction to measure.
    """

    noise: Noise
    bound: float

    @property
    def sensitivity(self) -> float:
        factor = RATINGS if self.noise == "every count" else math.sqrt(RATINGS)
        return factor * self.bound

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(1),)


@dataclass(frozen=True)
class SumOfRatings(_Total):
    """The sum of ratings minus mid-range, (1,). docs/PRIVACY.md, "Noise of the private mean"."""

    name: ClassVar[str] = "sum of ratings"

    def add(self, block: Block, totals: Totals) -> None:
        deviations = block.rows.values - block.rows.shape.mid_range
        totals[0][:] += on_grid(deviations, self.bound, block.n_units).sum(dtype=float)


@dataclass(frozen=True)
class NumberOfRatings(_Total):
    """The number of all ratings, (1,). docs/PRIVACY.md, "Noise of the private mean"."""

    name: ClassVar[str] = "number of ratings"

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += len(block.rows)


class MeanOfRatings(PrivateAlgorithm):
    """The mean of all ratings as a quotient of two noisy totals."""

    id: ClassVar[str] = "mean-of-ratings"
    title: ClassVar[str] = "Mean of ratings"
    words: ClassVar[str] = "the quotient of a noisy sum and a noisy number of ratings"
    source: ClassVar[str] = "Chien et al. 2021, section 5.2"

    noise: Noise

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        return SumOfRatings(self.noise, shape.half_range), NumberOfRatings(self.noise, 1.0)

    def plan(self, shape: Shape, level: float) -> Event:
        each = level * math.sqrt(2)
        return sequence(*(statistic.event(each) for statistic in self.statistics(shape)))

    def guarantee(self) -> Guarantee:
        if self.noise == "every count":
            return Guarantee(Status.PROVEN, taken_as_public=("the most ratings of a user",))
        return Guarantee(
            Status.UNPROVEN,
            claim="differentially private",
            reason="the noise is for one count, and a user has many",
        )

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        total, count = (float(curator.release(it)[0]) for it in self.statistics(shape))
        nothing = np.zeros((shape.n_items, 0), np.float32)
        mean = shape.mid_range + float(np.clip(total / max(count, 1.0), *_half(shape)))
        yield Recommender(shape.bounds, mean, nothing[:, :0].sum(axis=1), nothing, None)


def _half(shape: Shape) -> tuple[float, float]:
    return -shape.half_range, shape.half_range


def replayed_mu(noise: Noise, epsilon: float, delta: float) -> float:
    """Return mu of what one user moved, relative to the noise drawn for epsilon.

    The releases of a world without the user are replayed on the world with the user.
    """
    pair = Pair("one user more, who rates everything highest", _world(False), _world(True))
    algorithm, shape = MeanOfRatings(noise=noise), pair.absent.shape
    level = calibrate(lambda at: algorithm.plan(shape, at), Budget(epsilon=epsilon, delta=delta))
    target = AttackTarget(algorithm, algorithm, algorithm.plan(shape, level), "none")
    return math.sqrt(target.training(pair, False, np.random.SeedSequence(0)).squared_mu)


def _world(present: bool) -> Ratings:
    """Return ratings in the middle for all; user 0 rates nothing, or everything highest."""
    users, items = np.divmod(np.arange(USERS * RATINGS), RATINGS)
    present_rows = users >= (0 if present else 1)
    values = np.where(users == 0, BOUNDS[1], sum(BOUNDS) / 2)
    return Ratings.of(
        users[present_rows],
        items[present_rows],
        values[present_rows],
        n_users=USERS,
        n_items=RATINGS,
        bounds=BOUNDS,
        public=True,
    )
