"""The specification of a search, and its best parameters compared with the recommended ones."""

import hashlib
import json
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput, checked, closest
from dpmf_core.base.frozen import Frozen
from dpmf_core.data.splits import SplitSpec
from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.privacy import Budget
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, ParameterValues, RunSpec, Value

MOST_TRIALS = 2000
MOST_DRAWS = 20
FRESH = 5  # draws of the comparison, which no trial has used


# a default range reaches from a quarter of the recommended value to four times that value
SPREAD = 4.0


class Interval(Frozen):
    """Numbers from low to high; whole ones if both ends are whole."""

    low: int | float
    high: int | float
    log: bool = False

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError("a range must be two numbers, the lower first")
        if self.log and self.low <= 0:
            raise ValueError("a logarithmic range must lie above 0")
        return self

    def draw(self, rng: np.random.Generator) -> Value:
        """A random number, uniform in the range or in its logarithm."""
        low = float(self.low)
        high = float(self.high)
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        if whole and not self.log:
            return int(rng.integers(int(low), int(high) + 1))
        if self.log:
            at = float(np.exp(rng.uniform(np.log(low), np.log(high))))
        else:
            at = float(rng.uniform(low, high))
        if whole:
            return int(min(max(round(at), low), high))
        return at


def random_value(
    values: Interval | tuple[Value, ...], rng: np.random.Generator
) -> Value:
    """A random number of a range, or one of some choices."""
    if isinstance(values, Interval):
        return values.draw(rng)
    return values[int(rng.integers(len(values)))]


class TuneSpec(Frozen):
    """One complete search, except for its length.

    Attributes
    ----------
    search
        A range or a list of choices, for each parameter that may vary.
    """

    data: DataSpec
    algorithm: str
    search: dict[str, Interval | tuple[Value, ...]]
    fixed: ParameterValues = Field(default_factory=dict)
    budget: Budget | None = None
    split: SplitSpec = SplitSpec(validation_fraction=0.1)
    seed: int = Field(
        0,
        ge=0,
        lt=2**62,
        description="seed of the first split and noise, and of the sampler",
    )
    draws: int = Field(
        3,
        ge=1,
        le=MOST_DRAWS,
        description="draws of split and noise in each trial",
    )
    sampler: Literal["tpe", "grid"] = Field(
        "tpe",
        description="tpe: Parzen estimators (Bergstra et al. 2011); grid: all combinations",
    )
    prune: bool = Field(
        True,
        description=(
            "stop a trial whose error curve lies above the median of earlier trials; not if the"
            " number of steps is searched"
        ),
    )

    @classmethod
    def parse(cls, **parts: Any) -> "TuneSpec":
        """A checked specification. Raises BadInput with the first problem."""
        spec = checked(cls, "the search", parts)
        spec.check()
        return spec

    @property
    def kind(self) -> type[Algorithm]:
        return algorithms.find(self.algorithm)

    @property
    def key(self) -> str:
        # the key of a search with one draw has no draws, as in older journals
        fields = self.model_dump(
            mode="json", exclude={"draws"} if self.draws == 1 else None
        )
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[
            :24
        ]

    @property
    def metric(self) -> str:
        """The metric to minimise."""
        if self.kind.task == "ratings":
            return "rmse"
        return "objective"

    def check(self) -> None:
        """Raise BadInput if nothing may vary, a name is unknown, or a grid is too large."""
        if not self.search:
            raise BadInput(
                "Nothing to search: name at least one parameter to search over."
            )
        fields = self.kind.model_fields
        for name in (*self.search, *self.fixed):
            if name not in fields:
                raise BadInput(
                    f"{self.kind.title} has no parameter '{name}'.{closest(name, fields)} It has:"
                    f" {', '.join(fields)}."
                )
        lists = [values for values in self.search.values() if isinstance(values, tuple)]
        if self.sampler == "grid" and len(lists) < len(self.search):
            raise BadInput(
                "A grid needs a list of values for each parameter, e.g. rank=1,2,4. Ranges are for"
                " samplers."
            )
        if (
            self.sampler == "grid"
            and (count := math.prod(map(len, lists))) > MOST_TRIALS
        ):
            raise BadInput(
                f"The grid has {count:,} combinations; the limit is {MOST_TRIALS:,}. Use fewer"
                " values or a sampler."
            )
        if self.kind.task == "ratings" and not self.split.validation_fraction:
            raise BadInput(
                "A search compares errors on validation ratings: give a validation fraction above"
                " 0."
            )

    def trial(self, place: Mapping[str, Value], draw: int = 0) -> RunSpec:
        """The run of one draw of a trial, which sees no test rating of its split."""
        part = "test"
        if self.kind.task == "ratings":
            part = "validation"
        return self._run(
            place, self.split.model_copy(update={"judged": part}), self.seed + draw
        )

    def final(self, place: Mapping[str, Value], draw: int = 0) -> RunSpec:
        """A fresh draw with a seed of no trial, judged by the test ratings.

        It also trains on what would be validation ratings.
        """
        return self._run(
            place,
            self.split.model_copy(update={"validation_fraction": 0.0}),
            self.seed + self.draws + draw,
        )

    def fresh(self, winner: Mapping[str, Value]) -> dict[str, RunSpec]:
        """The best and the recommended parameters over the same fresh draws.

        The names are winner 0, default 0, winner 1, ...
        """
        both: tuple[tuple[str, Mapping[str, Value]], ...] = (
            ("winner", winner),
            ("default", {}),
        )
        return {
            f"{who} {draw}": self.final(place, draw)
            for draw in range(FRESH)
            for who, place in both
        }

    def _run(self, place: Mapping[str, Value], split: SplitSpec, seed: int) -> RunSpec:
        return RunSpec.parse(
            data=self.data,
            algorithm=self.algorithm,
            budget=self.budget,
            parameters={**self.fixed, **place},
            split=split,
            seed=seed,
        ).canonical()


