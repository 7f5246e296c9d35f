"""The cost of privacy: of the noise and of the method, compared with the best known method.

All pages, tables and reports get the cost of privacy here.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dpmf_core.evaluation import registry
from dpmf_core.evaluation.registry import Metric
from dpmf_core.runs.needed_epsilon import share_kept

BEST_BY_SUMS = "als"  # the best known algorithm for ratings in partitions


def best_known(
    metric: str, task: str = "ratings", *, outliers: bool = False, in_parts: bool = False
) -> str:
    """The id of the best known algorithm without privacy, by a name of `METRICS`.

    outliers: whether they were planted in the samples. in_parts: whether only sums over the ratings
    are asked.
    """
    if task == "samples":
        return "robust-nmf" if outliers else "nmf"
    if registry.lists in registry.find(metric).sums:
        return "ease"
    return BEST_BY_SUMS if in_parts else "bmf"


class Reference(StrEnum):
    """What a private figure is compared with; the value is the dash of its line."""

    WITHOUT_NOISE = "solid"
    BEST_KNOWN = "dash"
    GUESS = "dot"


@dataclass(frozen=True)
class ReferenceLine:
    """A horizontal line that a private figure is compared with."""

    reference: Reference
    value: float
    label: str


@dataclass(frozen=True)
class PrivacyCost:
    """A private run between the best known method and guessing, all by one metric.

    private, without_noise, best, guess: figures of the private run, of the same method without
    noise, of the best known method without privacy, and of guessing. share: of the gain of the best
    known over guessing that the private run keeps; None where the best known gains nothing.
    """

    metric: Metric
    private: float
    without_noise: float
    best: float
    guess: float
    share: float | None

    @classmethod
    def of(
        cls, metric: Metric, draws: Sequence[tuple[float, float, float, float]]
    ) -> "PrivacyCost":
        """Compute from medians over draws, rounded so that printed figures add up.

        draws: (private, without noise, best known, guess) of each draw of split and noise; not
        empty.
        """
        medians = (statistics.median(it) for it in zip(*draws, strict=True))
        private, without_noise, best, guess = (round(it, metric.digits) for it in medians)
        errors = [(metric.sign * it[0], metric.sign * it[2], metric.sign * it[3]) for it in draws]
        return cls(metric, private, without_noise, best, guess, share_kept(errors))

    @property
    def noise(self) -> float:
        """The cost of noise: the private run minus the method without noise; may be negative.

        Both have settings of their own, so it need not vanish as noise does.
        """
        return round(self.metric.sign * (self.private - self.without_noise), self.metric.digits)

    @property
    def method(self) -> float:
        """The cost of the method without noise, compared with the best known; below 0 if better."""
        return round(self.metric.sign * (self.without_noise - self.best), self.metric.digits)

    @property
    def total(self) -> float:
        """The total cost: the private run compared with the best known method."""
        return round(self.noise + self.method, self.metric.digits)

    def lines(
        self, method: str, best: str, *, is_best: bool = True
    ) -> tuple[ReferenceLine, ReferenceLine, ReferenceLine]:
        """The method without noise, the method without privacy, and guessing.

        method, best: titles of the private method and of the one without privacy. is_best: whether
        the latter is the best known one.
        """
        own, known, guess = map(self.metric.text, (self.without_noise, self.best, self.guess))
        label = f"best known without privacy, {best}:" if is_best else f"{best} without privacy"
        return (
            ReferenceLine(
                Reference.WITHOUT_NOISE, self.without_noise, f"{method} without noise {own}"
            ),
            ReferenceLine(Reference.BEST_KNOWN, self.best, f"{label} {known}"),
            ReferenceLine(Reference.GUESS, self.guess, f"guessing {guess}"),
        )

    def words(self, best: str, *, is_best: bool = True) -> str:
        """Both costs and their sum, in a sentence. best, is_best: as in `lines`."""
        noise, method, total = (self.text(it) for it in (self.noise, self.method, abs(self.total)))
        which = "the best known method" if is_best else "a method"
        direction = "less" if bool(self.metric.larger_is_better) == (self.total >= 0) else "more"
        return (
            f"{self.metric.label} is {total} {direction} than with {best}, {which} without"
            f" privacy: {noise} from noise and settings chosen for it, {method} from the method."
        )

    def text(self, cost: float) -> str:
        """A cost in the metric's digits, with a proper minus sign; never minus zero."""
        return self.metric.text(cost + 0.0).replace("-", "−")
