"""Release the public shape of private data: the set of items or words, and the number of units.

Item sets and vocabularies come from thresholded noisy counts (differentially private set union:
Gopi et al. 2020), the number of units from a noisy count that is raised above the truth. Both are
releases of the run before its algorithm's, with fixed shares of its budget.
"""

import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Array, Ints
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.curator import (
    Block,
    NoisyCurator,
    Statistic,
    Totals,
    in_memory,
    in_parts,
    on_grid,
)
from dpmf_core.data import AnyData, Data, PartitionedRatings
from dpmf_core.data.ratings import Ratings, Shape, rank_within_rows
from dpmf_core.data.samples import Samples, SampleShape
from dpmf_core.privacy import Budget, Event, Noise, Relation, sequence
from dpmf_core.privacy.failing_mechanisms import PaddedCount, ThresholdedCounts
from dpmf_core.runs.filters import PublicShape

ITEMS = "names and their weighted counts"
UNITS = "number of units"
# shares of the total mu^2
ITEMS_SHARE = 0.15
UNITS_SHARE = 0.01
FAILURE_SHARE = 0.05  # of delta, for each of the two
MOST_NAMES = 1000  # that count for one unit; more would raise the threshold
ROWS_OF_PEOPLE = (
    "row_count=private releases the number of rows and protects each row. If the data say which"
    " person each row belongs to, declare the number of people instead (people=N after the file's"
    " '?')."
)
# a public bound, because their number may be private; int32 numbers them
MOST_UNITS = 2**31


@dataclass(frozen=True)
class NameCounts(Statistic):
    """The weighted count of every item or word (n_names,).

    A unit adds 1 / sqrt(t) to each of its t names, of at most `most` that a hash of the names
    chooses. So it adds a vector of L2 norm at most 1 without negative entries. Replaced by another:
    ||a - b||^2 <= ||a||^2 + ||b||^2 <= 2, because <a, b> >= 0. If documents have people, a person
    is the unit, with the words of all their documents.
    docs/PRIVACY.md, "Names and their weighted counts".
    """

    name = ITEMS
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = math.sqrt(2)

    failure_probability: float
    most: int = MOST_NAMES

    def event(self, noise_multiplier: float) -> Event:
        scale = (noise_multiplier, self.name, self.sensitivity, self.replace_one_factor)
        return ThresholdedCounts(*scale, self.failure_probability, self.most)

    def empty(self, shape: Shape | SampleShape, order: Array) -> Totals:
        return (np.zeros(_n_names(shape)),)

    def add(self, block: Block, totals: Totals, order: Array) -> None:
        """Add the weighted counts of a block; `order` is `order_of_names` of all data together."""
        data: Data = block.rows
        n_units = len(block.ids)
        n_names = len(totals[0])
        units, names = _pairs(data)
        place = order[names]
        starts = np.searchsorted(units, np.arange(n_units + 1))
        few = rank_within_rows(starts, place) < self.most
        units = units[few]
        names = names[few]
        weight = 1 / np.sqrt(np.maximum(np.bincount(units, minlength=n_units), 1))
        weight = on_grid(weight, 1.0, MOST_UNITS)
        totals[0][:] += np.bincount(names, weight[units], n_names)


@dataclass(frozen=True)
class UnitCount(Statistic):
    """The number of units (1,): each adds 1, whatever its rows. Replacing a unit changes nothing.

    docs/PRIVACY.md, "Number of units".
    """

    name = UNITS
    sensitivity: ClassVar[float] = 1.0
    replace_one_factor = 1.0

    failure_probability: float

    def event(self, noise_multiplier: float) -> Event:
        scale = (noise_multiplier, self.name, self.sensitivity, self.replace_one_factor)
        return PaddedCount(*scale, self.failure_probability)

    def empty(self, shape: Shape | SampleShape) -> Totals:
        return (np.zeros(1),)

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += len(block.ids)


def _pairs(data: Data) -> tuple[Array, Array]:
    """Pairs of a unit and a name, once each, by ascending unit: (n_pairs,), (n_pairs,)."""
    if isinstance(data, Ratings):
        return data.users, data.items
    rows, words = (np.asarray(part, np.int64) for part in data.X.nonzero())
    if data.people is None:
        return rows, words
    n_words = data.X.shape[1]
    return np.divmod(
        np.unique(data.people[rows].astype(np.int64) * n_words + words), n_words
    )


