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

Draws = Sequence[tuple[float, float, float, float]]

# ids of the best algorithms without privacy that are here, by what is asked of them
BEST_OF_RATINGS, BEST_BY_SUMS, BEST_OF_LISTS = "bmf", "als", "ease"
BEST_OF_SAMPLES, BEST_WITH_OUTLIERS = "nmf", "robust-nmf"


def best_known(
    metric: str, task: str = "ratings", *, outliers: bool = False, in_parts: bool = False
) -> str:
    """The id of the best known algorithm without privacy.

    Parameters
    ----------
    metric
        A name of `METRICS`, by which it is the best.
    task
        What is factorised: "ratings" or "samples".
    outliers
        Whether outliers were planted in the samples.
    in_parts
        Whether the ratings are in partitions, so that only sums are asked.
    """
    if task == "samples":
        return BEST_WITH_OUTLIERS if outliers else BEST_OF_SAMPLES
    if registry.lists in registry.find(metric).sums:
        return BEST_OF_LISTS
    return BEST_BY_SUMS if in_parts else BEST_OF_RATINGS


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

    @classmethod
    def of(
        cls, reference: Reference, metric: Metric, value: float, title: str, *, is_best: bool = True
    ) -> "ReferenceLine":
        """The line with its label.

        Parameters
        ----------
        title
            What the method is called: the private one, the one without privacy, or the guess.
        is_best
            Whether a method without privacy is the best known one.
        """
        text = metric.text(value)
        label = {
            Reference.WITHOUT_NOISE: f"{title} without noise {text}",
            Reference.BEST_KNOWN: f"best known without privacy, {title}: {text}"
            if is_best
            else f"{title} without privacy {text}",
            Reference.GUESS: f"{title} {text}",
        }[reference]
        return cls(reference, value, label)


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
    def of(cls, metric: Metric, draws: Draws) -> "PrivacyCost":
        """Compute from medians over draws, rounded so that printed figures add up.

        Parameters
        ----------
        metric
            What the figures are of.
        draws
            (private, without noise, best known, guess) of each draw of split and noise; not empty.
        """
        private, without_noise, best, guess = (
            round(statistics.median(it), metric.digits) for it in zip(*draws, strict=True)
        )
        errors = [
            (metric.sign * own, metric.sign * known, metric.sign * nothing)
            for own, _, known, nothing in draws
        ]
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

        Parameters
        ----------
        method, best
            Titles of the private method and of the one without privacy.
        is_best
            Whether the latter is the best known one.
        """
        line, metric = ReferenceLine.of, self.metric
        return (
            line(Reference.WITHOUT_NOISE, metric, self.without_noise, method),
            line(Reference.BEST_KNOWN, metric, self.best, best, is_best=is_best),
            line(Reference.GUESS, metric, self.guess, "guessing"),
        )

    def words(self, best: str, *, is_best: bool = True) -> str:
        """Both costs and their sum, in a sentence.

        Parameters
        ----------
        best
            The title of the method that the private run is measured by.
        is_best
            Whether that is the best known method without privacy.
        """
        noise, method, total = (self.text(it) for it in (self.noise, self.method, abs(self.total)))
        which = "the best known method" if is_best else "a method"
        direction = "less" if bool(self.metric.larger_is_better) == (self.total >= 0) else "more"
        title = self.metric.title[0].upper() + self.metric.title[1:]
        return (
            f"{title} is {total} {direction} than with {best}, {which} without"
            f" privacy: {noise} from noise and settings chosen for it, {method} from the method."
        )

    def text(self, cost: float) -> str:
        """A cost in the metric's digits, with a proper minus sign; never minus zero."""
        return self.metric.text(cost + 0.0).replace("-", "−")
