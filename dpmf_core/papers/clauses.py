"""Clauses: statements of a claim, each a quantity of results that is positive if it holds."""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import Value

Results = Sequence[Measured]
Quantity = Callable[[Results], float]
Quantities = TypeVar("Quantities")


class MissingResult(LookupError):
    """A clause needs a result that is missing."""


@dataclass(frozen=True)
class ClauseVerdict:
    """Whether results support one clause. figures: the numbers that decide it."""

    words: str
    holds: bool
    figures: str
    place: str = ""
    quote: str = ""


@dataclass(frozen=True)
class Clause:
    """One statement of a source.

    words: our words, as the end of "the source says that". margin: how far it holds; not positive
    if it does not. figures: the deciding numbers as text. Both raise MissingResult. place: where
    the source states it, as "section 5.3, Fig. 3a". quote: the source's words, copied exactly.
    """

    words: str
    margin: Quantity
    figures: Callable[[Results], str]
    place: str = ""
    quote: str = ""

    def verdict(self, results: Results) -> ClauseVerdict:
        """Return whether it holds; raise MissingResult for a missing result or NaN."""
        margin = self.margin(results)
        if math.isnan(margin):
            raise MissingResult(f"a figure is not a number: {self.figures(results)}")
        figures = self.figures(results)
        return ClauseVerdict(self.words, margin > 0, figures, self.place, self.quote)


# ---- quantities ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Median:
    """The median of a method's draws at one place.

    epsilon: None takes the method's only one; a method without releases has every epsilon. grid:
    required values of parameters.
    """

    label: str
    epsilon: float | None = None
    grid: Mapping[str, Value] | None = None

    def __call__(self, results: Results) -> float:
        return self.place(results).median

    def place(self, results: Results) -> Measured:
        """Return the measured place; raise MissingResult if none or several fit."""
        grid = dict(self.grid or {})
        fitting = [
            it
            for it in results
            if it.label == self.label
            and (None in (self.epsilon, it.epsilon) or it.epsilon == self.epsilon)
            and all(it.grid.get(name, value) == value for name, value in grid.items())
        ]
        if len(fitting) != 1:
            raise MissingResult(f"{self} has {len(fitting)} results")
        return fitting[0]

    def __str__(self) -> str:
        at = [] if self.epsilon is None else [f"ε = {budget_text(self.epsilon)}"]
        at += [f"{name} {value}" for name, value in (self.grid or {}).items()]
        return f"{self.label} at {', '.join(at)}" if at else self.label


@dataclass(frozen=True)
class Mean(Median):
    """The mean of a method's draws at one place, if the source shows means."""

    def __call__(self, results: Results) -> float:
        return statistics.fmean(self.place(results).draws)


def of_label(results: Results, label: str) -> list[Measured]:
    """Return a method's results; raise MissingResult if there are none."""
    label_results = [it for it in results if it.label == label]
    if not label_results:
        raise MissingResult(f"{label} has no result")
    return label_results


def line(results: Results, label: str, name: str, means: bool = False) -> dict[float, float]:
    """Return a method's medians along `epsilon` or one grid parameter, in ascending order.

    means: return the means of draws. Raises MissingResult if there is no such place, or two.
    """
    out: dict[float, float] = {}
    for it in of_label(results, label):
        at = it.epsilon if name == "epsilon" else it.grid.get(name)
        if at is None:
            continue
        if float(at) in out:
            raise MissingResult(f"{label} has several results at {name} {at}")
        out[float(at)] = statistics.fmean(it.draws) if means else it.median
    if not out:
        raise MissingResult(f"{label} has no result along {name}")
    return dict(sorted(out.items()))


def best(label: str) -> Quantity:
    """Return the smallest median of a method over all places, as a quantity of results."""
    return lambda results: min(it.median for it in of_label(results, label))


# ---- clauses -------------------------------------------------------------------------------------


def judged(
    words: str,
    measured: Callable[[Results], Quantities],
    margin: Callable[[Quantities], float],
    figures: Callable[[Quantities], str],
) -> Clause:
    """State something about what is measured of results: its margin and its figures as text."""
    return Clause(
        words, lambda results: margin(measured(results)), lambda results: figures(measured(results))
    )


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 1 else f"{value:.4f}"


def along(
    values: Mapping[float, float], form: Callable[[float], str] = "{:.4f}".format, name: str = ""
) -> str:
    """Return values as text, each with its place on an axis. name: put before each place."""
    prefix = f"{name} " if name else ""
    return ", ".join(f"{form(value)} at {prefix}{at:g}" for at, value in values.items())


def above(words: str, larger: Quantity, smaller: Quantity, form: str) -> Clause:
    """State that one quantity is above another. form: of both as text, the larger one first."""
    return judged(
        words,
        lambda results: (larger(results), smaller(results)),
        lambda both: both[0] - both[1],
        lambda both: form.format(*both),
    )


def less(smaller: Median, larger: Median, words: str = "", by: float = 0.0) -> Clause:
    """State that one median is below another by more than its own share `by`."""
    return judged(
        words or f"{smaller} is below {larger}",
        lambda results: (smaller(results), larger(results)),
        lambda both: both[1] - both[0] - by * abs(both[0]),
        lambda both: f"{smaller} {_number(both[0])}, {larger} {_number(both[1])}",
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
        f"{it} {_number(at)}" for it, at in limits.items() if abs(at) < math.inf
    )
    return judged(
        words,
        quantity,
        lambda value: min(value - low, high - value),
        lambda value: f"{name} {_number(value)}, wanted {limits_text}",
    )


def near(words: str, quantity: Quantity, source_value: float, within: float) -> Clause:
    """State that a quantity equals a published number to within the share `within`."""
    return judged(
        words,
        quantity,
        lambda value: within * abs(source_value) - abs(value - source_value),
        lambda value: f"measured {_number(value)}, published {_number(source_value)}",
    )


def rises(words: str, label: str, name: str) -> Clause:
    """State that medians rise along an axis, and that no step falls."""
    return judged(
        words,
        lambda results: line(results, label, name),
        lambda medians: fall(list(medians.values())[::-1]),
        lambda medians: along(medians, _number, name),
    )


def fall(values: Sequence[float], level: float = 0.0) -> float:
    """Return how far values fall: last below first, and no step rises by more than `level`."""
    steps = (before + level - after + 1e-12 for before, after in itertools.pairwise(values))
    return min(values[0] - values[-1], *steps)


def on_each(name: str, clause: Clause) -> Clause:
    """State that a clause holds at every value of a grid parameter."""

    def parts(results: Results) -> dict[Value, list[Measured]]:
        values = dict.fromkeys(it.grid[name] for it in results if name in it.grid)
        if not values:
            raise MissingResult(f"there is no result by {name}")
        return {value: [it for it in results if it.grid.get(name) == value] for value in values}

    def figures(results: Results) -> str:
        each = parts(results)
        if len(each) == 1:
            return clause.figures(results)
        return "; ".join(f"{value}: {clause.figures(part)}" for value, part in each.items())

    return Clause(
        clause.words,
        lambda results: min(clause.margin(part) for part in parts(results).values()),
        figures,
    )
