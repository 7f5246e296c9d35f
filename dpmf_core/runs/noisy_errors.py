"""Errors of runs on private ratings, released with noise.

Each is a separate release and enters the account of its data.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms.baselines import UserMean
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Block, Blocks, NoisyCurator, in_memory
from dpmf_core.data import PartitionedRatings
from dpmf_core.data.catalogue import is_own
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import Split, SplitSpec
from dpmf_core.evaluation.blocks import split_part
from dpmf_core.privacy import Event, Noise, Relation
from dpmf_core.privacy.accounts import LedgerFile, charging
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.data_access import data_of, open_anywhere, split_of
from dpmf_core.runs.paired_errors import NoisyError, PairedErrors, PairedSums
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import seeds

NONE = "none: they are computed on private data without noise"


def score_event(noise_multiplier: float) -> Event:
    """One release of held-out errors."""
    return PairedErrors().event(noise_multiplier)


def score_deviation(
    noise_multiplier: float, error: float, n_users: int, half_range: float
) -> float:
    """The standard deviation of a held-out RMSE under the noise of `score_event`.

    It holds to first order, if every user has a held-out rating. With m = (error / half_range)^2
    the sums are n m and n (1 - m). The noisy m deviates by z sqrt(m^2 + (1 - m)^2) / n.
    """
    mean = min((error / half_range) ** 2, 1.0)
    deviation = noise_multiplier * math.hypot(mean, 1 - mean) / n_users
    return half_range**2 * deviation / (2 * error)


@dataclass(frozen=True)
class Score:
    """A run's held-out RMSE and the fall from each person's own mean, by one release.

    People have equal weight.

    Attributes
    ----------
    error
        The run's held-out RMSE.
    fall
        How far it lies below the RMSE of people's own means. It is known better than both, because
        differences are clipped person by person.
    """

    error: NoisyError
    fall: NoisyError

    @property
    def floor(self) -> float:
        """The held-out RMSE of each person's own mean."""
        return self.error.value + self.fall.value

    @property
    def columns(self) -> dict[str, float]:
        """The score as columns of a table."""
        return {
            "noisy_rmse": self.error.value,
            "noisy_floor": self.floor,
            "noisy_fall": self.fall.value,
            "noisy_fall_low": self.fall.low,
            "noisy_fall_high": self.fall.high,
        }

    @property
    def floor_words(self) -> str:
        """How the run compares with each person's own mean."""
        fall = self.fall
        return (
            f"Each person's own mean, on the same ratings with the same noise: {self.floor:.2f}."
            f" The error is {fall.value:.3f} lower ({fall.low:.3f} to {fall.high:.3f}: 95% of the"
            " added noise)."
        )


def noisy_score(run: Run, noise: Noise) -> Score:
    """`PairedErrors` with the noise of `score_event`, as errors."""
    curator = NoisyCurator(people_of(run), noise)
    sums = PairedSums.released(curator, noise, run.model)
    return Score(sums.error, sums.fall)


@dataclass(frozen=True)
class SplitParts(Sequence[Block]):
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
        tables = _tables(parts)
        return Block(part.ids, tables, self.ratings.n_users).checked()


def people_of(run: Run) -> Blocks:
    """The training ratings and the held-out ratings of all users."""
    if isinstance(data := data_of(run), PartitionedRatings):
        seed = seeds(run.spec.seed).split
        return Blocks(data.shape, SplitParts(data, run.spec.split, seed))
    parts = split_of(run)
    return in_memory(_tables(parts))


def _tables(parts: Split) -> dict[str, Ratings]:
    """What people know, under both names that statistics use, and their held-out ratings."""
    return {"train": parts.history, "history": parts.history, "test": parts.test}


def refusal(run: Run) -> str:
    """Why the run's error cannot be released with noise; '' if it can."""
    record = run.record
    if record.public:
        return "its data are public, so its errors are shown without noise"
    if algorithms.find(run.spec.algorithm).task != "ratings":
        return "noisy errors exist only for held-out ratings"
    if not record.guarantee.has_epsilon:
        return "its releases have no proof, so any user's rating may have changed its error"
    if run.spec.budget is None:
        return "it has no delta; its error is released next to that of a private run's seed"
    return ""


def event(run: Run, epsilon: float) -> Event:
    """The release of one error at `epsilon`, with the run's own delta."""
    budget = run.spec.budget
    assert budget is not None  # `refusal`
    if not 0 < epsilon <= 100:
        raise BadInput(
            f"The epsilon of an error must be above 0 and at most 100. Got {epsilon:g}."
        )
    is_replaced = budget.relation is Relation.REPLACE_ONE
    moves = 1.0
    if is_replaced:
        moves = PairedErrors().replace_one_factor
    return score_event(moves / gaussian_mu(epsilon, budget.delta))


def charge(run: Run, epsilon: float) -> Charge:
    """The charge of releasing the run's error."""
    title = f"error of {run.record.title}"
    return Charge.of(title, event(run, epsilon), run.record.guarantee, run.spec.budget)


def release(
    runs: Mapping[str, Run], epsilon: float, ledger: LedgerFile = None
) -> dict[str, Score]:
    """The noisy score of every run that can have one, by name; each costs epsilon, every time.

    Each comes with the error of own means for the same people. A run of own means has the one that
    came with the first run of its split, at no cost. Raises BadInput if a budget does not allow a
    release; earlier ones stay released.
    """
    scores: dict[str, Score] = {}
    floors: dict[Hashable, float] = {}
    for name, run in runs.items():
        if refusal(run):
            continue
        data = open_anywhere(run.spec.data)
        with charging(
            data, charge(run, epsilon), ledger, lasting=not is_own(run.spec.data.id)
        ) as paid:
            scores[name] = noisy_score(run, paid.noise(event(run, epsilon)))
        floors.setdefault(_split_key(run), scores[name].floor)
    for name, run in runs.items():
        is_floor = run.spec.algorithm == UserMean.id and not run.record.public
        floor = floors.get(_split_key(run))
        if is_floor and floor is not None:
            same = NoisyError(floor, math.nan, math.nan)
            scores[name] = Score(same, NoisyError(0.0, 0.0, 0.0))
    return scores


def _split_key(run: Run) -> Hashable:
    """What is equal for runs that are judged on the same held-out ratings."""
    spec = run.spec
    return spec.data, spec.split, seeds(spec.seed).split, run.record.released_shape


def words(run: Run, epsilon: float | None, released: bool) -> str:
    """The text that a table prints about the errors of a run on private data.

    Parameters
    ----------
    run
        The run.
    epsilon
        The epsilon at which errors were requested; None if they were not.
    released
        Whether this run's error was released.

    Returns
    -------
    str
        The text, with the reason if there is no error.
    """
    if released and epsilon is not None:
        return f"with noise, epsilon {budget_text(epsilon)} each, by user"
    why = refusal(run) if epsilon is not None else ""
    if why:
        return f"none: {why}"
    return NONE
