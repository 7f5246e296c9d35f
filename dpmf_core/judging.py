"""What a fitted model is judged by: held-out ratings, or how well clean samples are explained. Computed on raw data, never released."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dpmf_core import coherence, metrics, part_metrics
from dpmf_core.algorithms import Algorithm, Recommender
from dpmf_core.algorithms.parts import Own, Parts
from dpmf_core.data import Ratings, Split
from dpmf_core.errors import BadInput
from dpmf_core.samples import Samples, of_ratings

Figures = dict[str, float]
Buckets = dict[str, list[dict[str, float]]]


class Judge(Protocol):
    """`train` is what an algorithm may see; `words` say what it is judged on."""

    @property
    def train(self) -> Any: ...

    @property
    def words(self) -> str: ...

    def point(self, model: Any) -> Figures:
        """What is looked at after a step."""
        ...

    def figures(self, model: Any) -> tuple[Figures, Buckets]:
        """Everything about a finished model."""
        ...


@dataclass(frozen=True)
class ByRatings:
    """A recommender, by the ratings that a split held out. seed: the split's, which draws whose lists are ranked."""

    parts: Split
    seed: int = 0

    @property
    def train(self) -> Ratings:
        return self.parts.train

    @property
    def words(self) -> str:
        return self.parts.words

    def point(self, model: Recommender) -> Figures:
        personal = model.personal(self.parts.history)
        named = (("train_rmse", self.parts.train), ("validation_rmse", self.parts.validation), ("test_rmse", self.parts.test))
        return {name: metrics.rmse(model.predict(personal, part.users, part.items), part.values) for name, part in named if len(part)}

    def figures(self, model: Recommender) -> tuple[Figures, Buckets]:
        figures, buckets = metrics.evaluate(model, self.parts.history, self.parts.test, self.seed)
        personal, held = model.personal(self.parts.history), self.parts.validation
        if len(held):
            figures["validation_rmse"] = metrics.rmse(model.predict(personal, held.users, held.items), held.values)
        return figures | metrics.divergences(model, personal, self.parts.train, self.parts.test), buckets


@dataclass(frozen=True)
class BySamples:
    """Parts, by how well they explain the samples, clean of what was planted."""

    samples: Samples

    @property
    def train(self) -> Samples:
        return self.samples

    @property
    def words(self) -> str:
        return "judged on the samples themselves" + (", clean of planted outliers" if self.samples.clean is not None else "")

    def point(self, model: Parts) -> Figures:
        return {"objective": part_metrics.objective(model, self.samples)}

    def figures(self, model: Parts) -> tuple[Figures, Buckets]:
        figures = part_metrics.evaluate(model, self.samples)
        if self.samples.vocabulary is not None and self.samples.unit == "document":
            topics = coherence.top_words(model.basis, self.samples.vocabulary)
            found = coherence.coherence([[word for word, _ in topic] for topic in topics], self.samples)
            if found is not None:
                figures["coherence"] = found
        return figures, {}


@dataclass(frozen=True)
class ByTable:
    """Parts of a ratings table with zeros for what was not rated: by all cells, as Saha & Imtiaz 2022, Table 4, does, and by held-out ratings."""

    parts: Split

    @cached_property
    def train(self) -> Samples:
        return of_ratings(self.parts.train)

    @property
    def words(self) -> str:
        return f"ratings as samples, zeros where there are none; {self.parts.words}"

    def point(self, model: Parts) -> Figures:
        own = model.personal(self.train)
        return {"objective": part_metrics.objective(model, self.train, own), "test_rmse": self._held_out(model, own)}

    def figures(self, model: Parts) -> tuple[Figures, Buckets]:
        own = model.personal(self.train)
        cells = self.train.shape.n_samples * self.train.shape.n_features
        each = part_metrics.errors(part_metrics.target(self.train), own.coefficients, model.basis)
        scaled = 2 * float((each * part_metrics.source_scale(self.train)).sum())
        return part_metrics.evaluate(model, self.train) | {"rmse_all_cells": float(np.sqrt(scaled / cells)), "rmse": self._held_out(model, own)}, {}

    def _held_out(self, model: Parts, own: Own) -> float:
        test = self.parts.test
        predicted = np.einsum("rk,rk->r", own.coefficients[test.users], model.basis.T[test.items]) * self.train.norms[test.users]
        return metrics.rmse(np.clip(predicted, *test.bounds), test.values)


def suits(kind: type[Algorithm], data: Any, name: str) -> None:
    """Raises BadInput where an algorithm cannot read the data. Ratings can be taken as samples, samples not as ratings."""
    if kind.task == "ratings" and not isinstance(data, Ratings):
        raise BadInput(f"{kind.title} factorises ratings; {name} holds {data.unit}s. Use nmf, robust-nmf, dp-nmf or oneshot-nmf.")
