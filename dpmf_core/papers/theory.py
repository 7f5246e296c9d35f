"""Published error bounds as claims about exponents: slopes of log error over log size.

Along each axis the measured error falls at least as fast, or grows at most as fast, as the bound
over the same places. Only a slower decay or a faster growth contradicts an upper bound. A bound
leaves its universal constant open: it gives the growth along an axis, not the size. n users and m
items throughout; Jain et al. write m for users and n for items.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from dpmf_core.papers.clauses import (
    Clause,
    MissingResult,
    Results,
    judged,
    place_along,
)
from dpmf_core.papers.figures import Claim, Sweeps, as_published
from dpmf_core.papers.shared_methods import on_lowrank
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Runs
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

Axis = Literal["users", "items", "epsilon"]


@dataclass(frozen=True)
class Place:
    """The place at which a bound is evaluated. All numbers are positive.

    Attributes
    ----------
    users, items
        The numbers of users and items.
    epsilon, delta
        The guarantee.
    share
        The share of observed entries.
    """

    users: float = 20_000
    items: float = 1_000
    epsilon: float = 10.0
    delta: float = 1e-5
    share: float = 0.2


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One published bound.

    Attributes
    ----------
    algorithm
        The id of the algorithm in the registry.
    source
        The paper and the place.
    quote
        The source's words, copied exactly.
    statement
        The result in our words.
    formula
        LaTeX, with n users and m items.
    error
        The bound without its constant, with the printed logarithms. It is relative to the matrix in
        Frobenius norm.
    needs
        The conditions of the bound.
    """

    id: str
    title: str
    algorithm: str
    source: str
    quote: str
    statement: str
    formula: str
    error: Callable[[Place], float]
    needs: str

    @property
    def place(self) -> str:
        """The place in the paper."""
        return self.source.partition(", ")[2]


AXES: dict[Axis, str] = {"users": "users n", "items": "items m", "epsilon": "ε"}
# ratings of a user along the axis of items, so that their number is the same everywhere
EACH = 40
# where the axis does not move
PLACES: dict[Axis, Place] = {
    "users": Place(20_000, 1_000, 10.0),
    "items": Place(20_000, 1_000, 10.0),
    "epsilon": Place(5_000, 1_000, 10.0),
}
Steps = Callable[[Axis, DataSpec], tuple[int, ...]]
CONFIDENCE = 0.95
SMALLEST = 1e-12  # an error below it counts as this


def place_at(axis: Axis, x: float) -> Place:
    """The place of a value on an axis, with the data's share of observed entries.

    A user has 20 log n of m entries, or EACH along the axis of items.
    """
    at = replace(PLACES[axis], **{axis: x})
    ratings = EACH if axis == "items" else 20 * math.log(max(at.users, 2.0))
    return replace(at, share=min(1.0, ratings / at.items))


