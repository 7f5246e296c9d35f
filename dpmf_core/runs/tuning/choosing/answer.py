"""The answer to a question: the table of its draws, judged by its metric, and the best.

Methods that a few draws cannot tell apart get more draws, so that the answer holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpmf_core.evaluation.paired_difference import PairedDifference
from dpmf_core.evaluation.registry import Metric
from dpmf_core.privacy.formatting import budget_text, epsilon_number
from dpmf_core.runs.conclusions import share_text
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.tuning.choosing.question import MORE, Question, QuestionRuns

WIDE = 0.1  # width of the 95% interval of a share that needs more draws

# the table of these runs, as far as they have finished
ReadDraws = Callable[[Sequence[Point]], Draws]


@dataclass(frozen=True)
class Answer:
    """A question and the judged table of its draws, in the epsilon of those it must protect."""

    question: Question
    judgement: Judgement

    @property
    def metric(self) -> Metric:
        return self.judgement.metric

    # -- the best ---------------------------------------------------------------------------------

    @cached_property
    def best(self) -> Measured | None:
        """The best within the budget, or the cheapest that is good enough; None without one.

        Of methods that are not measurably different it is the one that all pages name.
        """
        good = [one for one in self.judgement.front if self._is_enough(one)]
        if not good:
            return None
        first = good[0]
        if self.question.spend is not None:
            first = good[-1]
        named_everywhere = self.judgement.best(first.epsilon)
        if named_everywhere is not None and self._is_enough(named_everywhere):
            return named_everywhere
        return first

    @property
    def is_first_by_median(self) -> bool:
        """Whether no method at the best's epsilon has a better median."""
        best = self.best
        return best is not None and self.judgement.at(best.epsilon)[0] == best

    def _is_enough(self, one: Measured) -> bool:
        """Whether it beats the floor and reaches the goal by its median, as printed."""
        question = self.question
        if not self.beats_floor(one):
            return False
        if question.keep is not None:
            share = self.judgement.share(one)
            return share is not None and round(share, 2) >= round(question.keep, 2)
        if question.reach is not None:
            return self.judgement.rank(one) <= self.metric.sign * question.reach
        return question.spend is not None and (one.epsilon or 0.0) <= question.spend

    def beats_floor(self, one: Measured) -> bool:
        """Whether it is better than what needs no model of others, beyond chance."""
        floor = self.judgement.floor
        if floor is None:
            return False
        gap = self.judgement.difference(one, floor)
        return gap is not None and gap.clear < 0

    # -- what the best is compared with -----------------------------------------------------------

    @cached_property
    def others(self) -> list[Measured]:
        """The other methods at the best's epsilon, the best of them first."""
        if self.best is None:
            return []
        here = self.judgement.at(self.best.epsilon)
        return [one for one in here if one != self.best]

    @cached_property
    def rivals(self) -> list[Measured]:
        """The other methods at the best's epsilon that are not worse beyond chance."""
        gaps = [(one, self.gap(one)) for one in self.others]
        return [one for one, gap in gaps if gap is None or gap.clear <= 0]

    @property
    def is_undecided(self) -> bool:
        """Whether the best is only the first by its median, and no difference is found."""
        return bool(self.rivals)

    @property
    def next_best(self) -> Measured | None:
        """The best of the other methods at the same epsilon."""
        return next(iter(self.others), None)

    @cached_property
    def cheaper(self) -> Measured | None:
        """The best at the next smaller epsilon of the grid."""
        if self.best is None:
            return None
        below = [at for at in self.question.epsilons if at < (self.best.epsilon or 0.0)]
        here = self.judgement.at(below[-1]) if below else []
        return next(iter(here), None)

    def gap(self, other: Measured | None) -> PairedDifference | None:
        """Another's figure minus the answer's, draw by draw; smaller is better in both."""
        if self.best is None or other is None:
            return None
        return self.judgement.difference(other, self.best)

    def interval(self, one: Measured) -> tuple[float, float] | None:
        """The 95% interval of the share that it keeps; None without one."""
        shares = self.judgement.shares(one)
        if shares is None or len(shares.draws) < 2:
            return None
        return shares.interval

    # -- as a table -------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[str, ...]:
        """The heads of `rows`."""
        return "ε", "method", "share kept", "95%", self.metric.title, "draws", "note"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Every method at every epsilon as text, the best first at each."""
        return [self._row(one) for one in self.judgement.ranked]

    def _row(self, one: Measured) -> tuple[str, ...]:
        share = self.judgement.share(one)
        interval = self.interval(one)
        note = ""
        if one in self.judgement.front:
            note = "on the front"
        if one == self.best:
            note = "the answer"
        return (
            budget_text(one.epsilon or 0.0),
            one.label,
            "" if share is None else share_text(share),
            ""
            if interval is None
            else " to ".join(share_text(end) for end in interval),
            self.metric.text(one.median),
            str(len(one.draws)),
            note,
        )

    def export(self, one: Measured) -> dict[str, Any]:
        """The draws of a method at an epsilon, as JSON."""
        shares = self.judgement.shares(one)
        return {
            "method": one.algorithm,
            "title": one.label,
            "epsilon": epsilon_number(one.epsilon),
            self.metric.id: one.median,
            "share_kept": None if shares is None else shares.median,
            "share_interval": self.interval(one),
            "draws": one.draws,
            "seeds": one.seeds,
            "shares": None if shares is None else shares.draws,
        }


def find(runs: QuestionRuns, read: ReadDraws) -> tuple[list[Point], Answer | None]:
    """The runs that the answer needs, and the answer; None before all of them have finished.

    The question alone decides which runs these are. At the epsilon of the answer, close methods get
    more draws, until their differences and the answer's interval are useful.
    """
    points = list(runs.points)
    while True:
        table = read(points)
        if table.missing:
            return points, None
        result = Answer(runs.question, table.by(runs.question.metric))
        known = {point.key for point in points}
        more = [point for point in _more_draws(runs, result) if point.key not in known]
        if not more:
            return points, result
        points += more


def _more_draws(runs: QuestionRuns, result: Answer) -> list[Point]:
    """The next draws of the best and of methods not told apart from it; empty if it is decided."""
    best = result.best
    if best is None or best.epsilon is None:
        return []
    contenders = [best, *result.rivals]
    interval = result.interval(best)
    is_useful = interval is None or interval[1] - interval[0] <= WIDE
    if is_useful and not result.rivals:
        return []
    fewest = min(len(one.draws) for one in contenders)
    count_asked = next((count for count in MORE if count > fewest), 0)
    names = [one.algorithm for one in contenders]
    return runs.further(names, [best.epsilon], range(count_asked))
