"""Clauses: statements of a claim, each a quantity of results that is positive if it holds."""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import Value

Results = Sequence[Measured]
Quantity = Callable[[Results], float]
Quantities = TypeVar("Quantities")


class MissingResult(LookupError):
    """A clause needs a result that is missing."""


@dataclass(frozen=True)
class ClauseVerdict:
    """Whether results support one clause.

    Attributes
    ----------
    figures
        The numbers that decide it.
    """

    words: str
    holds: bool
    figures: str
    place: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Clause:
    """One statement of a source.

    Attributes
    ----------
    words
        Our words, as the end of "the source says that".
    margin
        How far the statement holds; not positive if it does not hold. Raises MissingResult.
    figures
        The deciding numbers as text. Raises MissingResult.
    place
        The place in the source, such as "section 5.3, Fig. 3a".
    quote
        The source's words, copied exactly.
    """

    words: str
    margin: Quantity
    figures: Callable[[Results], str]
    place: str = ""
    quote: str = ""

    def verdict(self, results: Results) -> ClauseVerdict:
        """Whether it holds. Raises MissingResult for a missing result or NaN."""
        margin = self.margin(results)
        if math.isnan(margin):
            raise MissingResult(f"a figure is not a number: {self.figures(results)}")
        figures = self.figures(results)
        return ClauseVerdict(self.words, margin > 0, figures, self.place, self.quote)


# ---- quantities ----------------------------------------------------------------------------------


def of_label(results: Results, label: str) -> list[Measured]:
    """A method's results. Raises MissingResult if there are none."""
    label_results = [result for result in results if result.label == label]
    if not label_results:
        raise MissingResult(f"{label} has no result")
    return label_results


def value_along(result: Measured, name: str) -> Value | None:
    """The result's epsilon, or its value of a grid parameter; None if it has none."""
    if name == "epsilon":
        return result.epsilon
    return result.grid.get(name)


def place_along(result: Measured, name: str) -> float:
    """The same as a number. Raises MissingResult if there is none."""
    at = value_along(result, name)
    if at is None:
        raise MissingResult(f"{result.label} has a result without {name}")
    return float(at)


def line(
    results: Results, label: str, name: str, means: bool = False
) -> dict[float, float]:
    """A method's medians along `epsilon` or one grid parameter, in ascending order.

    Parameters
    ----------
    results
        The measured results.
    label
        The label of the method.
    name
        `epsilon` or the parameter.
    means
        Whether the means of draws take the place of medians.

    Returns
    -------
    dict
        The medians by place.

    Raises
    ------
    MissingResult
        If the method has no result, or two results at one place.
    """
    out: dict[float, float] = {}
    for result in of_label(results, label):
        at = value_along(result, name)
        if at is None:
            continue
        if float(at) in out:
            raise MissingResult(f"{label} has several results at {name} {at}")
        out[float(at)] = statistics.fmean(result.draws) if means else result.median
    if not out:
        raise MissingResult(f"{label} has no result along {name}")
    return dict(sorted(out.items()))


# ---- clauses -------------------------------------------------------------------------------------


def judged(
    words: str,
    measured: Callable[[Results], Quantities],
    margin: Callable[[Quantities], float],
    figures: Callable[[Quantities], str],
) -> Clause:
    """State something about what is measured of results: its margin and its figures as text."""
    return Clause(
        words,
        lambda results: margin(measured(results)),
        lambda results: figures(measured(results)),
    )


def number(value: float) -> str:
    """A figure with four digits."""
    if abs(value) >= 1:
        return f"{value:.4g}"
    return f"{value:.4f}"


def along(
    values: Mapping[float, float],
    form: Callable[[float], str] = "{:.4f}".format,
    name: str = "",
) -> str:
    """Values as text, each with its place on an axis. `name` precedes each place."""
    prefix = f"{name} " if name else ""
    return ", ".join(f"{form(value)} at {prefix}{at:g}" for at, value in values.items())


def above(words: str, larger: Quantity, smaller: Quantity, form: str) -> Clause:
    """State that one quantity is above another. `form` is the text of both, larger first."""
    return judged(
        words,
        lambda results: (larger(results), smaller(results)),
        lambda both: both[0] - both[1],
        lambda both: form.format(*both),
    )


def between(
    words: str,
    quantity: Quantity,
    low: float = -math.inf,
    high: float = math.inf,
    name: str = "measured",
) -> Clause:
    """State that a quantity lies strictly between two numbers."""
    limits = {"above": low, "below": high}
    limits_text = " and ".join(
        f"{value} {number(at)}" for value, at in limits.items() if abs(at) < math.inf
    )
    return judged(
        words,
        quantity,
        lambda value: min(value - low, high - value),
        lambda value: f"{name} {number(value)}, wanted {limits_text}",
    )


def fall(values: Sequence[float], level: float = 0.0) -> float:
    """How far values fall: last below first, and no step rises by more than `level`."""
    steps = (
        before + level - after + 1e-12 for before, after in itertools.pairwise(values)
    )
    return min(values[0] - values[-1], *steps)
