"""A fitted model on one block: the parts that sums of metrics need, each computed once.

Computed on raw data, never released.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.algorithms.base import user_means
from dpmf_core.algorithms.components import Components, Own
from dpmf_core.base.arrays import Array, Doubles, Flags
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.data.splits import Split
from dpmf_core.evaluation import metrics, part_metrics
from dpmf_core.evaluation.blocks import InMemory, SplitBlock, SplitBlocks
from dpmf_core.evaluation.metrics import ErrorsByUser

BUCKETS = 4  # of users by activity, and of items by popularity
BUSY = 0.9  # the quantile of activity above which a user is in the busiest tenth


@dataclass(frozen=True)
class DrawnUsers:
    """The users with the smallest keys, ties by number, in ascending order of numbers."""

    ids: Array
    keys: Array

    @classmethod
    def of(cls, ids: Array, keys: Array) -> Self:
        kept = np.lexsort((ids, keys))[: metrics.MAX_RANKED_USERS]
        kept = kept[np.argsort(ids[kept])]
        return cls(ids[kept], keys[kept])

    def __add__(self, other: Self) -> Self:
        return self.of(
            np.concatenate([self.ids, other.ids]),
            np.concatenate([self.keys, other.keys]),
        )


@dataclass(frozen=True)
class RatingsFacts(metrics.BlockSums):
    """The facts about split ratings before any model exists: exact sums over blocks.

    Attributes
    ----------
    n_train, n_test : int
    words : str
        The split in words.
    popularity, test_counts : (n_items,)
        The numbers of each item's ratings in histories and held out.
    train_activity : (n_items + 1,)
        The number of users by their number of training ratings.
    test_activity : (n_items + 1,)
        The number of test ratings by the length of their users' histories.
    ranked : DrawnUsers
        The users whose lists are ranked. They have a relevant test item and the smallest hashes of
        (seed, user). The first ids would not be typical, because ids often follow the date of
        joining.
    means : (2,)
        `summed_means` of histories.
    """

    n_train: int
    n_test: int
    words: str
    popularity: Array
    test_counts: Array
    train_activity: Array
    test_activity: Array
    ranked: DrawnUsers
    means: Array

    @classmethod
    def of(cls, block: SplitBlock, seed: int) -> Self:
        """The facts of one block."""
        parts = block.split
        test = parts.test
        history = parts.history
        longest = test.n_items + 1
        active = history.user_counts[test.users]
        ids = block.ids[np.unique(test.users[metrics.relevant(test)])]
        return cls(
            len(parts.train),
            len(test),
            parts.words,
            history.item_counts,
            test.item_counts,
            np.bincount(parts.train.user_counts, minlength=longest),
            np.bincount(active, minlength=longest),
            DrawnUsers.of(ids, keyed_uniform(seed, ids)),
            metrics.summed_means(history),
        )

    @cached_property
    def mean(self) -> float:
        """The mean of people's means, in half-ranges from mid-range; 0 without people."""
        total, people = self.means.tolist()
        return float(total / metrics.STEPS_OF_MEANS / max(people, 1))

    @cached_property
    def busy(self) -> float:
        """The activity from which a user is in the busiest tenth."""
        counts = self.train_activity
        return float(
            metrics.quantiles_of(np.arange(len(counts)), counts, np.array([BUSY]))[0]
        )

    @cached_property
    def edges(self) -> dict[str, Array]:
        """Distinct quantiles, over test ratings, of users' activity and items' popularity."""
        shares = np.linspace(0, 1, BUCKETS + 1)
        sizes = np.arange(len(self.test_activity))
        order = np.argsort(self.popularity)
        activity = metrics.quantiles_of(sizes, self.test_activity, shares)
        popularity = metrics.quantiles_of(
            self.popularity[order], self.test_counts[order], shares
        )
        return {"activity": np.unique(activity), "popularity": np.unique(popularity)}

    @cached_property
    def rare(self) -> Flags:
        return metrics.rare_items(self.popularity)


class _OfSplit:
    """The parts of a split block."""

    block: Any

    @property
    def split(self) -> Split:
        split: Split = self.block.split
        return split

    @property
    def train(self) -> Ratings:
        return self.split.train

    @property
    def test(self) -> Ratings:
        return self.split.test


