"""A recommender judged on ratings that are kept in parts: every figure is made of sums over parts.

Computed on raw data, never released.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms import Recommender
from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.data.partitioned import Part, PartitionedRatings, States
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.errors import BadInput
from dpmf_core.evaluation import metrics
from dpmf_core.evaluation.error_sums import ErrorSums, require_both, unit_row_sums
from dpmf_core.evaluation.evaluations import RatingsEvaluation
from dpmf_core.evaluation.registry import METRICS

Array = npt.NDArray[Any]
Figures = dict[str, float]
Buckets = dict[str, list[dict[str, float]]]
BUCKETS = 4  # of users by activity, and of items by popularity
BUSY = 0.9  # the quantile of activity above which a user is among the busiest


def require_splittable(how: SplitSpec, name: str) -> None:
    """Raises BadInput on a split that looks at all users' ratings together."""
    wrong = "window" if how.kind == "window" else "least_judged" if how.least_judged else ""
    if wrong:
        option = "--split window" if wrong == "window" else "--least-judged"
        raise BadInput(
            f"{option} looks at all ratings together, and {name} is kept in parts, of which one is"
            " in memory at a time. Split random, per-user, time or users."
        )


def groups_between(
    quantiles: Array, sizes: Array
) -> Iterator[tuple[float, float, npt.NDArray[np.bool_]]]:
    """From, to, and which `sizes` (n,) lie between, for neighbouring different quantiles."""
    edges = np.unique(quantiles)
    if len(edges) == 1:  # everybody alike
        edges = np.repeat(edges, 2)
    for low, high in itertools.pairwise(edges):
        yield low, high, (sizes >= low) & ((sizes < high) | (high == edges[-1]))


