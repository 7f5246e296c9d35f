"""Clauses that only compare, bound or order measured figures, as rows of `paper.toml`."""

import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, TypeAdapter

from dpmf_core.base.frozen import Frozen
from dpmf_core.papers.clauses import (
    Clause,
    MissingResult,
    Results,
    along,
    between,
    fall,
    judged,
    line,
    number,
    of_label,
    place_along,
    value_along,
)
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import Value

# ---- figures -------------------------------------------------------------------------------------

OVER: Mapping[str, Callable[[list[float]], float]] = {
    "lowest": min,
    "highest": max,
    "mean": statistics.fmean,
    "range": lambda values: max(values) - min(values),
    "size": lambda values: max(map(abs, values)),
}


class MeasuredFigure(Frozen):
    """A figure of a method's results at one place, or over several places.

    Attributes
    ----------
    label
        The label of the method, or of several methods.
    epsilon
        The required epsilon; None takes every one. A method without releases has every epsilon.
    grid
        The required values of parameters.
    nearest
        Targets by axis. The measured value nearest to each is taken.
    within
        The smallest and the largest value, by axis.
    along
        The axis of `at`: `epsilon` or a parameter.
    at
        Whether the first or the last place along that axis is taken.
    draws
        The median or the mean of the draws at a place.
    over
        What is taken over the places. If it is "", there must be exactly one place.
    """

    label: str | tuple[str, ...]
    epsilon: float | None = None
    grid: dict[str, Value] = Field(default_factory=dict)
    nearest: dict[str, float] = Field(default_factory=dict)
    within: dict[str, tuple[float, float]] = Field(default_factory=dict)
    along: str = ""
    at: Literal["first", "last"] = "last"
    draws: Literal["median", "mean"] = "median"
    over: Literal["", "lowest", "highest", "mean", "range", "size"] = ""

    def __call__(self, results: Results) -> float:
        """The figure. Raises MissingResult."""
        places = self._places(results)
        if not self.over:
            if len(places) != 1:
                raise MissingResult(f"{self} has {len(places)} results")
            return self._figure(places[0])
        if missing := self._labels - {place.label for place in places}:
            raise MissingResult(f"{', '.join(sorted(missing))} has no result")
        return OVER[self.over]([self._figure(place) for place in places])

    @property
    def _labels(self) -> set[str]:
        if isinstance(self.label, str):
            return {self.label}
        return set(self.label)

    def _figure(self, place: Measured) -> float:
        if self.draws == "median":
            return place.median
        return statistics.fmean(place.draws)

    def _places(self, results: Results) -> list[Measured]:
        places = [place for place in results if self._fits(place)]
        for name, target in self.nearest.items():
            places = _closest(places, name, target)
        if self.along and places:
            pick = min if self.at == "first" else max
            places = _closest(
                places,
                self.along,
                pick(place_along(place, self.along) for place in places),
            )
        return places

    def _fits(self, place: Measured) -> bool:
        if place.label not in self._labels:
            return False
        has_epsilon = (
            None in (self.epsilon, place.epsilon) or place.epsilon == self.epsilon
        )
        has_grid = all(
            place.grid.get(name, value) == value for name, value in self.grid.items()
        )
        is_within = all(
            low <= place_along(place, name) <= high
            for name, (low, high) in self.within.items()
        )
        return has_epsilon and has_grid and is_within

    def __str__(self) -> str:
        at = [] if self.epsilon is None else [f"ε = {budget_text(self.epsilon)}"]
        at += [f"{name} {value}" for name, value in self.grid.items()]
        if at:
            return f"{self.label} at {', '.join(at)}"
        return f"{self.label}"


def _closest(places: Sequence[Measured], name: str, target: float) -> list[Measured]:
    distances = [abs(place_along(place, name) - target) for place in places]
    return [
        place
        for place, distance in zip(places, distances, strict=True)
        if distance == min(distances)
    ]


class Ratio(Frozen):
    """One figure over another, minus `less`, which is 1 for the share above."""

    ratio: tuple[MeasuredFigure, MeasuredFigure]
    less: float = 0.0

    def __call__(self, results: Results) -> float:
        one, other = self.ratio
        return one(results) / other(results) - self.less


