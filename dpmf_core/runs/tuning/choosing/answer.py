"""The answer from a question's finished runs: each method at each epsilon, the front, the best."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpmf_core import algorithms
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.needed_epsilon import share_text, shares_kept
from dpmf_core.runs.privacy_cost import PrivacyCost, ReferenceLine, best_known
from dpmf_core.runs.record import Run
from dpmf_core.runs.tuning.choosing.question import GUESS, Question, Runs


@dataclass(frozen=True)
class Place:
    """A method at an epsilon, with one figure per draw.

    values: of the question's metric. shares: of the gain over guessing that is kept; None if
    nothing is gained without privacy.
    """

    method: str
    epsilon: float
    values: tuple[float, ...]
    shares: tuple[float, ...] | None

    @property
    def title(self) -> str:
        return algorithms.find(self.method).title

    @property
    def value(self) -> float:
        """The median draw."""
        return statistics.median(self.values)

    @property
    def share(self) -> float | None:
        return None if self.shares is None else statistics.median(self.shares)


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

    @property
    def lines(self) -> tuple[ReferenceLine, ...]:
        """The reference lines: the answer's method without noise, the best known, and guessing.

        Without an answer the first is left out.
        """
        place, best_known = self.best or self.places[0], self.reference_title
        lines = self.cost(place).lines(place.title, best_known, is_best=self.is_best_known)
        return lines if self.best else lines[1:]

    def _rank(self, place: Place) -> float:
        return self.metric.sign * place.value

    @property
    def ranked(self) -> list[Place]:
        """Every place, by epsilon, the best first at each."""
        return sorted(self.places, key=lambda it: (it.epsilon, self._rank(it)))

    def at(self, epsilon: float) -> list[Place]:
        """The places at an epsilon, the best first."""
        return [it for it in self.ranked if it.epsilon == epsilon]

    @cached_property
    def front(self) -> tuple[Place, ...]:
        """The Pareto front, ascending: places better than all at smaller epsilons."""
        places: list[Place] = []
        for place in self.ranked:
            if not places or self._rank(place) < self._rank(places[-1]):
                places.append(place)
        return tuple(places)

    def _compare(self, first: Sequence[float], second: Sequence[float]) -> PairedDifference:
        """The first values minus the second, draw by draw; smaller is better in both."""
        sign = self.metric.sign
        return compare_pairs([sign * it for it in first], [sign * it for it in second])

    def beats_guessing(self, place: Place) -> bool:
        """Whether it is better in every draw, beyond chance."""
        return self._compare(place.values, self.guesses).clear < 0

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
        return next(it for it in self.at(measured.epsilon) if it.method == self.selected_method)

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

    @property
    def gap(self) -> PairedDifference | None:
        """The next best's value minus the answer's, draw by draw; smaller is better in both."""
        if self.best is None or self.next_best is None:
            return None
        return self._compare(self.next_best.values, self.best.values)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Every place as text: epsilon, method, value, its interval, gain kept, and a note."""
        text = self.metric.text
        notes = dict.fromkeys(self.front, "on the front")
        if self.best:
            notes[self.best] = "the answer"
        return [
            (
                budget_text(place.epsilon),
                place.title,
                text(place.value),
                " to ".join(map(text, interval(place.values))),
                "" if place.share is None else share_text(place.share),
                notes.get(place, ""),
            )
            for place in self.ranked
        ]


def answer(runs: Runs, finished_runs: Mapping[str, Run]) -> Answer | None:
    """The answer from the finished runs by `Point.key`; None before all have finished."""
    if any(key not in finished_runs for key in runs.specs):
        return None
    question, metric = runs.question, METRICS[runs.question.metric]
    draws: dict[tuple[str, float | None], tuple[float, ...]] = {}
    for point in runs.points:
        where = (point.label, runs.epsilon(point))
        draws[where] = (*draws.get(where, ()), finished_runs[point.key].record.metric(metric.id))
    reference = min(runs.plain, key=lambda name: metric.sign * statistics.median(draws[name, None]))
    plain, guesses = draws[reference, None], draws[GUESS, None]

    def place(method: str, epsilon: float) -> Place:
        values = draws[method, epsilon]
        triples = zip(values, plain, guesses, strict=True)
        shares = shares_kept([tuple(metric.sign * it for it in draw) for draw in triples])
        return Place(method, epsilon, values, shares)

    places = tuple(place(name, it) for it in question.epsilons for name in runs.methods)
    without_noise = {name: draws[name, None] for name in runs.methods}
    return Answer(question, places, reference, plain, guesses, without_noise)
