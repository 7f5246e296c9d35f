"""Parts of a ratings table that is kept in parts, judged as `judges.ByTable` does: every figure is
made of sums over parts of the table.

Computed on raw data, never released.
"""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.parts import Parts, coefficients
from dpmf_core.data.partitioned import Part, PartitionedRatings, PartitionedTable, States
from dpmf_core.data.samples import Samples, of_ratings
from dpmf_core.data.splits import SplitSpec
from dpmf_core.evaluation import part_metrics
from dpmf_core.evaluation.by_parts import (
    Buckets,
    Figures,
    require_splittable,
    split_part,
    training_part,
)
from dpmf_core.evaluation.error_sums import ErrorSums, require_both, unit_row_sums
from dpmf_core.evaluation.evaluations import TableEvaluation
from dpmf_core.evaluation.registry import METRICS

Array = npt.NDArray[Any]


@dataclass
class _Survey:
    """What is known of the split before any model is there. rows: the sum of users' rows of norm 1
    (n_items,), of each part, in their order.
    """

    n_train: int = 0
    n_test: int = 0
    words: str = ""
    rows: list[Array] = field(default_factory=list)


@dataclass(frozen=True)
class _Surveying:
    """A `Fold`: what is known of the split."""

    how: SplitSpec
    seed: int

    def empty(self) -> _Survey:
        return _Survey()

    def add(self, total: _Survey, part: Part, states: States) -> None:
        parts = split_part(part, self.how, self.seed)
        rows = _rows(of_ratings(parts.train)).sum(axis=0)
        each = _Survey(len(parts.train), len(parts.test), parts.words, [np.asarray(rows).ravel()])
        self.merge(total, each)

    def merge(self, total: _Survey, other: _Survey) -> None:
        total.n_train += other.n_train
        total.n_test += other.n_test
        total.words = other.words or total.words
        total.rows += other.rows


def _rows(samples: Samples) -> Any:
    return samples.scaled(samples.X, np.float64)


@dataclass
class _Sums:
    """Of one model. objective, source, trivial: sums over users."""

    n_users: int = 0
    objective: float = 0.0
    source: float = 0.0
    trivial: float = 0.0
    squares: float = 0.0
    n_rated: float = 0.0
    test: ErrorSums = field(default_factory=ErrorSums)
    train: ErrorSums = field(default_factory=ErrorSums)

    @classmethod
    def of(cls, evaluation: TableEvaluation, mean: Array) -> "_Sums":
        """Over one part. mean: the mean row (1, n_items), of norm 1."""
        sums, samples = cls(len(evaluation.samples)), evaluation.samples
        sums.objective, sums.source = (
            float(evaluation.errors.sum()),
            float(evaluation.scaled_errors.sum()),
        )
        target = part_metrics.target(samples)
        alone = part_metrics.errors(target, coefficients(target, mean), mean)
        sums.trivial = float(alone.sum())
        sums.test, sums.train = evaluation.test_errors.among(), evaluation.train_errors.among()
        sums.squares, sums.n_rated = unit_row_sums(evaluation.train, evaluation.train_errors)
        return sums

    def merge(self, other: "_Sums") -> None:
        self.n_users += other.n_users
        self.objective += other.objective
        self.source += other.source
        self.trivial += other.trivial
        self.squares += other.squares
        self.n_rated += other.n_rated
        self.test.merge(other.test)
        self.train.merge(other.train)

    @property
    def figures(self) -> Figures:
        """By the metrics' ids, in their order."""
        values = {
            "rmse": self.test.rmse,
            "objective": self.objective / self.n_users,
            "trivial_objective": self.trivial / self.n_users,
            "objective_source": self.source / self.n_users,
            "training_rmse": self.train.rmse,
            "unit_row_rmse": float(np.sqrt(self.squares / self.n_rated))
            if self.n_rated
            else np.nan,
        }
        return {name: values[name] for name in METRICS if np.isfinite(values.get(name, np.nan))}


@dataclass(frozen=True, eq=False)
class _Judging:
    """A `Fold`: the sums of a model over each part, in their order, so that adding them up rounds
    the same wherever they were made.
    """

    model: Parts
    how: SplitSpec
    seed: int
    mean: Array

    def empty(self) -> list[_Sums]:
        return []

    def add(self, total: list[_Sums], part: Part, states: States) -> None:
        parts = split_part(part, self.how, self.seed)
        evaluation = TableEvaluation(self.model, of_ratings(parts.train), parts)
        total.append(_Sums.of(evaluation, self.mean))

    def merge(self, total: list[_Sums], other: list[_Sums]) -> None:
        total += other


class TableByParts:
    """Judges parts of a ratings table by all cells, and by the ratings that a split holds out of
    each part. seed: the split's. Raises BadInput as `ByParts`, and where ratings may be negative.
    """

    def __init__(self, ratings: PartitionedRatings, how: SplitSpec, seed: int = 0) -> None:
        require_splittable(how, ratings.name)
        self._ratings, self._how, self._seed = ratings, how, seed
        self._last: tuple[Any, _Sums] | None = None
        self._survey: _Survey = ratings.fold(_Surveying(how, seed))
        require_both(self._survey.n_train, self._survey.n_test)

    @property
    def train(self) -> PartitionedTable:
        change = partial(training_part, how=self._how, seed=self._seed)
        return PartitionedTable(self._ratings.with_change(change))

    @property
    def words(self) -> str:
        return f"ratings as samples, zeros where there are none; {self._survey.words}"

    @cached_property
    def _mean(self) -> Array:
        """The mean row (1, n_items), of norm 1."""
        total = np.sum(self._survey.rows, axis=0).reshape(1, -1)
        return np.asarray(total / max(float(np.linalg.norm(total)), 1e-300))

    def point(self, model: Parts) -> Figures:
        sums = self._sums(model)
        return {"objective": sums.objective / sums.n_users, "test_rmse": sums.test.rmse}

    def figures(self, model: Parts) -> tuple[Figures, Buckets]:
        return self._sums(model).figures, {}

    def _sums(self, model: Parts) -> _Sums:
        """Of a model, the same while it is the last: the last point and the figures share them."""
        if self._last is None or self._last[0] is not model:
            sums = _Sums()
            for each in self._ratings.fold(_Judging(model, self._how, self._seed, self._mean)):
                sums.merge(each)
            self._last = model, sums
        return self._last[1]
