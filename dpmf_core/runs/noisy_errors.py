"""Errors of runs on private ratings, released with noise.

Each is a separate release and enters the account of its data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Blocks, NoisyCurator, Statistic, Totals, in_memory, on_grid
from dpmf_core.data import PartitionedRatings
from dpmf_core.data.catalogue import is_own
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.data.splits import SplitSpec
from dpmf_core.evaluation.blocks import split_part
from dpmf_core.privacy import Event, Noise, Relation
from dpmf_core.privacy.accounts import charging
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.data_access import data_of, open_anywhere, split_of
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import seeds

SCORES = "errors of the held-out ratings"
SIDES = 1.959964  # standard deviations that 5% of normal draws exceed
NONE = "none: they are computed on private data without noise"


@dataclass(frozen=True)
class HeldOutErrors(Statistic):
    """The sums of x and of 1 - x (2,) over the users with held-out ratings.

    x is a user's mean squared error over half-range^2, at most 1. ||(x, 1 - x)||^2 = 1 - 2 x (1 -
    x) <= 1. Replaced by another: (x - y, y - x), of norm at most sqrt(2), or at most 1 if one of
    the two has no held-out rating.

    This is (x - 1/2, 1/2), turned. With (x - 1/2, c) the mean error m has the squared deviation
    (1/4 + c^2) (1 + (m - 1/2)^2 / c^2) z^2 / n^2, for noise of multiplier z. At the worst m, 0 or
    1, c = 1/2 minimises it. docs/PRIVACY.md, "Errors of held-out ratings".
    """

    name: ClassVar[str] = SCORES
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor: ClassVar[float] = math.sqrt(2)

    def empty(self, shape: Shape, model: Recommender) -> Totals:
        return (np.zeros(2),)

    def add(self, block: Block, totals: Totals, model: Recommender) -> None:
        ratings: Ratings = block.tables["test"]
        personal = model.personal(block.tables["history"])
        errors = ratings.values - model.predict(personal, ratings.users, ratings.items)
        counts = np.diff(ratings.by_user)
        squares = np.bincount(ratings.users, errors.astype(np.float64) ** 2, ratings.n_users)
        means = squares / np.maximum(counts, 1) / ratings.shape.half_range**2
        clipped_means = on_grid(np.fmin(means, 1.0)[counts > 0], 1.0, block.n_units)
        totals[0][:] += clipped_means.sum(), (1.0 - clipped_means).sum()


def score_event(noise_multiplier: float) -> Event:
    """One release of held-out errors."""
    return HeldOutErrors().event(noise_multiplier)


def score_deviation(
    noise_multiplier: float, error: float, n_users: int, half_range: float
) -> float:
    """The standard deviation of a held-out RMSE under the noise of `score_event`.

    To first order, if every user has a held-out rating. With m = (error / half_range)^2 the sums
    are n m and n (1 - m), and the noisy m deviates by z sqrt(m^2 + (1 - m)^2) / n.
    """
    mean = min((error / half_range) ** 2, 1.0)
    deviation = noise_multiplier * math.hypot(mean, 1 - mean) / n_users
    return half_range**2 * deviation / (2 * error)


@dataclass(frozen=True)
class NoisyError:
    """A held-out RMSE released with noise, in units of a rating; users have equal weight.

    low, high: an interval that contains the true one in at least 95% of draws of the noise. It
    follows from the two noisy figures and the public scale of the noise.
    """

    value: float
    low: float
    high: float


def noisy_error(run: Run, noise: Noise) -> NoisyError:
    """`HeldOutErrors` with the noise of `score_event`, as an error."""
    people = _people(run)
    curator, statistic = NoisyCurator(people, noise), HeldOutErrors()
    scale = curator.scale(statistic)
    errors, rest = curator.release(statistic, run.model)
    return error_of_sums(errors, rest, scale, people.shape.half_range)


def error_of_sums(errors: float, rest: float, scale: float, half_range: float) -> NoisyError:
    """The error that two noisy sums of `HeldOutErrors` show, each with noise of deviation `scale`.

    docs/PRIVACY.md, "Errors of held-out ratings".
    """

    def error(angle: float) -> float:
        """The error of sums in the direction (sin, cos) of an angle, clipped to true directions."""
        angle = min(max(angle, 0.0), math.pi / 2)
        mean = math.sin(angle) / (math.sin(angle) + math.cos(angle))
        return half_range * math.sqrt(mean)

    angle = math.atan2(errors, rest) if errors + rest > 0 else math.pi / 4
    # the noisy sums are at most `far` away from the line through 0 and the true sums
    far = SIDES * scale
    width = math.asin(far / max(math.hypot(errors, rest), far))
    if errors + rest <= 0 or width > math.pi / 4:
        width = math.pi
    return NoisyError(error(angle), error(angle - width), error(angle + width))


@dataclass(frozen=True)
class _SplitParts(Sequence[Block]):
    """Partitions of ratings, each with its training and held-out ratings.

    Reading one raises OutsideDomain on rows that no proof covers.
    """

    ratings: PartitionedRatings
    how: SplitSpec
    seed: int

    def __len__(self) -> int:
        return len(self.ratings.parts)

    def __getitem__(self, place: Any) -> Any:
        part = self.ratings.parts[place]
        parts = split_part(part, self.how, self.seed)
        tables = {"history": parts.history, "test": parts.test}
        return Block(part.ids, tables, self.ratings.n_users).checked()


def _people(run: Run) -> Blocks:
    """The training ratings and the held-out ratings of all users."""
    if isinstance(data := data_of(run), PartitionedRatings):
        seed = seeds(run.spec.seed).split
        return Blocks(data.shape, _SplitParts(data, run.spec.split, seed))
    parts = split_of(run)
    return in_memory({"history": parts.history, "test": parts.test})


def refusal(run: Run) -> str:
    """Why the run's error cannot be released with noise; '' if it can."""
    record = run.record
    if record.public:
        return "its data are public, so its errors are shown without noise"
    if algorithms.find(run.spec.algorithm).task != "ratings":
        return "noisy errors exist only for held-out ratings"
    if run.spec.budget is None or not record.guarantee.has_epsilon:
        return "its releases have no proof, so any user's rating may have changed its error"
    return ""


