"""What a fitted model is judged by: held-out ratings, or how well clean samples are explained.

Computed on raw data, never released.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from dpmf_core.algorithms import Algorithm, Recommender
from dpmf_core.algorithms.parts import Parts
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, of_ratings
from dpmf_core.data.splits import Split
from dpmf_core.errors import BadInput
from dpmf_core.evaluation import metrics, part_metrics
from dpmf_core.evaluation.evaluations import RatingsEvaluation, SamplesEvaluation, TableEvaluation
from dpmf_core.evaluation.registry import evaluate, held_out_rmse, objective

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
    """A recommender, by the ratings that a split held out. seed: the split's, which draws whose
    lists are ranked.
    """

    parts: Split
    seed: int = 0
    last: list[RatingsEvaluation] = field(default_factory=list, init=False, compare=False)

    @property
    def train(self) -> Ratings:
        return self.parts.train

    @property
    def words(self) -> str:
        return self.parts.words

    def _evaluation(self, model: Recommender) -> RatingsEvaluation:
        """Of a model, the same while it is the last: the last point and the figures share it."""
        if not (self.last and self.last[0].model is model):
            self.last[:] = [RatingsEvaluation(model, self.parts, self.seed)]
        return self.last[0]

    def point(self, model: Recommender) -> Figures:
        evaluation = self._evaluation(model)
        by_name = {
            "train_rmse": evaluation.train_errors,
            "validation_rmse": evaluation.validation_errors,
            "test_rmse": evaluation.test_errors,
        }
        sums = {name: errors.among() for name, errors in by_name.items()}
        return {name: each.rmse for name, each in sums.items() if each.count}

    def figures(self, model: Recommender) -> tuple[Figures, Buckets]:
        evaluation = self._evaluation(model)
        buckets = metrics.buckets(evaluation.predictions, self.parts.test, self.parts.history)
        return evaluate("ratings", evaluation), buckets


@dataclass(frozen=True)
class BySamples:
    """Parts, by how well they explain the samples, clean of what was planted."""

    samples: Samples

    @property
    def train(self) -> Samples:
        return self.samples

    @property
    def words(self) -> str:
        return "judged on the samples themselves" + (
            ", clean of planted outliers" if self.samples.clean is not None else ""
        )

    def point(self, model: Parts) -> Figures:
        return {"objective": part_metrics.objective(model, self.samples)}

    def figures(self, model: Parts) -> tuple[Figures, Buckets]:
        return evaluate("samples", SamplesEvaluation(model, self.samples)), {}


@dataclass(frozen=True)
class ByTable:
    """Parts of a ratings table with zeros for what was not rated: by all cells, as Saha &
    Imtiaz 2022, Table 4, does, and by held-out ratings.
    """

    parts: Split

    @cached_property
    def train(self) -> Samples:
        return of_ratings(self.parts.train)

    @property
    def words(self) -> str:
        return f"ratings as samples, zeros where there are none; {self.parts.words}"

    def point(self, model: Parts) -> Figures:
        evaluation = TableEvaluation(model, self.train, self.parts)
        return {"objective": objective(evaluation), "test_rmse": held_out_rmse(evaluation)}

    def figures(self, model: Parts) -> tuple[Figures, Buckets]:
        return evaluate("table", TableEvaluation(model, self.train, self.parts)), {}


def suits(kind: type[Algorithm], data: Any, name: str) -> None:
    """Raises BadInput where an algorithm cannot read the data.

    Ratings can be taken as samples, samples not as ratings.
    """
    if kind.task == "ratings" and not isinstance(data, Ratings):
        raise BadInput(
            f"{kind.title} factorises ratings; {name} holds {data.unit}s. Use nmf, robust-nmf,"
            " dp-nmf or oneshot-nmf."
        )