class Difference(Frozen):
    """How far two figures are apart."""

    apart: tuple[MeasuredFigure, MeasuredFigure]

    def __call__(self, results: Results) -> float:
        one, other = self.apart
        return abs(one(results) - other(results))


AnyFigure = MeasuredFigure | Ratio | Difference


class MeasuredLine(Frozen):
    """A method's medians along `epsilon` or a parameter.

    Attributes
    ----------
    label
        The label of the method.
    along
        `epsilon` or the parameter.
    averaged
        Whether the medians are averaged over all other parameters.
    level
        The largest step the other way that counts as none.
    none
        The place that stands for the absence of a value.
    """

    label: str
    along: str
    averaged: bool = False
    level: float = 0.0
    none: float | None = None

    def __call__(self, results: Results) -> dict[float, float]:
        """Medians by place, ascending. Raises MissingResult."""
        if not self.averaged:
            return line(results, self.label, self.along)
        medians: dict[float, list[float]] = {}
        for place in of_label(results, self.label):
            medians.setdefault(place_along(place, self.along), []).append(place.median)
        return {at: statistics.fmean(medians[at]) for at in sorted(medians)}

    def words(self, medians: Mapping[float, float]) -> str:
        names = {at: "none" if at == self.none else f"{at:g}" for at in medians}
        parts = (f"{number(median)} at {names[at]}" for at, median in medians.items())
        axis = self.along.replace("_", " ")
        return f"{', '.join(parts)} ({axis})"


class LinePair(Frozen):
    """A line, and another one below it at every place within two values of the axis."""

    upper: str
    lower: str
    along: str
    within: tuple[float, float] = (0.0, 1.0)

    def __call__(self, results: Results) -> dict[float, float]:
        """How far the upper line is above the lower one. Raises MissingResult."""
        return part(gaps(results, self.upper, self.lower, self.along), *self.within)


def gaps(results: Results, upper: str, lower: str, name: str) -> dict[float, float]:
    """How far one line is above another, by place."""
    above = line(results, upper, name)
    below = line(results, lower, name)
    if above.keys() != below.keys():
        raise MissingResult(f"{upper} and {lower} were not measured at the same places")
    return {at: above[at] - below[at] for at in above}


def part(values: Mapping[float, float], low: float, high: float) -> dict[float, float]:
    """The part of a line from `low` to `high`. Raises MissingResult if that part is empty."""
    chosen_values = {at: value for at, value in values.items() if low <= at <= high}
    if not chosen_values:
        raise MissingResult(f"nothing was measured from {low:g} to {high:g}")
    return chosen_values


def on_each(name: str, clause: Clause) -> Clause:
    """State that a clause holds at every value of `epsilon` or of a grid parameter."""

    def parts(results: Results) -> dict[Value, list[Measured]]:
        values = dict.fromkeys(value_along(place, name) for place in results)
        parts = {
            value: [place for place in results if value_along(place, name) == value]
            for value in values
            if value is not None
        }
        if not parts:
            raise MissingResult(f"there is no result by {name}")
        return parts

    def figures(results: Results) -> str:
        figures_of = {
            value: clause.figures(part) for value, part in parts(results).items()
        }
        if len(figures_of) == 1:
            return "".join(figures_of.values())
        prefix = "ε = " if name == "epsilon" else ""
        texts = (
            f"{prefix}{f'{value:g}' if isinstance(value, float) else value}: {text}"
            for value, text in figures_of.items()
        )
        return "; ".join(texts)

    return Clause(
        clause.words,
        lambda results: min(clause.margin(part) for part in parts(results).values()),
        figures,
    )


# ---- rows ----------------------------------------------------------------------------------------


class StatementRow(Frozen):
    """One statement of a source. `place`, `quote` and `words` are those of `Clause`.

    Attributes
    ----------
    each
        If it is not "", the statement holds at each value of `epsilon` or of this parameter.
    """

    place: str
    quote: str
    words: str
    each: str = ""

    def comparison(self) -> Clause:
        raise NotImplementedError

    def clause(self) -> Clause:
        clause = self.comparison()
        if self.each:
            clause = on_each(self.each, clause)
        return replace(clause, place=self.place, quote=self.quote)