def default_range(
    kind: type[Algorithm], name: str, default: Value
) -> Interval | tuple[Value, ...]:
    """From a quarter of the recommended value to four times that, within the parameter's range.

    A parameter with choices gets all of them.
    """
    field = kind.model_json_schema()["properties"][name]
    if field.get("type") == "boolean":
        return (False, True)
    if "enum" in field:
        return tuple(field["enum"])
    whole = field.get("type") == "integer"
    value = float(default)
    inside = {
        end: bound + 0.02 * (value - bound)
        for end in ("exclusiveMinimum", "exclusiveMaximum")
        if (bound := field.get(end)) is not None
    }
    low = max(
        value / SPREAD, field.get("minimum", inside.get("exclusiveMinimum", -math.inf))
    )
    high = min(
        value * SPREAD, field.get("maximum", inside.get("exclusiveMaximum", math.inf))
    )
    if whole:
        low = max(1, math.floor(low))
        high = max(2, math.ceil(high))
        return Interval(
            low=int(low),
            high=int(high),
            log=low > 0 and high > 8 * low,
        )
    if not low < high:
        return Interval(low=0.0, high=min(1.0, field.get("maximum", 1.0)))
    return Interval(
        low=low,
        high=high,
        log=low > 0,
    )


# ---- the best, over fresh draws ------------------------------------------------------------------


@dataclass(frozen=True)
class SearchOutcome:
    """The best and the recommended parameters over fresh draws.

    Attributes
    ----------
    winner, default
        The minimised figure, per draw.
    """

    winner: tuple[float, ...]
    default: tuple[float, ...]

    @property
    def gap(self) -> PairedDifference:
        """The best parameters' figure minus the recommended ones'."""
        return compare_pairs(self.winner, self.default)

    @property
    def verdict(self) -> Literal["better", "no different", "worse"]:
        """Better or worse, or "no different" if the 95% interval contains 0."""
        return ("better", "no different", "worse")[self.gap.clear + 1]

    @property
    def words(self) -> str:
        """The result in a sentence."""
        low, high = self.gap.interval
        winner = statistics.fmean(self.winner)
        default = statistics.fmean(self.default)
        verdict = f"is {self.verdict} than the recommended parameters"
        if not self.gap.clear:
            verdict = "does not differ from the recommended parameters beyond chance"
        return (
            f"The winner {verdict}: {winner:.4f} with the winner, {default:.4f} as recommended;"
            f" difference {self.gap.mean:+.4f} ({low:+.4f} to {high:+.4f}, 95% over"
            f" {len(self.winner)} fresh draws of split and noise)."
        )

    def export(self) -> dict[str, Any]:
        """The result as JSON."""
        low, high = self.gap.interval
        return {
            "winner": self.winner,
            "default": self.default,
            "difference": self.gap.mean,
            "low": low,
            "high": high,
            "verdict": self.verdict,
        }


def outcome(runs: Mapping[str, Run], metric: str) -> SearchOutcome | None:
    """The outcome from the finished runs of `TuneSpec.fresh`; None before all have finished.

    Parameters
    ----------
    runs
        The runs by name.
    metric
        The minimised figure.
    """
    both = [[f"{who} {draw}" for draw in range(FRESH)] for who in ("winner", "default")]
    if any(name not in runs for names in both for name in names):
        return None
    return SearchOutcome(
        *(tuple(runs[name].record.metric(metric) for name in names) for names in both)
    )