@dataclass(frozen=True)
class RatingsEvaluation(_OfSplit):
    """A recommender on ratings that a split held out, with the facts about all blocks."""

    model: Recommender
    block: SplitBlock
    facts: RatingsFacts

    @classmethod
    def facts_of(cls, blocks: SplitBlocks, seed: int) -> RatingsFacts:
        facts: RatingsFacts
        ((facts,),) = blocks.ask(
            _itself, (partial(RatingsFacts.of, seed=seed),), exact=True
        )
        return facts

    @cached_property
    def personal(self) -> Personal:
        """What each user computes from their own history."""
        return self.model.personal(self.split.history)

    @cached_property
    def predictions(self) -> Array:
        """Predictions of the test ratings (n_test,)."""
        return self.predict(self.test)

    @cached_property
    def train_errors(self) -> ErrorsByUser:
        """Errors of the training ratings."""
        return self.errors_of(self.train)

    @cached_property
    def validation_errors(self) -> ErrorsByUser:
        return self.errors_of(self.split.validation)

    @cached_property
    def test_errors(self) -> ErrorsByUser:
        return self.errors_of(self.test)

    def errors_of(self, part: Ratings) -> ErrorsByUser:
        """Errors of a part's ratings, in units of the ratings."""
        if not len(part):
            return ErrorsByUser.of(part, np.empty(0))
        model = self.model
        own = self.personal
        if not (model.is_bilinear and model.has_user_sides):  # needs no compiled code
            return ErrorsByUser.of(
                part, np.subtract(self.predict(part), part.values, dtype=float)
            )
        sums = kernels.error_sums(
            (
                model.centre,
                own.offsets,
                model.item_offsets,
                own.factors,
                model.item_sides,
            ),
            (part.by_user, part.items, part.values),
            model.bounds,
        )
        return ErrorsByUser(part.user_counts, *sums)

    def predict(self, part: Ratings) -> Array:
        """Predictions of a part's ratings (len(part),)."""
        return self.model.predict(self.personal, part.users, part.items)

    @cached_property
    def is_busy(self) -> Flags:
        """Which users are in the busiest tenth (n_users,)."""
        return self.train.user_counts >= self.facts.busy

    @property
    def lists(self) -> metrics.ListSums:
        """The lists of the users who were drawn."""
        users = np.flatnonzero(
            np.isin(self.block.ids, self.facts.ranked.ids, assume_unique=True)
        )
        return metrics.list_sums(
            self.model,
            self.personal,
            self.split.history,
            self.test.only(metrics.relevant(self.test)),
            users,
            self.facts.rare,
        )

    @property
    def own_mean_errors(self) -> ErrorsByUser:
        """Errors of each person's own mean on test ratings; mid-range without other ratings."""
        history = self.split.history
        shape = self.test.shape
        means = user_means(history, history.values - np.float32(shape.mid_range))
        return ErrorsByUser.of(
            self.test, shape.mid_range + means[self.test.users] - self.test.values
        )

    @property
    def constant_errors(self) -> ErrorsByUser:
        """Errors of the mean of people's means, one number for everyone, on test ratings."""
        shape = self.test.shape
        constant = shape.mid_range + shape.half_range * self.facts.mean
        return ErrorsByUser.of(self.test, constant - self.test.values)

    @cached_property
    def test_squares(self) -> Array:
        """Squared errors of the test ratings (n_test,)."""
        return np.square(
            np.subtract(self.predictions, self.test.values, dtype=np.float64)
        )


@dataclass(frozen=True)
class SampleFacts(metrics.BlockSums):
    """The facts about samples before any model exists.

    Attributes
    ----------
    rows : (n_features,)
        The sum of rows of norm 1.
    n_train, n_test : int
    words : str
    """

    rows: Array
    n_train: int
    n_test: int
    words: str

    @classmethod
    def of(cls, samples: Samples, *counts_and_words: Any) -> Self:
        rows = np.asarray(samples.scaled(samples.X, np.float64).sum(axis=0)).ravel()
        return cls(rows, *counts_and_words)

    @cached_property
    def mean(self) -> Array:
        """The mean row (1, n_features), of norm 1."""
        return np.asarray(self.rows / max(float(np.linalg.norm(self.rows)), 1e-300))[
            None
        ]


@dataclass(frozen=True)
class SamplesEvaluation:
    """Components on the samples themselves, without planted outliers."""

    model: Components
    block: Any
    facts: SampleFacts

    @classmethod
    def facts_of(cls, blocks: InMemory, seed: int) -> SampleFacts:
        if blocks.train.clean is None:
            planted = ""
        else:
            planted = ", without the planted outliers"
        return SampleFacts.of(
            blocks.train, 0, 0, f"evaluated on the training samples{planted}"
        )

    @property
    def samples(self) -> Samples:
        samples: Samples = self.block
        return samples

    @cached_property
    def own(self) -> Own:
        """Each sample's coefficients and detected outliers."""
        return self.model.personal(self.samples)

    @cached_property
    def errors(self) -> Doubles:
        """Half the squared distance of every row from its reconstruction (n,)."""
        target = part_metrics.target(self.samples)
        return part_metrics.errors(target, self.own.coefficients, self.model.basis)


class TableEvaluation(_OfSplit, SamplesEvaluation):
    """Components of a ratings table with zeros for missing ratings.

    They are judged on all cells, as in Saha & Imtiaz 2022, Table 4, and on held-out ratings.
    """

    @classmethod
    def facts_of(cls, blocks: SplitBlocks, seed: int) -> SampleFacts:
        (first,), *others = blocks.ask(_itself, (_table_facts,))
        facts: SampleFacts = sum((facts for (facts,) in others), first)
        return facts

    @property
    def samples(self) -> Samples:
        samples: Samples = self.block.table
        return samples

    @cached_property
    def test_errors(self) -> ErrorsByUser:
        predictions = np.clip(self._explained_values(self.test), *self.test.bounds)
        return ErrorsByUser.of(
            self.test, np.subtract(predictions, self.test.values, dtype=np.float64)
        )

    @cached_property
    def train_errors(self) -> ErrorsByUser:
        """Errors of the rated cells, not clipped, in units of the ratings."""
        return ErrorsByUser.of(
            self.train, self._explained_values(self.train) - self.train.values
        )

    def _explained_values(self, part: Ratings) -> Array:
        """The components' reconstruction of these cells (len(part),), in units of the ratings."""
        unit_values = kernels.predict_pairs(
            self.own.coefficients, self.model.basis.T, part.users, part.items
        )
        return unit_values * self.samples.norms[part.users]


def _itself(block: Any) -> Any:
    return block


def _table_facts(block: SplitBlock) -> SampleFacts:
    parts = block.split
    return SampleFacts.of(block.table, len(parts.train), len(parts.test), parts.words)