def _padded_sum(one: Array, other: Array) -> Array:
    """The sum of two counts of different lengths."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    longer = longer.copy()
    longer[: len(shorter)] += shorter
    return longer


@dataclass
class _Survey:
    """What is known of the split before any model is there."""

    n_items: int
    n_train: int = 0
    n_test: int = 0
    n_validation: int = 0
    words: str = ""
    train_activity: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    test_activity: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    ranked_ids: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # ids, ascending
    keys: Array = field(default_factory=lambda: np.zeros(0))  # their hashes

    def __post_init__(self) -> None:
        self.popularity, self.test_counts = (np.zeros(self.n_items, np.int64) for _ in range(2))

    def add(self, parts: Split, ids: Array, seed: int) -> None:
        train, test, history = parts.train, parts.test, parts.history
        self.words = parts.words
        self.n_train += len(train)
        self.n_test += len(test)
        self.n_validation += len(parts.validation)
        self.popularity += np.bincount(history.items, minlength=self.n_items)
        self.test_counts += np.bincount(test.items, minlength=self.n_items)
        self.train_activity = _padded_sum(self.train_activity, np.bincount(np.diff(train.by_user)))
        active = np.diff(history.by_user)[test.users]
        self.test_activity = _padded_sum(self.test_activity, np.bincount(active))
        self._rank(ids[np.unique(test.users[metrics.relevant(test)])], seed)

    def merge(self, other: "_Survey") -> None:
        """Add what is known of other parts."""
        self.words = other.words or self.words
        self.n_train += other.n_train
        self.n_test += other.n_test
        self.n_validation += other.n_validation
        self.popularity += other.popularity
        self.test_counts += other.test_counts
        self.train_activity = _padded_sum(self.train_activity, other.train_activity)
        self.test_activity = _padded_sum(self.test_activity, other.test_activity)
        self._keep_smallest(other.ranked_ids, other.keys)

    def _rank(self, ids: Array, seed: int) -> None:
        self._keep_smallest(ids, keyed_uniform(seed, ids))

    def _keep_smallest(self, ids: Array, keys: Array) -> None:
        """Of all users with a relevant item those with the smallest hashes."""
        ids, keys = np.concatenate([self.ranked_ids, ids]), np.concatenate([self.keys, keys])
        order = np.lexsort((ids, keys))[: metrics.MAX_RANKED_USERS]
        order = order[np.argsort(ids[order])]
        self.ranked_ids, self.keys = ids[order], keys[order]

    @property
    def busy(self) -> float:
        """The activity from which a user is among the busiest."""
        counts = self.train_activity
        return float(metrics.quantiles_of(np.arange(len(counts)), counts, np.array([BUSY]))[0])

    def edges(self, name: str) -> Array:
        """Quantiles, over test ratings, of their users' activity or their items' popularity."""
        shares = np.linspace(0, 1, BUCKETS + 1)
        if name == "activity":
            return metrics.quantiles_of(
                np.arange(len(self.test_activity)), self.test_activity, shares
            )
        order = np.argsort(self.popularity, kind="stable")
        return metrics.quantiles_of(self.popularity[order], self.test_counts[order], shares)


@dataclass(frozen=True, eq=False)
class _Groups:
    """By what users and items are told apart, from the survey of all parts. busy: the activity from
    which a user is among the busiest. edges: of buckets. rare: (n_items,) which items are.
    """

    busy: float
    edges: dict[str, Array]
    popularity: Array
    rare: Array
    ranked_ids: Array

    @classmethod
    def of(cls, survey: _Survey) -> "_Groups":
        return cls(
            survey.busy,
            {name: survey.edges(name) for name in ("activity", "popularity")},
            survey.popularity,
            metrics.rare_items(survey.popularity),
            survey.ranked_ids,
        )


class _Sums:
    """Of one model, over some parts."""

    def __init__(self) -> None:
        self.errors = {name: ErrorSums() for name in ("train", "validation", "test")}
        self.of_busy = {name: ErrorSums() for name in ("train", "test")}
        self.squares = self.n_rated = 0.0  # of rows of norm 1
        self.lists: list[metrics.RankedLists] = []
        self.buckets: dict[str, dict[tuple[float, float], ErrorSums]] = {
            "activity": {},
            "popularity": {},
        }

    @classmethod
    def of(cls, evaluation: RatingsEvaluation, ids: Array, groups: _Groups) -> "_Sums":
        """Over one part."""
        sums, parts = cls(), evaluation.split
        by_name = {
            "train": evaluation.train_errors,
            "validation": evaluation.validation_errors,
            "test": evaluation.test_errors,
        }
        busy = np.diff(parts.train.by_user) >= groups.busy
        sums.errors = {name: errors.among() for name, errors in by_name.items()}
        sums.of_busy = {name: by_name[name].among(busy) for name in sums.of_busy}
        sums.squares, sums.n_rated = unit_row_sums(parts.train, evaluation.train_errors)
        errors = np.subtract(evaluation.predictions, parts.test.values, dtype=np.float64)
        sums._add_buckets(parts, errors, groups)
        sums._add_lists(evaluation, ids, groups)
        return sums

    def merge(self, other: "_Sums") -> None:
        """Add those over other parts."""
        for name, errors in other.errors.items():
            self.errors[name].merge(errors)
        for name, errors in other.of_busy.items():
            self.of_busy[name].merge(errors)
        self.squares += other.squares
        self.n_rated += other.n_rated
        self.lists += other.lists
        for name, groups in other.buckets.items():
            for edges, errors in groups.items():
                self.buckets[name].setdefault(edges, ErrorSums()).merge(errors)

    def _add_buckets(self, parts: Split, errors: Array, groups: _Groups) -> None:
        test = parts.test
        sizes = {
            "activity": np.diff(parts.history.by_user)[test.users],
            "popularity": groups.popularity[test.items],
        }
        for name, size in sizes.items():
            for low, high, inside in groups_between(groups.edges[name], size):
                group = self.buckets[name].setdefault((float(low), float(high)), ErrorSums())
                group.add(errors[inside])

    def _add_lists(self, evaluation: RatingsEvaluation, ids: Array, groups: _Groups) -> None:
        users = np.flatnonzero(np.isin(ids, groups.ranked_ids, assume_unique=True))
        liked_ratings = evaluation.test.only(metrics.relevant(evaluation.test))
        self.lists.append(
            metrics.ranked_lists(
                evaluation.model,
                evaluation.personal,
                evaluation.split.history,
                liked_ratings,
                users,
                groups.rare,
            )
        )

    @property
    def figures(self) -> Figures:
        """By the metrics' ids, in their order."""
        test, train, validation = (self.errors[it] for it in ("test", "train", "validation"))
        values = {
            "rmse": test.rmse,
            "mae": test.mae,
            "test_ratings": test.count,
            "validation_rmse": validation.rmse,
            "kl": metrics.divergence(train, test),
            "kl_top_users": metrics.divergence(self.of_busy["train"], self.of_busy["test"]),
            "training_rmse": train.rmse,
            "unit_row_rmse": float(np.sqrt(self.squares / self.n_rated))
            if self.n_rated
            else np.nan,
            **metrics.figures_of_lists(self.lists),
        }
        return {name: values[name] for name in METRICS if np.isfinite(values.get(name, np.nan))}

    @property
    def point(self) -> Figures:
        by_name = {f"{name}_rmse": sums.rmse for name, sums in self.errors.items()}
        return {name: value for name, value in by_name.items() if np.isfinite(value)}

    @property
    def bucket_figures(self) -> Buckets:
        return {
            name: [
                {"from": low, "to": high, "rmse": sums.rmse, "ratings": sums.count}
                for (low, high), sums in groups.items()
            ]
            for name, groups in self.buckets.items()
        }


