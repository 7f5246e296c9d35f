"""The public shape of private data, released instead of assumed: which items or words there are, and how many units.

Item sets and vocabularies by thresholded noisy counts (differentially private set union: Gopi et al. 2020), the number of units by a noisy count that is
raised above the truth. Both are releases of the run, before its algorithm's, and take stated shares of its budget.
"""

import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from dpmf_core.data import Ratings, keyed_uniform, rank_within_user
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Budget, Event, Noise, Relation, sequence
from dpmf_core.privacy.events import PaddedCount, ThresholdedCounts
from dpmf_core.samples import Samples, Texts, is_sparse

ITEMS, UNITS = "names and their weighted counts", "number of units"
ITEMS_SHARE, UNITS_SHARE = 0.15, 0.01  # of the total mu^2
FAILURE_SHARE = 0.05  # of delta, for each of the two
MOST_NAMES = 1000  # that one unit counts for; more would raise the threshold
ROWS_OF_PEOPLE = (
    "row_count=private releases how many rows there are, each a unit of its own. Where it is known whose each row is, a person brings several: declare how "
    "many people there are instead (people=N after the file's '?')."
)
Data = Ratings | Samples
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PublicShape:
    """What was released of the shape. units: how many rows there are from then on, None where their number is given.

    slots: which of these rows each unit takes: drawn at random, so that nobody's place depends on who else is there; secret on private data.
    kept: places of the kept items or words in the data as they were read, in their new order; None where all are kept.
    """

    units: int | None = None
    slots: int = 0
    kept: tuple[int, ...] | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """As a record holds it."""
        return cls(record["units"], record["slots"], None if record["kept"] is None else tuple(record["kept"]))

    @property
    def record(self) -> dict[str, Any]:
        return asdict(self)


def plan(budget: Budget | None, *, items: bool, units: bool) -> Event:
    """What is released before the algorithm. From the budget alone: how many units and names there are is what is to be found out."""
    if budget is None or not (items or units):
        return sequence()
    failure, kinds = FAILURE_SHARE * budget.delta, items + units
    if budget.epsilon + math.log1p(-kinds * failure) <= 0:
        raise BadInput(f"An epsilon of {budget.epsilon:g} leaves nothing for releasing the shape at this delta. Raise epsilon or lower delta.")
    left = budget.model_copy(update={"epsilon": budget.epsilon + math.log1p(-kinds * failure), "delta": budget.delta - kinds * failure})
    replaced = budget.relation is Relation.REPLACE_ONE

    def multiplier(share: float, factor: float) -> float:
        return (factor if replaced else 1.0) / (left.mu * math.sqrt(share))

    first = [PaddedCount(multiplier(UNITS_SHARE, 1.0), UNITS, 1.0, 1.0, failure)] if units else []
    second = [ThresholdedCounts(multiplier(ITEMS_SHARE, math.sqrt(2)), ITEMS, 1.0, math.sqrt(2), failure, MOST_NAMES)] if items else []
    return sequence(*first, *second)


def released(data: Data, noise: Noise, *, items: bool, units: bool, most: int | None, slots: int) -> PublicShape:
    """Draw what `plan` holds. most: keep at most so many items or words. Raises BadInput where too few pass the threshold."""
    if units and isinstance(data, Samples) and data.people is not None:
        raise BadInput(ROWS_OF_PEOPLE)
    count = (data.n_users if isinstance(data, Ratings) else len(data)) if units else None
    padded = None if count is None else _padded(count, noise, data.name)
    if not items:
        return PublicShape(padded, slots)
    counts = _of_ratings(data) if isinstance(data, Ratings) else _of_documents(data)
    what = "item" if isinstance(data, Ratings) else "word"
    return PublicShape(padded, slots, tuple(int(j) for j in _passing(counts, most, noise, what, data.name)))


def _of_ratings(ratings: Ratings) -> npt.NDArray[np.float64]:
    """The weighted count of every item (n_items,): a user adds 1 / sqrt(t) to each of her t items, of at most MOST_NAMES."""
    counted = ratings.only(rank_within_user(ratings, _order_of_names(ratings.labels or ratings.titles, ratings.n_items)[ratings.items]) < MOST_NAMES)
    weight = 1 / np.sqrt(np.maximum(np.diff(counted.by_user), 1))
    return np.asarray(np.bincount(counted.items, weight[counted.users], ratings.n_items), np.float64)


