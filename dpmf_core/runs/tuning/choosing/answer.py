"""The answer from a question's finished runs: each method at each epsilon, the front, the best."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpmf_core import algorithms
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.runs.needed_epsilon import shares_kept
from dpmf_core.runs.privacy_cost import PrivacyCost, ReferenceLine, best_known
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.tuning.choosing.question import GUESS, Question, Runs

RARE = "rare_recall_at_20"


@dataclass(frozen=True)
class Place:
    """A method at an epsilon, with one figure per draw.

    values: of the question's metric. shares: of the gain over guessing that is kept; None if
    nothing is gained without privacy. rare: shares of the gain in Recall@20 of rare items, over an
    arbitrary list; None if the reference gains nothing there. losses: what the worst quarter of
    users or items loses, in units of a rating. rare and losses are also None if some run lacks
    them.
    """

    method: str
    epsilon: float
    values: tuple[float, ...]
    shares: tuple[float, ...] | None
    rare: tuple[float, ...] | None
    losses: tuple[float, ...] | None

    @property
    def title(self) -> str:
        return algorithms.find(self.method).title

    @property
    def value(self) -> float:
        """The median draw."""
        return statistics.median(self.values)

    @property
    def share(self) -> float | None:
        return _median(self.shares)


def _median(draws: Sequence[float] | None) -> float | None:
    return None if draws is None else statistics.median(draws)


def interval(draws: Sequence[float]) -> tuple[float, float]:
    """Student's 95% interval of the mean over draws."""
    return PairedDifference(tuple(draws)).interval


@dataclass(frozen=True)
class Answer:
    """places: every candidate at every epsilon, all draws.

    reference: id of the best method without privacy; plain, guesses: its values and those of the
    trivial one, per draw. without_noise: values of each candidate without noise, per draw, by its
    id. selected_method: id of the method that a private selection chose, else ''.
    """

    question: Question
    places: tuple[Place, ...]
    reference: str
    plain: tuple[float, ...]
    guesses: tuple[float, ...]
    without_noise: Mapping[str, tuple[float, ...]]
    selected_method: str = ""

    @property
    def metric(self) -> Metric:
        return METRICS[self.question.metric]

    @property
    def reference_title(self) -> str:
        return algorithms.find(self.reference).title

    @property
    def is_best_known(self) -> bool:
        """Whether the reference is the best known method without privacy."""
        in_parts = is_in_parts(self.question.data.id)
        return self.reference == best_known(self.question.metric, in_parts=in_parts)

    def cost(self, place: Place) -> PrivacyCost:
        """The cost of the noise and of the method at a place."""
        without_noise = self.without_noise[place.method]
        draws = zip(place.values, without_noise, self.plain, self.guesses, strict=True)
        return PrivacyCost.of(self.metric, list(draws))

    def lines(self, place: Place) -> tuple[ReferenceLine, ...]:
        """What a place is compared with: its method without noise, the best known, and guessing."""
        return self.cost(place).lines(place.title, self.reference_title, is_best=self.is_best_known)

    def _rank(self, place: Place) -> float:
        return self.metric.sign * place.value

    def at(self, epsilon: float) -> list[Place]:
        """The places at an epsilon that meet the constraints, the best first."""
        places = [it for it in self.places if it.epsilon == epsilon and self.keeps(it)]
        return sorted(places, key=self._rank)

    def keeps(self, place: Place) -> bool:
        """Whether it meets the constraints; a missing figure counts as not met."""
        question = self.question
        rare, loss = _median(place.rare), _median(place.losses)
        return (question.rare is None or (rare is not None and rare >= question.rare)) and (
            question.worst is None or (loss is not None and loss <= question.worst)
        )

    @cached_property
    def front(self) -> tuple[Place, ...]:
        """The Pareto front, ascending: places better than all at smaller epsilons."""
        places: list[Place] = []
        for epsilon in self.question.epsilons:
            best = next(iter(self.at(epsilon)), None)
            if best and (not places or self._rank(best) < self._rank(places[-1])):
                places.append(best)
        return tuple(places)

    def beats_guessing(self, place: Place) -> bool:
        """Whether it is better in every draw, beyond chance."""
        first, second = (
            [self.metric.sign * it for it in values] for values in (place.values, self.guesses)
        )
        return compare_pairs(first, second).clear < 0

    def enough(self, place: Place) -> bool:
        """Whether it beats guessing and the median draw reaches the goal."""
        question = self.question
        if not self.beats_guessing(place):
            return False
        if question.keep is not None:
            return place.share is not None and place.share >= question.keep
        if question.reach is not None:
            return self._rank(place) <= self.metric.sign * question.reach
        return question.spend is not None and place.epsilon <= question.spend

    @cached_property
    def best(self) -> Place | None:
        """The answer: the chosen method at the epsilon of the measured best, else that best."""
        measured = self.measured_best
        if measured is None or self.selected_method in ("", measured.method):
            return measured
        here = (it for it in self.places if it.epsilon == measured.epsilon)
        return next(it for it in here if it.method == self.selected_method)

    @cached_property
    def measured_best(self) -> Place | None:
        """The best within the budget, or the cheapest that is good enough; None if there is none.

        It ignores the choice of a private selection.
        """
        good = [place for place in self.front if self.enough(place)]
        if not good:
            return None
        return good[-1] if self.question.spend is not None else good[0]

    @cached_property
    def next_best(self) -> Place | None:
        """The best of the other methods at the same epsilon."""
        here = self.at(self.best.epsilon) if self.best else []
        return next((it for it in here if it != self.best), None)

    @cached_property
    def cheaper(self) -> Place | None:
        """The best at the next smaller epsilon of the grid; the chosen method, if there is one."""
        if self.best is None:
            return None
        below = [it for it in self.question.epsilons if it < self.best.epsilon]
        places = self.at(below[-1]) if below else []
        return next((it for it in places if self.selected_method in ("", it.method)), None)

    @cached_property
    def gap(self) -> PairedDifference | None:
        """The next best's value minus the answer's, draw by draw; smaller is better in both."""
        if self.best is None or self.next_best is None:
            return None
        first, second = (
            [self.metric.sign * it for it in place.values] for place in (self.next_best, self.best)
        )
        return compare_pairs(first, second)