def split_part(part: Part, how: SplitSpec, seed: int) -> Split:
    """The split of one part, which is that of its users among all."""
    return split(part.rows, how, seed, part.ids)


def training_part(part: Part, how: SplitSpec, seed: int) -> Part:
    """What a split leaves of a part to train on."""
    return replace(part, rows=split_part(part, how, seed).train)


@dataclass(frozen=True)
class _Surveying:
    """A `Fold`: what is known of the split. n_items: of the ratings."""

    how: SplitSpec
    seed: int
    n_items: int

    def empty(self) -> _Survey:
        return _Survey(self.n_items)

    def add(self, total: _Survey, part: Part, states: States) -> None:
        total.add(split_part(part, self.how, self.seed), part.ids, self.seed)

    def merge(self, total: _Survey, other: _Survey) -> None:
        total.merge(other)


@dataclass(frozen=True, eq=False)
class _Judging:
    """A `Fold`: the sums of a model over each part, in their order, so that adding them up rounds
    the same wherever they were made.
    """

    model: Recommender
    how: SplitSpec
    seed: int
    groups: _Groups

    def empty(self) -> list[_Sums]:
        return []

    def add(self, total: list[_Sums], part: Part, states: States) -> None:
        parts = split_part(part, self.how, self.seed)
        evaluation = RatingsEvaluation(self.model, parts, self.seed)
        total.append(_Sums.of(evaluation, part.ids, self.groups))

    def merge(self, total: list[_Sums], other: list[_Sums]) -> None:
        total += other


class ByParts:
    """Judges a recommender by the ratings that a split holds out of each part. seed: the split's.

    Looks at all parts once before any model is there. Raises BadInput where nothing is left to
    train on or to test on, or the split looks at all ratings together.
    """

    def __init__(self, ratings: PartitionedRatings, how: SplitSpec, seed: int = 0) -> None:
        require_splittable(how, ratings.name)
        self._ratings, self._how, self._seed = ratings, how, seed
        self._last: tuple[Any, _Sums] | None = None
        self._survey: _Survey = ratings.fold(_Surveying(how, seed, ratings.n_items))
        require_both(self._survey.n_train, self._survey.n_test)
        self._groups = _Groups.of(self._survey)

    @property
    def train(self) -> PartitionedRatings:
        return self._ratings.with_change(partial(training_part, how=self._how, seed=self._seed))

    @property
    def words(self) -> str:
        return self._survey.words

    def point(self, model: Recommender) -> Figures:
        return self._sums(model).point

    def figures(self, model: Recommender) -> tuple[Figures, Buckets]:
        sums = self._sums(model)
        return sums.figures, sums.bucket_figures

    def _sums(self, model: Recommender) -> _Sums:
        """Of a model, the same while it is the last: the last point and the figures share them."""
        if self._last is None or self._last[0] is not model:
            sums = _Sums()
            for each in self._ratings.fold(_Judging(model, self._how, self._seed, self._groups)):
                sums.merge(each)
            self._last = model, sums
        return self._last[1]