def _of_documents(samples: Samples) -> npt.NDArray[np.float64]:
    """The weighted count of every word (n_features,): a document adds 1 / sqrt(t) to each of its t different words, of at most MOST_NAMES.

    Where it is known whose the documents are, a person does, for the words of all of hers.
    """
    rows, words = (np.asarray(part, np.int64) for part in samples.X.nonzero())
    if samples.people is not None:
        rows, words = np.divmod(np.unique(samples.people[rows].astype(np.int64) * samples.X.shape[1] + words), samples.X.shape[1])
    units = samples.shape.n_units
    order = np.lexsort((_order_of_names(samples.vocabulary, samples.X.shape[1])[words], rows))
    rows, words = rows[order], words[order]
    starts = np.searchsorted(rows, np.arange(units))
    few = np.arange(len(rows)) - starts[rows] < MOST_NAMES
    rows, words = rows[few], words[few]
    weight = 1 / np.sqrt(np.maximum(np.bincount(rows, minlength=units), 1))
    return np.asarray(np.bincount(words, weight[rows], samples.X.shape[1]), np.float64)


def _order_of_names(names: tuple[str, ...] | None, count: int) -> npt.NDArray[np.float64]:
    """A number in [0, 1) for each item or word that follows from its name alone: its place in the list depends on who else is there."""
    ids = np.arange(count) if names is None else np.array([zlib.crc32(name.encode()) for name in names], np.int64)
    return keyed_uniform(2, 0, ids)


def _passing(counts: npt.NDArray[np.float64], most: int | None, noise: Noise, what: str, name: str) -> Ints:
    kept, _ = noise.thresholded(ITEMS, counts)
    if len(kept) < 2:
        raise BadInput(
            f"Fewer than two {what}s of {name} are counted often enough to be named at this epsilon and delta. "
            f"Raise epsilon, or take the {what}s as public: item_choice=exact."
        )
    return np.asarray(kept[:most], np.int64)


def _padded(count: int, noise: Noise, name: str) -> int:
    units = noise.padded_count(UNITS, count)
    if units < count:
        raise BadInput(f"The noisy number of rows of {name} fell below the true one, as it may once in many runs. Start the run again.")
    return units


def reshaped(data: Data, shape: PublicShape) -> Data:
    """The data in the shape that was released: units in their rows, rows that nobody filled empty, only the kept items or words in their new order."""
    if shape.units is not None:
        data = _ratings_in_slots(data, shape) if isinstance(data, Ratings) else _samples_in_slots(data, shape)
    if shape.kept is None:
        return data
    if isinstance(data, Samples):
        return data.features(np.array(shape.kept))
    kept = data.keeping(np.array(shape.kept))
    return kept if kept.public or kept.labels is None else replace(kept, titles=kept.labels)  # a title is some user's row, an id is what was counted


def slots(shape: PublicShape, count: int) -> Ints:
    """The row of each of `count` units: the places of the smallest of as many hashed numbers as there are rows."""
    if shape.units is None:
        return np.arange(count)
    return np.argsort(keyed_uniform(shape.slots, np.arange(shape.units)), kind="stable")[:count]


def _ratings_in_slots(ratings: Ratings, shape: PublicShape) -> Ratings:
    users = slots(shape, ratings.n_users)[ratings.users]
    order = np.lexsort((ratings.items, users))
    return replace(
        ratings, users=users[order].astype(np.int32), items=ratings.items[order], values=ratings.values[order],
        order=None if ratings.order is None else ratings.order[order], n_users=shape.units or ratings.n_users,
    )  # fmt: skip


def _samples_in_slots(samples: Samples, shape: PublicShape) -> Samples:
    """Empty rows below, then every row at its place."""
    count, extra = len(samples), (shape.units or len(samples)) - len(samples)
    row = np.full(count + extra, count, np.int64)
    row[slots(shape, count)] = np.arange(count)
    row[row == count] = np.arange(count, count + extra)

    def longer(matrix: Any) -> Any:
        empty = (extra, samples.X.shape[1])
        return csr_array(vstack([matrix, csr_array(empty, dtype=np.float32)])) if is_sparse(matrix) else np.vstack([matrix, np.zeros(empty, np.float32)])

    texts, titles = samples.texts, samples.titles
    padded = replace(
        samples, X=longer(samples.X), clean=None if samples.clean is None else longer(samples.clean),
        titles=None if titles is None else (*titles, *("(empty)",) * extra),
        texts=None if texts is None else Texts(texts.words, texts.ids, np.append(texts.starts, np.full(extra, texts.starts[-1]))),
    )  # fmt: skip
    return padded.rows(row)