def event(run: Run, epsilon: float) -> Event:
    """The release of one error at `epsilon`, with the run's own delta."""
    budget = run.spec.budget
    assert budget is not None  # `refusal`
    if not 0 < epsilon <= 100:
        raise BadInput(f"The epsilon of an error must be above 0 and at most 100. Got {epsilon:g}.")
    moves = HeldOutErrors.replace_one_factor if budget.relation is Relation.REPLACE_ONE else 1.0
    return score_event(moves / gaussian_mu(epsilon, budget.delta))


def charge(run: Run, epsilon: float) -> Charge:
    """The charge of releasing the run's error."""
    title = f"error of {run.record.title}"
    return Charge.of(title, event(run, epsilon), run.record.guarantee, run.spec.budget)


def release(
    runs: Mapping[str, Run], epsilon: float, ledger: str | Path | None = None
) -> dict[str, float]:
    """The noisy error of every run that can have one, by name; each costs epsilon, every time.

    Raises BadInput if a budget does not allow it; earlier releases stay released.
    """
    out = {}
    for name, run in runs.items():
        if refusal(run):
            continue
        data = open_anywhere(run.spec.data)
        with charging(
            data, charge(run, epsilon), ledger, lasting=not is_own(run.spec.data.id)
        ) as paid:
            out[name] = noisy_error(run, paid.noise(event(run, epsilon))).value
    return out


def words(run: Run, epsilon: float | None, released: bool) -> str:
    """What a table prints about the errors of a run on private data.

    epsilon: at which errors were requested; released: whether this one was.
    """
    if released and epsilon is not None:
        return f"with noise, epsilon {budget_text(epsilon)} each, by user"
    why = refusal(run) if epsilon is not None else ""
    return f"none: {why}" if why else NONE