def answer(runs: Runs, finished_runs: Mapping[str, Run]) -> Answer | None:
    """The answer from the finished runs by `Point.key`; None before all have finished."""
    if any(key not in finished_runs for key in runs.specs):
        return None
    draws: dict[tuple[str, float | None], list[RunRecord]] = {}
    for point in runs.points:
        where = (point.label, runs.epsilon(point))
        draws.setdefault(where, []).append(finished_runs[point.key].record)
    question, metric = runs.question, METRICS[runs.question.metric]
    reference = min(
        runs.plain,
        key=lambda name: metric.sign * statistics.median(_values(draws[name, None], metric.id)),
    )
    plain = draws[reference, None]
    guesses = _values(draws[GUESS, None], metric.id)
    places = tuple(
        _place(name, epsilon, draws[name, epsilon], plain, draws[GUESS, None], metric.id)
        for epsilon in question.epsilons
        for name in runs.methods
    )
    without_noise = {name: _values(draws[name, None], metric.id) for name in runs.methods}
    return Answer(question, places, reference, _values(plain, metric.id), guesses, without_noise)


def _values(records: Sequence[RunRecord], name: str) -> tuple[float, ...]:
    return tuple(record.metric(name) for record in records)


def _place(
    method: str,
    epsilon: float,
    records: Sequence[RunRecord],
    plain: Sequence[RunRecord],
    arbitrary: Sequence[RunRecord],
    metric: str,
) -> Place:
    guesses = _values(arbitrary, metric)
    values, best = _values(records, metric), _values(plain, metric)
    sign = METRICS[metric].sign
    draws = zip(values, best, guesses, strict=True)
    shares = shares_kept([tuple(sign * it for it in draw) for draw in draws])
    return Place(
        method, epsilon, values, shares, _rare(records, plain, arbitrary), _losses(records, plain)
    )


def _rare(
    records: Sequence[RunRecord], plain: Sequence[RunRecord], arbitrary: Sequence[RunRecord]
) -> tuple[float, ...] | None:
    sides = (records, plain, arbitrary)
    if any(record.metrics.get(RARE) is None for side in sides for record in side):
        return None
    draws = zip(*(_values(side, RARE) for side in sides), strict=True)
    return shares_kept([tuple(-it for it in draw) for draw in draws])


def _losses(records: Sequence[RunRecord], plain: Sequence[RunRecord]) -> tuple[float, ...] | None:
    """The largest loss of each draw over quarters by activity and by popularity.

    Both runs of a draw have one split, so their quarters are the same.
    """
    largest = []
    for own, theirs in zip(records, plain, strict=True):
        losses = [
            float(mine["rmse"] or 0) - float(other["rmse"] or 0)
            for by in own.buckets
            for mine, other in zip(own.buckets[by], theirs.buckets.get(by, ()), strict=True)
            if mine["ratings"]
        ]
        if not losses:
            return None
        largest.append(max(losses))
    return tuple(largest)