# ---- exponents -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exponent:
    """The exponent of error ~ x^value, with its confidence interval from `low` to `high`."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def exponent(draws: Iterable[tuple[float, float]]) -> Exponent:
    """The exponent of error over x by least squares on logarithms, with Student's interval.

    Parameters
    ----------
    draws
        (x, error) of every run. x is positive.

    Raises
    ------
    MissingResult
        If there are fewer than three draws, or fewer than two different x.
    """
    logs = np.log([(x, max(error, SMALLEST)) for x, error in draws])
    if len(logs) < 3 or len(np.unique(logs[:, 0])) < 2:
        raise MissingResult(
            f"an exponent needs three draws at two sizes, there are {len(logs)}"
        )
    x, y = (logs - logs.mean(axis=0)).T
    slope = float(x @ y / (x @ x))
    rest = y - slope * x
    freedom = len(logs) - 2
    deviation = math.sqrt(rest @ rest / freedom / (x @ x))
    reach = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * deviation
    return Exponent(slope, slope - reach, slope + reach)


def draws_along(axis: Axis, results: Results) -> list[tuple[float, float]]:
    """The place on an axis and the error of every run. Raises MissingResult."""
    return [
        (place_along(result, axis), draw) for result in results for draw in result.draws
    ]


def medians(draws: Iterable[tuple[float, float]]) -> dict[float, float]:
    """The median error at each place, ascending."""
    errors: dict[float, list[float]] = {}
    for at, error in sorted(draws):
        errors.setdefault(at, []).append(error)
    return {at: statistics.median(each) for at, each in errors.items()}


def fitted(
    bound: Bound,
    axis: Axis,
    draws: Iterable[tuple[float, float]],
    values: Iterable[float],
) -> list[float]:
    """The bound along an axis, times the constant that fits the first median."""
    start, error = next(iter(medians(draws).items()))
    constant = error / bound.error(place_at(axis, start))
    return [constant * bound.error(place_at(axis, x)) for x in values]


def bound_exponent(bound: Bound, axis: Axis, values: Iterable[float]) -> float:
    """The least-squares exponent of the bound's curve over these values of the axis.

    Logarithms of a bound make it vary.
    """
    return exponent((x, bound.error(place_at(axis, x))) for x in values).value


# ---- claims --------------------------------------------------------------------------------------


def _sweeps(axis: Axis, method: Method, steps: Steps) -> Sweeps:
    """Runs along an axis.

    The data along items have about EACH ratings per user; ratings are removed before items.
    """

    def data_sets() -> list[DataSpec]:
        if axis == "epsilon":
            return [DataSpec(id="lowrank-5k")]
        if axis == "users":
            names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
            return [DataSpec(id=name) for name in names]
        every = int(PLACES["items"].items)
        return [
            DataSpec(
                id="lowrank",
                top_items=top,
                most_per_user=EACH * every // top,
            )
            for top in (250, 320, 400, 500, 630)
        ]

    def sweeps() -> Iterator[Sweep]:
        for data in data_sets():
            numbers = steps(axis, data)
            yield Sweep(
                data=data,
                methods=tuple(map(as_published, on_lowrank(method))),
                epsilons=(5.0, 10.0, 20.0)
                if axis == "epsilon"
                else (PLACES[axis].epsilon,),
                seeds=(0, 1, 2),
                grid={"steps": numbers} if numbers else {},
            )

    return sweeps


def best_steps(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The number of steps with the lowest median at every place."""
    best: dict[tuple[object, ...], Measured] = {}
    for point in Draws.of_runs(points, runs).measured(metric):
        place = (
            point.label,
            point.epsilon,
            point.grid.get("users"),
            point.grid.get("items"),
        )
        if place not in best or point.median < best[place].median:
            best[place] = point
    return list(best.values())


def no_slower(
    words: str, exponents: Callable[[Results], tuple[Exponent, float]]
) -> Clause:
    """State that the interval of the measured exponent is not wholly above the bound's.

    Parameters
    ----------
    words
        The statement in words.
    exponents
        The measured exponent, and the exponent of the bound's curve over the same places.
    """
    return judged(
        words,
        exponents,
        lambda both: both[1] - both[0].low,
        lambda both: (
            f"measured exponent {both[0]}, of the bound {round(both[1], 2) + 0.0:+.2f}"
        ),
    )


def no_worse(bound: Bound, axis: Axis) -> Clause:
    """State that the error decays at least as fast, or grows at most as fast, as the bound."""
    how = "grows at most" if axis == "items" else "falls at least"

    def exponents(results: Results) -> tuple[Exponent, float]:
        draws = draws_along(axis, results)
        return exponent(draws), bound_exponent(bound, axis, [x for x, _ in draws])

    clause = no_slower(
        f"the error {how} as fast along {AXES[axis]} as the bound", exponents
    )
    return replace(clause, place=bound.place, quote=bound.quote)


def claim_id(algorithm: str, axis: Axis) -> str:
    """The id of the claim that measures this algorithm along this axis."""
    return f"theory-{algorithm}-{axis}"


def bound_claims(
    bound: Bound,
    method: Method,
    steps: Steps,
    *,
    remark: Callable[[Results], str] = lambda results: "",
    words: str = "",
    limits: str = "",
    left_open: str = "",
) -> tuple[Claim, ...]:
    """A claim along each axis of a bound.

    Parameters
    ----------
    bound
        The published bound.
    method
        The method that is measured.
    steps
        The numbers of steps to try, by axis and data; an empty tuple takes the default.
    remark
        Further observations on the results.
    words
        How the method deviates from the source's.
    limits
        Why results lie outside the bound's conditions on any data; '' if they do not.
    left_open
        Settings that the source does not print, and ours; '' if it prints all.

    Returns
    -------
    tuple of Claim
        The claims, in the order of `AXES`.
    """
    return tuple(
        Claim(
            id=claim_id(bound.algorithm, axis),
            title=f"{bound.title}: error against {AXES[axis]}",
            source=bound.source,
            words=" ".join(filter(None, (f"{bound.statement}.", words))),
            sweeps=_sweeps(axis, method, steps),
            measure=best_steps,
            clauses=(no_worse(bound, axis),),
            axis=axis,
            remark=remark,
            limits=limits,
            left_open=left_open,
        )
        for axis in AXES
    )
