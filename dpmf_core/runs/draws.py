"""The one table of measured draws, and the figures that follow from it.

A draw is one run: a split of the data and, if the method is private, its noise. Every page, table,
command, report and notebook that compares methods takes its figures from here, and its sentences
from `conclusions`.

The scale has two ends. 0% is what needs no model of others: for ratings the better of the global
mean and each person's own mean, for lists an arbitrary order, for samples their average. 100% is
the best known method without privacy.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dpmf_core import algorithms
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.runs.measurements import (
    Draw,
    Measured,
    Point,
    PrivacyCost,
    is_reference,
    may_rank,
    shared_draws,
    shared_seeds,
)
from dpmf_core.runs.record import Run, summarise
from dpmf_core.runs.references import RECOMMENDED, best_known, floors

LEAST_GAIN = 0.01  # of the floor's figure: below it sharing is worth nothing measurable
# floors with figures in every run: of samples, and of ratings judged by people
AVERAGE = "average"
NO_MODEL = "no model of others"
NOISY_ERROR = "noisy_rmse"  # of private data, released with noise


# ---- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draws:
    """The table: finished draws in the order of planning, and planned ones that are missing."""

    rows: tuple[Draw, ...] = field(repr=False)  # a notebook would keep raw figures
    missing: tuple[Point, ...] = field(default=(), repr=False)
    _judgements: dict[str, "Judgement"] = field(
        default_factory=dict,
        init=False,
        repr=False,
        compare=False,
    )

    @classmethod
    def of(
        cls, points: Iterable[Point], summaries: Iterable[Mapping[str, Any] | None]
    ) -> "Draws":
        """The table of these points; a summary that is None has not finished."""
        rows = list[Draw]()
        missing = list[Point]()
        for point, summary in zip(points, summaries, strict=True):
            if summary is None:
                missing.append(point)
            else:
                rows.append(Draw.of(point, summary))
        return cls(tuple(rows), tuple(missing))

    @classmethod
    def of_runs(cls, points: Iterable[Point], runs: Mapping[str, Run]) -> "Draws":
        """The table of these points, from the finished runs by `Point.key`."""
        points = tuple(points)
        summaries = [
            summarise(runs[point.key].record) if point.key in runs else None
            for point in points
        ]
        return cls.of(points, summaries)

    @cached_property
    def is_public(self) -> bool:
        return all(row.public for row in self.rows)

    @cached_property
    def has_one_scale(self) -> bool:
        """Whether all runs are judged by the same rows: one data set and one kind of split.

        What is known about items may differ.
        """
        spec_parts = {(row.point.spec.data, row.point.spec.split) for row in self.rows}
        judged_rows = {
            (data.model_copy(update={"item_features": "none"}), split)
            for data, split in spec_parts
        }
        return len(judged_rows) <= 1

    def released(self, noisy: Mapping[str, float]) -> "Draws":
        """The table without raw figures of private data.

        Parameters
        ----------
        noisy
            The errors that were released with noise, by `Point.key`.
        """
        rows = list[Draw]()
        for row in self.rows:
            key = row.point.key
            metrics = {NOISY_ERROR: noisy[key]} if key in noisy else {}
            rows.append(row if row.public else replace(row, metrics=metrics))
        return Draws(tuple(rows), self.missing)

    def measured(self, metric: str) -> list[Measured]:
        """The draws of a metric by method, epsilon and grid point, in the table's order.

        Runs without the metric are left out.
        """
        groups: dict[Any, list[Draw]] = {}
        for row in self.rows:
            if row.figure(metric) is not None:
                groups.setdefault(row.point.place, []).append(row)
        return [_measured(rows, metric) for rows in groups.values()]

    def by(self, metric: str) -> "Judgement":
        """The table judged by a metric; the same judgement for the same table."""
        return self._judgements.setdefault(metric, Judgement(self, METRICS[metric]))


def _measured(rows: Sequence[Draw], metric: str) -> Measured:
    rows = sorted(rows, key=lambda row: row.point.spec.seed)
    point = rows[0].point
    return Measured(
        point.label,
        point.spec.algorithm,
        point.epsilon,
        dict(point.grid),
        tuple(float(row.metrics[metric] or 0.0) for row in rows),
        tuple(row.point.spec.seed for row in rows),
        dict(point.spec.parameters),
        point.spec.without_noise,
        tuple(row.total for row in rows),
        next((row.caution for row in rows if row.caution), ""),
        point.is_rival,
    )


# ---- the table, judged by a metric ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judgement:
    """The table judged by one metric: the scale's ends, shares, costs, ranks and the front."""

    table: Draws
    metric: Metric

    @cached_property
    def measured(self) -> list[Measured]:
        return self.table.measured(self.metric.id)

    # -- the scale --------------------------------------------------------------------------------

    @cached_property
    def floor(self) -> Measured | None:
        """0%: the best of the predictors that need no model of others, by its median.

        None where one of them was not run: it may be the better one, so the scale is unknown.
        """
        if not self.table.has_one_scale:
            return None
        in_every_run = self._floor_in_every_run
        if in_every_run is not None:
            return in_every_run
        ids = floors(self.metric.id)
        candidates = [one for one in self._without_privacy if one.algorithm in ids]
        if {one.algorithm for one in candidates} != set(ids):
            return None
        return self._best(candidates)

    @cached_property
    def _floor_in_every_run(self) -> Measured | None:
        """The figures of what needs no model, if each run has them; None otherwise."""
        figures = {
            row.point.spec.seed: value
            for row in self.table.rows
            if (value := row.figure(self.metric.floor)) is not None
        }
        if not figures:
            return None
        seeds = tuple(sorted(figures))
        name = AVERAGE
        if "ratings" in self.metric.tasks:
            name = NO_MODEL
        return Measured(
            name, name, None, {}, tuple(figures[seed] for seed in seeds), seeds
        )

    @cached_property
    def best_known(self) -> Measured | None:
        """100%: the best method without privacy, by its median."""
        if not self.table.has_one_scale:
            return None
        return self._best(
            one for one in self._without_privacy if is_reference(one.algorithm)
        )

    @cached_property
    def has_best_known(self) -> bool:
        """Whether the best known method without privacy is in the table."""
        if self.best_known is None:
            return False
        task = algorithms.find(self.best_known.algorithm).task
        in_parts = {one.algorithm for one in self._without_privacy}
        names = {
            best_known(self.metric.id, task),
            best_known(self.metric.id, task, outliers=True),
        }
        data_sets = {row.point.spec.data.id for row in self.table.rows}
        if any(is_in_parts(data_id) for data_id in data_sets):
            names.add(best_known(self.metric.id, task, in_parts=True))
        return bool(names & in_parts)

    @cached_property
    def _without_privacy(self) -> list[Measured]:
        return [
            one
            for one in self.measured
            if one.epsilon is None and not one.without_noise
        ]

    @cached_property
    def is_sharing_worth(self) -> bool:
        """Whether the best known method beats the floor by at least 1% of its figure."""
        if self.floor is None or self.best_known is None:
            return False
        gain = self.rank(self.floor) - self.rank(self.best_known)
        return gain >= LEAST_GAIN * abs(self.floor.median) and gain > 0

    def shares(self, one: Measured) -> Measured | None:
        """The share of what sharing is worth that each draw keeps: 1 for all, below 0 for none.

        Only draws that the floor and the best known method also have count. If sharing is worth
        nothing in one of them, the result is the one share between medians. It is None where
        sharing is worth nothing measurable, or nothing can be compared.
        """
        floor = self.floor
        best = self.best_known
        if floor is None or best is None or not self.is_sharing_worth:
            return None
        draws = shared_draws(one, floor, best)
        if not draws:
            return None
        seeds = tuple(shared_seeds(one, floor, best))
        gains = [
            self.metric.sign * (at_floor - at_best) for _, at_floor, at_best in draws
        ]
        if min(gains) <= 0:
            draws = [
                tuple(statistics.median(column) for column in zip(*draws, strict=True))
            ]
            seeds = ()
            gains = [self.metric.sign * (draws[0][1] - draws[0][2])]
            if gains[0] <= 0:
                return None
        shares = [
            self.metric.sign * (at_floor - own) / gain
            for (own, at_floor, _), gain in zip(draws, gains, strict=True)
        ]
        return replace(one, draws=tuple(shares), seeds=seeds)

    def share(self, one: Measured) -> float | None:
        """The median share."""
        shares = self.shares(one)
        if shares is None:
            return None
        return shares.median

    def shown_share(self, one: Measured) -> float | None:
        """The median share; None also on private data, whose errors are raw."""
        if self.table.is_public:
            return self.share(one)
        return None

    def without_noise(self, one: Measured) -> Measured | None:
        """The same method with the same parameters, without noise."""
        same = (one.algorithm, one.parameters)
        return next(
            (
                other
                for other in self.measured
                if other.without_noise and (other.algorithm, other.parameters) == same
            ),
            None,
        )

    def cost(self, one: Measured) -> PrivacyCost | None:
        """The cost of noise, of the method and of not sharing; None where a run is missing."""
        without_noise = self.without_noise(one)
        best = self.best_known
        floor = self.floor
        if without_noise is None or best is None or floor is None:
            return None
        draws = shared_draws(one, without_noise, best, floor)
        if draws:
            return PrivacyCost.of(self.metric, draws)
        return None

    # -- ranks ------------------------------------------------------------------------------------

    def rank(self, one: Measured) -> float:
        """The median, with a sign such that smaller is better."""
        return self.metric.sign * one.median

    def _best(self, some: Iterable[Measured]) -> Measured | None:
        return min(some, key=self.rank, default=None)

    def order(self, one: Measured) -> tuple[bool, float]:
        """A key that sorts the best first: by the share that is printed, or else by the median.

        Both are medians over draws, but they may order methods differently.
        """
        share = self.share(one)
        if share is None:
            return (True, self.rank(one))
        return (False, -share)

    @cached_property
    def ranked(self) -> list[Measured]:
        """The proven private methods at each epsilon, ascending, the best first at each.

        Of a grid only each method's best point counts. A method with unfinished draws is left out.
        """
        unfinished = {(point.label, point.epsilon) for point in self.table.missing}
        best: dict[tuple[str, float], Measured] = {}
        for one in self.measured:
            if one.epsilon is None or one.caution or not one.is_rival:
                continue
            if (one.label, one.epsilon) in unfinished:
                continue
            place = (one.label, one.epsilon)
            if place not in best or self.order(one) < self.order(best[place]):
                best[place] = one
        return sorted(
            best.values(), key=lambda one: (one.epsilon or 0.0, self.order(one))
        )

    @cached_property
    def epsilons(self) -> tuple[float, ...]:
        """The epsilons at which a best method is known, ascending."""
        at_all = sorted({one.epsilon for one in self.ranked if one.epsilon is not None})
        return tuple(epsilon for epsilon in at_all if self.best(epsilon) is not None)

    def at(self, epsilon: float | None) -> list[Measured]:
        """The ranked methods at an epsilon, the best first."""
        return [one for one in self.ranked if one.epsilon == epsilon]

    def best(self, epsilon: float | None) -> Measured | None:
        """The best proven method at an epsilon.

        The recommended method comes before others from which it is not measurably different: chance
        may explain the difference, and it is below the least gain that counts. None before all that
        were planned there have finished, and on private data: choosing a method by their raw errors
        would cost more than an epsilon says.
        """
        here = self.at(epsilon)
        if not here or epsilon in self._unfinished or not self.table.is_public:
            return None
        candidates = [
            *(
                one
                for one in self._equal(here[0])
                if one.algorithm in RECOMMENDED.values()
            ),
            *here,
        ]
        unbeaten = (
            one
            for one in candidates
            if not any(self._beats(other, one) for other in here)
        )
        return next(unbeaten, here[0])

    def _beats(self, one: Measured, other: Measured) -> bool:
        """Whether the first is better beyond chance."""
        gap = self.difference(one, other)
        return gap is not None and gap.clear < 0

    def _equal(self, one: Measured) -> list[Measured]:
        """The methods at the same epsilon that are not measurably different."""
        floor = one if self.floor is None else self.floor
        least = LEAST_GAIN * abs(floor.median)
        return [
            other
            for other in self.no_different(one)
            if abs(self.rank(other) - self.rank(one)) < least
        ]

    @cached_property
    def _unfinished(self) -> set[float | None]:
        """The epsilons at which a draw is missing that takes part in the ranking."""
        return {point.epsilon for point in self.table.missing if may_rank(point)}

    @cached_property
    def planned_epsilons(self) -> tuple[float, ...]:
        """The epsilons at which methods are ranked once all have finished, ascending."""
        finished = {row.point.epsilon for row in self.table.rows if may_rank(row.point)}
        planned = finished | self._unfinished
        return tuple(sorted(epsilon for epsilon in planned if epsilon is not None))

    @cached_property
    def cautions(self) -> dict[str, str]:
        """Why a method is not ranked, by label."""
        return {one.label: one.caution for one in self.measured if one.caution}

    def difference(self, first: Measured, second: Measured) -> PairedDifference | None:
        """The first's figure minus the second's over shared draws; smaller is better in both."""
        draws = shared_draws(first, second)
        if not draws:
            return None
        sign = self.metric.sign
        return compare_pairs(
            [sign * own for own, _ in draws], [sign * other for _, other in draws]
        )

    def no_different(self, one: Measured) -> list[Measured]:
        """The other ranked methods at the same epsilon that may differ only by chance."""
        others = [other for other in self.at(one.epsilon) if other.label != one.label]
        differences = [(other, self.difference(one, other)) for other in others]
        return [other for other, gap in differences if gap is None or not gap.clear]

    def better(self, one: Measured) -> Measured | None:
        """A proven method that is clearly better at the same epsilon: the best one, if it is."""
        best = self.best(one.epsilon)
        if best is None or best.label == one.label:
            return None
        others = [best, *self.at(one.epsilon)]
        return next((other for other in others if self._beats(other, one)), None)

    def line(self, label: str) -> list[Measured]:
        """A private method along epsilon."""
        of_label = [
            one
            for one in self.measured
            if one.label == label and one.epsilon is not None
        ]
        return sorted(of_label, key=lambda one: one.epsilon or 0.0)

    @cached_property
    def best_line(self) -> list[Measured]:
        """The best proven method at each epsilon where it is known, ascending."""
        best = [self.best(epsilon) for epsilon in self.epsilons]
        return [one for one in best if one is not None]

    @cached_property
    def front(self) -> list[Measured]:
        """The Pareto front, ascending: ranked methods better than all at smaller epsilons."""
        front = list[Measured]()
        for one in self.ranked:
            if not front or self.order(one) < self.order(front[-1]):
                front.append(one)
        return front

    def shares_along(self, line: Iterable[Measured]) -> list[Measured]:
        """The shares that a line keeps at each epsilon; epsilons without a share are left out."""
        shares = [self.shares(one) for one in line]
        return [one for one in shares if one is not None]