class Less(StatementRow):
    """Each figure is below the next one, by more than its own share `by`.

    Attributes
    ----------
    figures
        How the numbers are written, in their order.
    """

    less: tuple[AnyFigure, ...]
    by: float = 0.0
    figures: str = ""

    def comparison(self) -> Clause:
        return judged(
            self.words,
            lambda results: [figure(results) for figure in self.less],
            self._margin,
            self._text,
        )

    def _margin(self, values: list[float]) -> float:
        return min(
            larger - smaller - self.by * abs(smaller)
            for smaller, larger in itertools.pairwise(values)
        )

    def _text(self, values: list[float]) -> str:
        if self.figures:
            return self.figures.format(*values)
        pairs = zip(self.less, values, strict=True)
        return ", ".join(f"{figure} {number(value)}" for figure, value in pairs)


class Between(StatementRow):
    """A figure, called `name` in words, is above one number and below another."""

    between: AnyFigure
    above: float = -math.inf
    below: float = math.inf
    name: str = "measured"

    def comparison(self) -> Clause:
        return between(self.words, self.between, self.above, self.below, self.name)


class Near(StatementRow):
    """A figure equals a published number to within the share `within`."""

    near: AnyFigure
    published: float
    within: float

    def comparison(self) -> Clause:
        return judged(
            self.words,
            self.near,
            lambda value: (
                self.within * abs(self.published) - abs(value - self.published)
            ),
            lambda value: (
                f"measured {number(value)}, published {number(self.published)}"
            ),
        )


class Close(StatementRow):
    """Private figures equal the one without privacy to within the share `within`."""

    close: tuple[AnyFigure, ...]
    to: AnyFigure
    within: float

    def comparison(self) -> Clause:
        return judged(
            self.words,
            lambda results: (
                self.to(results),
                [figure(results) for figure in self.close],
            ),
            lambda both: (
                self.within * abs(both[0]) - max(abs(one - both[0]) for one in both[1])
            ),
            lambda both: (
                f"{', '.join(f'{one:.4f}' for one in both[1])} in private, {both[0]:.4f} without"
            ),
        )


class Rises(StatementRow):
    """The last place of a line is above its first, and no step falls by more than its level."""

    rises: MeasuredLine

    def comparison(self) -> Clause:
        line = self.rises
        return judged(
            self.words,
            line,
            lambda medians: fall([*medians.values()][::-1], line.level),
            line.words,
        )


class Falls(StatementRow):
    """The last place of a line is below its first, and no step rises by more than its level."""

    falls: MeasuredLine

    def comparison(self) -> Clause:
        line = self.falls
        return judged(
            self.words,
            line,
            lambda medians: fall([*medians.values()], line.level),
            line.words,
        )


class Highest(StatementRow):
    """A line is highest at one place."""

    highest: MeasuredLine
    where: float

    def comparison(self) -> Clause:
        return judged(self.words, self.highest, self._margin, self.highest.words)

    def _margin(self, medians: Mapping[float, float]) -> float:
        if self.where not in medians:
            raise MissingResult(f"{self.highest.label} has no result at {self.where:g}")
        others = [median for at, median in medians.items() if at != self.where]
        return medians[self.where] - max(others)


class Lower(StatementRow):
    """A line is below another one at every place."""

    lower: LinePair

    def comparison(self) -> Clause:
        pair = self.lower
        return judged(
            self.words,
            pair,
            lambda gaps: min(gaps.values()),
            lambda gaps: (
                f"{pair.upper} less {pair.lower}, in points: {along(gaps, '{:.2f}'.format)}"
            ),
        )


class Computed(Frozen):
    """A statement with a computed clause."""

    place: str
    quote: str


ROW = TypeAdapter[
    Computed | Less | Between | Near | Close | Rises | Falls | Highest | Lower
](Computed | Less | Between | Near | Close | Rises | Falls | Highest | Lower)


def clauses_of(
    rows: Iterable[Mapping[str, object]], computed: Iterable[Clause]
) -> Iterator[Clause]:
    """Yield the clause of each row. Rows that compare nothing take `computed` ones in order."""
    left = iter(computed)
    for content in rows:
        row = ROW.validate_python(content)
        if isinstance(row, Computed):
            yield replace(next(left), place=row.place, quote=row.quote)
        else:
            yield row.clause()
    if next(left, None) is not None:
        raise ValueError("There are more computed clauses than rows for them.")
