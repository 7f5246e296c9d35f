"""A fitted model beside what it is judged on: what every metric is computed from, each part once.

Computed on raw data, never released.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core import kernels
from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.algorithms.parts import Own, Parts
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.data.splits import Split
from dpmf_core.evaluation import metrics, part_metrics
from dpmf_core.evaluation.error_sums import ErrorsByUser

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class RatingsEvaluation:
    """A recommender on the ratings that a split held out.

    seed: the split's, which draws whose lists are ranked where there are more than are ranked.
    """

    model: Recommender
    split: Split
    seed: int = 0

    @cached_property
    def personal(self) -> Personal:
        """What each user computes from her own history."""
        return self.model.personal(self.split.history)

    @property
    def test(self) -> Ratings:
        return self.split.test

    @cached_property
    def predictions(self) -> Array:
        """Predictions of the test ratings (n_test,)."""
        return self.predict(self.test)

    @cached_property
    def train_errors(self) -> ErrorsByUser:
        """Of what was learned from."""
        return self.errors_of(self.train)

    @cached_property
    def validation_errors(self) -> ErrorsByUser:
        return self.errors_of(self.split.validation)

    @cached_property
    def test_errors(self) -> ErrorsByUser:
        return self.errors_of(self.test)

    def errors_of(self, part: Ratings) -> ErrorsByUser:
        """Of a part's ratings, in units of the ratings."""
        if not len(part):
            return ErrorsByUser.of(part, np.empty(0))
        model, own = self.model, self.personal
        if not (model.is_bilinear and model.has_user_sides):  # nothing is compiled for these
            return ErrorsByUser.of(part, np.subtract(self.predict(part), part.values, dtype=float))
        sums = kernels.error_sums(
            (model.centre, own.offsets, model.item_offsets, own.factors, model.item_sides),
            (part.by_user, part.items, part.values),
            model.bounds,
        )
        return ErrorsByUser(np.diff(part.by_user), *sums)

    def predict(self, part: Ratings) -> Array:
        """Predictions of a part's ratings (len(part),)."""
        return self.model.predict(self.personal, part.users, part.items)

    @property
    def train(self) -> Ratings:
        return self.split.train

    @cached_property
    def ranking(self) -> dict[str, float]:
        """Figures of lists of 20; empty where nobody has a relevant test item."""
        return metrics.ranking(
            self.model, self.personal, self.split.history, self.test, seed=self.seed
        )

    @cached_property
    def divergences(self) -> dict[str, float]:
        activity = np.diff(self.train.by_user)
        return metrics.divergences(activity, (self.train_errors, self.test_errors))


@dataclass(frozen=True)
class SamplesEvaluation:
    """Parts on the samples themselves, clean of what was planted."""

    model: Parts
    samples: Samples

    @cached_property
    def own(self) -> Own:
        """Each sample's coefficients, and what was set apart as outliers."""
        return self.model.personal(self.samples)

    @cached_property
    def errors(self) -> npt.NDArray[np.float64]:
        """Half the squared distance of every row from its explanation (n,)."""
        target = part_metrics.target(self.samples)
        return part_metrics.errors(target, self.own.coefficients, self.model.basis)

    @property
    def scaled_errors(self) -> npt.NDArray[np.float64]:
        """The same of rows that are scaled to maximum 1 (n,), as in Saha & Imtiaz 2022."""
        return np.asarray(self.errors * part_metrics.source_scale(self.samples))

    @cached_property
    def recovery(self) -> dict[str, float]:
        """How well planted outliers were found; empty where none were planted or sought."""
        return part_metrics.recovery(self.samples, self.own)


@dataclass(frozen=True)
class TableEvaluation(SamplesEvaluation):
    """Parts of a ratings table: on all its cells, and on held-out ratings."""

    split: Split

    @property
    def test(self) -> Ratings:
        return self.split.test

    @property
    def train(self) -> Ratings:
        return self.split.train

    @cached_property
    def predictions(self) -> Array:
        """Predictions of the test ratings (n_test,)."""
        return np.asarray(np.clip(self._explained_values(self.test), *self.test.bounds))

    @cached_property
    def test_errors(self) -> ErrorsByUser:
        return ErrorsByUser.of(
            self.test, np.subtract(self.predictions, self.test.values, dtype=np.float64)
        )

    @cached_property
    def train_errors(self) -> ErrorsByUser:
        """Of the rated cells, not clipped, in units of the ratings."""
        return ErrorsByUser.of(self.train, self._explained_values(self.train) - self.train.values)

    def _explained_values(self, part: Ratings) -> Array:
        """What the parts explain of these cells (len(part),), in units of the ratings."""
        unit_values = kernels.predict_pairs(
            self.own.coefficients, self.model.basis.T, part.users, part.items
        )
        return np.asarray(unit_values * self.samples.norms[part.users])