def order_of_names(data: AnyData) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each item or word by a hash of its name.

    Its place in the list would depend on other units.
    """
    if isinstance(data, Samples):
        names = data.vocabulary
    else:
        names = data.labels or data.titles
    if names is None:
        return keyed_uniform(2, 0, np.arange(_n_names(data.shape)))
    return keyed_uniform(
        2, 0, np.array([zlib.crc32(name.encode()) for name in names], np.int64)
    )


def _n_names(shape: Shape | SampleShape) -> int:
    if isinstance(shape, Shape):
        return shape.n_items
    return shape.n_features


def plan(budget: Budget | None, *, items: bool, units: bool) -> Event:
    """The releases before the algorithm's.

    They depend only on the budget, because the numbers of units and names are not known yet.
    """
    if budget is None or not (items or units):
        return sequence()
    failure = failure_probability(budget)
    kinds = items + units
    left = {
        "epsilon": budget.epsilon + math.log1p(-kinds * failure),
        "delta": budget.delta - kinds * failure,
    }
    if left["epsilon"] <= 0:
        raise BadInput(
            f"An epsilon of {budget.epsilon:g} is too small to release the shape at this delta."
            " Raise epsilon or lower delta."
        )
    mu = budget.model_copy(update=left).mu
    is_replace_one = budget.relation is Relation.REPLACE_ONE
    if units:
        statistics: list[tuple[Statistic, float]] = [(UnitCount(failure), UNITS_SHARE)]
    else:
        statistics = []
    statistics += [(NameCounts(failure), ITEMS_SHARE)] if items else []
    return sequence(
        *(
            statistic.event(
                (statistic.replace_one_factor if is_replace_one else 1.0)
                / (mu * math.sqrt(share))
            )
            for statistic, share in statistics
        )
    )


def failure_probability(budget: Budget) -> float:
    """The failure probability of each release of the shape: a share of delta."""
    return FAILURE_SHARE * budget.delta


def release_shape(
    data: AnyData,
    noise: Noise,
    failure_probability: float,
    *,
    items: bool,
    units: bool,
    most: int | None,
    slots: int,
) -> PublicShape:
    """Draw the releases of `plan`.

    Parameters
    ----------
    data
        The private data.
    noise
        The noise of the releases.
    failure_probability
        The failure probability of each release.
    items
        Whether the set of items or words is released.
    units
        Whether the number of units is released.
    most
        The largest number of items or words to keep; None for no limit.
    slots
        The key by which units are placed in rows.

    Returns
    -------
    PublicShape
        The released shape.

    Raises
    ------
    BadInput
        If fewer than two items or words pass the threshold, if the noisy number of units falls
        below the true number, or if `units` is asked of samples that say which person each row
        belongs to.
    """
    if units and isinstance(data, Samples) and data.people is not None:
        raise BadInput(ROWS_OF_PEOPLE)
    # no state is stored, so nothing is written
    if isinstance(data, PartitionedRatings):
        people = in_parts(data, Path())
    else:
        people = in_memory(data)
    curator = NoisyCurator(people, noise)
    n_units = None
    if units:
        n_units = _padded_count(curator, UnitCount(failure_probability), data.name)
    if not items:
        return PublicShape(n_units, slots)
    kept_names = _passing(curator, NameCounts(failure_probability), data)
    return PublicShape(n_units, slots, tuple(int(j) for j in kept_names[:most]))


def _passing(curator: NoisyCurator, counts: NameCounts, data: AnyData) -> Ints:
    kept_names, _ = curator.names_over_threshold(counts, order_of_names(data))
    if len(kept_names) < 2:
        what = "word" if isinstance(data, Samples) else "item"
        raise BadInput(
            f"Fewer than two {what}s of {data.name} have high enough counts to be named at this"
            f" epsilon and delta. Raise epsilon, or treat the {what}s as public: item_choice=exact."
        )
    return np.asarray(kept_names, np.int64)


def _padded_count(curator: NoisyCurator, count: UnitCount, name: str) -> int:
    units = curator.padded_count(count)
    if units is None:
        raise BadInput(
            f"The noisy number of rows of {name} fell below the true number, which happens rarely."
            " Start the run again."
        )
    return units
