"""Draws of a method: a planned one, a finished one, the figures of several, what they cost.

A draw is one run: a split of the data and, if the method is private, its noise.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.evaluation.paired_difference import PairedDifference
from dpmf_core.evaluation.registry import Metric
from dpmf_core.privacy import Calibration, Status
from dpmf_core.runs.references import is_proven
from dpmf_core.runs.specification import RunSpec, Value

HAVE_EPSILON = tuple(status for status in Status if status.has_epsilon)


@dataclass(frozen=True)
class Point:
    """A planned draw: a run and its place in the table.

    Attributes
    ----------
    spec
        The run.
    label
        The name of its line.
    epsilon
        None if nothing is released.
    grid
        The values of the parameters that vary.
    is_rival
        Whether it may be named as the best method. A person's own parameters may not.
    """

    spec: RunSpec
    label: str
    epsilon: float | None
    grid: Mapping[str, Value] = field(default_factory=dict)
    is_rival: bool = True

    @cached_property
    def key(self) -> str:
        """The specification as text: equal runs have equal keys."""
        return self.spec.model_dump_json()

    @cached_property
    def place(self) -> tuple[object, ...]:
        """What the draws of one method at one place share: everything but the seed."""
        parameters = tuple(sorted(self.spec.parameters.items()))
        method = (self.label, self.spec.algorithm, self.spec.without_noise, parameters)
        return method, self.spec.data, self.epsilon, tuple(self.grid.items())


@dataclass(frozen=True)
class Draw:
    """A finished draw.

    Attributes
    ----------
    point
        The planned draw.
    metrics
        Its held-out figures.
    total
        The exact total epsilon; None if it is not proved.
    caution
        Why the method's epsilon differs in meaning from the others'; '' if it does not.
    public
        Whether the data are public.
    """

    point: Point
    metrics: Mapping[str, int | float | None]
    total: float | None = None
    caution: str = ""
    public: bool = True

    @classmethod
    def of(cls, point: Point, summary: Mapping[str, Any]) -> "Draw":
        """A draw from the summary of its run (`record.summarise`)."""
        total = summary.get("epsilon")
        caution = ""
        if point.epsilon is not None:
            caution = _caution(point.spec, summary)
        return cls(
            point, summary["metrics"], total, caution, bool(summary.get("public", True))
        )

    def figure(self, metric: str) -> float | None:
        """A held-out figure; None if the run has none."""
        value = self.metrics.get(metric)
        if value is None or not math.isfinite(value):
            return None
        return float(value)


def _caution(spec: RunSpec, summary: Mapping[str, Any]) -> str:
    if summary.get("guarantee") not in HAVE_EPSILON:
        return "no proof"
    unit = str(summary.get("unit", "user"))
    if unit not in ("user", "person") and spec.kind.task == "ratings":
        return f"protects one {unit}"
    if not is_proven(spec.algorithm):
        return "its proof rests on conditions of its own"
    if spec.budget is not None and spec.budget.calibration is Calibration.SOURCE:
        return "its noise follows its source's rule"
    return ""


def may_rank(point: Point) -> bool:
    """Whether a planned draw takes part in the ranking once it has finished."""
    budget = point.spec.budget
    is_exact = budget is not None and budget.calibration is Calibration.EXACT
    return point.is_rival and is_exact and is_proven(point.spec.algorithm)


@dataclass(frozen=True)
class Measured:
    """A figure of one method at one place of the table: a value for each draw.

    Attributes
    ----------
    label
        The name of its line.
    algorithm
        The id of the algorithm.
    epsilon
        None if nothing is released.
    grid
        The values of the parameters that vary.
    draws
        The value of each draw.
    seeds
        The seeds of the draws, where they are known.
    parameters
        The method's parameters, including those of the grid.
    without_noise
        Whether the runs have neither noise nor budget.
    totals
        The exact epsilon of each draw.
    caution
        Why the method's epsilon differs in meaning from the others'; '' if it does not.
    is_rival
        Whether it may be named as the best method.
    """

    label: str
    algorithm: str
    epsilon: float | None
    grid: Mapping[str, Value]
    draws: tuple[float, ...]
    seeds: tuple[int, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    without_noise: bool = False
    totals: tuple[float | None, ...] = ()
    caution: str = ""
    is_rival: bool = True

    @property
    def title(self) -> str:
        """The algorithm's title."""
        return algorithms.find(self.algorithm).title

    @property
    def median(self) -> float:
        return statistics.median(self.draws)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.draws)

    @property
    def low(self) -> float:
        return min(self.draws)

    @property
    def high(self) -> float:
        return max(self.draws)

    @property
    def interval(self) -> tuple[float, float]:
        """Student's 95% interval of the mean over draws."""
        return PairedDifference(self.draws).interval

    @property
    def by_seed(self) -> dict[int, float]:
        return dict(zip(self.seeds, self.draws, strict=True))


def shared_seeds(*measured: Measured) -> list[int]:
    """The seeds of the draws that all of these share, ascending."""
    return sorted(set.intersection(*(set(one.seeds) for one in measured)))


def shared_draws(*measured: Measured) -> list[tuple[float, ...]]:
    """The figures of the draws that all of these share, ascending by seed."""
    figures = [one.by_seed for one in measured]
    return [
        tuple(of_one[seed] for of_one in figures) for seed in shared_seeds(*measured)
    ]


@dataclass(frozen=True)
class PrivacyCost:
    """What privacy costs a method, in units of a metric, as medians over the same draws.

    Attributes
    ----------
    metric
        The metric.
    private
        The figure of the private run.
    without_noise
        The figure of the same method without noise.
    best
        The figure of the best known method without privacy.
    floor
        The figure of the prediction that needs no model of others.
    """

    metric: Metric
    private: float
    without_noise: float
    best: float
    floor: float

    @classmethod
    def of(cls, metric: Metric, draws: Sequence[tuple[float, ...]]) -> "PrivacyCost":
        """Compute from (private, without noise, best, floor) of each draw; not empty.

        The medians are rounded so that printed figures add up.
        """
        medians = [statistics.median(column) for column in zip(*draws, strict=True)]
        return cls(metric, *(round(median, metric.digits) for median in medians))

    def _rise(self, worse: float, better: float) -> float:
        return round(self.metric.sign * (worse - better), self.metric.digits)

    @property
    def noise(self) -> float:
        """The cost of noise: the private run compared with the method without noise.

        Both have settings of their own, so it need not vanish as noise does, and may be negative.
        """
        return self._rise(self.private, self.without_noise)

    @property
    def method(self) -> float:
        """The cost of the method without noise, compared with the best known; below 0 if better."""
        return self._rise(self.without_noise, self.best)

    @property
    def not_sharing(self) -> float:
        """The cost of not sharing at all: the floor compared with the best known method."""
        return self._rise(self.floor, self.best)

    @property
    def total(self) -> float:
        """The cost of noise and method together."""
        return round(self.noise + self.method, self.metric.digits)


def is_trivial(algorithm: str) -> bool:
    """Whether this is a predictor that learns nothing of what people share."""
    kind = algorithms.REGISTRY.get(algorithm)
    return kind is not None and kind.is_trivial


def is_reference(algorithm: str) -> bool:
    """Whether private methods may be compared with this non-private, non-trivial method."""
    kind = algorithms.REGISTRY.get(algorithm)
    return (
        kind is not None
        and not kind.is_trivial
        and not issubclass(kind, PrivateAlgorithm)
    )
