"""Saha & Imtiaz 2022, Table 4: its method and DPNMF on MovieLens 1M.

The source prints no unit, no K and no number of steps. Its own column has the size of errors of
rows scaled to norm 1, at the rated cells; DPNMF's that of errors in stars. We measure both.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Results, judged
from dpmf_core.papers.compared_figures import MeasuredFigure
from dpmf_core.papers.figures import Claim, first_present
from dpmf_core.papers.saha_2022 import methods
from dpmf_core.papers.saha_2022.departures import with_departures
from dpmf_core.papers.saha_2022.methods import FRESH, PRIVATE
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Runs
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

ROWS = "rows of norm 1"
STARS = "stars"
UNITS = {ROWS: "unit_row_rmse", STARS: "training_rmse"}
EPSILONS = (0.3, 0.5, 0.7)
DPNMF = "DPNMF (Laplace)"
QUIET = "DPNMF (Laplace), hardly any noise"
ZERO = "Predict 0"
OWN_MEAN = "Predict everybody's own mean"
PUBLISHED_DPNMF = dict(zip(EPSILONS, (1.1953, 1.0785, 1.0155), strict=True))
# all but a thousandth of the ratings are learned from: the table's errors are of these
NEARLY_ALL = SplitSpec(test_fraction=0.001)


def _films() -> str:
    return first_present("ml-1m", "cinema-small")


def _sweeps() -> tuple[Sweep, ...]:
    laplace = Method(algorithm="dpnmf-laplace", label=DPNMF)
    compared = (
        methods.as_published(8, 20),
        methods.plain(8),
        laplace,
        Method(algorithm="user-mean", label=OWN_MEAN),
    )
    sweep = Sweep(
        data=DataSpec(id=_films()),
        methods=compared,
        epsilons=EPSILONS,
        seeds=FRESH[:1],
        split=NEARLY_ALL,
    )
    quiet = {
        "methods": (laplace.model_copy(update={"label": QUIET}),),
        "epsilons": (1000.0,),
    }
    return sweep, sweep.model_copy(update=quiet)


def _in_both_units(points: Sequence[Point], runs: Runs, _: str) -> list[Measured]:
    return [
        replace(summary, grid={"unit": unit})
        for unit, metric in UNITS.items()
        for summary in Draws.of_runs(points, runs).measured(metric)
    ]


def _zero() -> list[Measured]:
    """The errors of predicting 0 for every rating."""
    errors = zip(UNITS, _errors_of_zero(_films()), strict=True)
    return [
        Measured(ZERO, "global-mean", None, {"unit": unit}, (error,))
        for unit, error in errors
    ]


@functools.lru_cache(2)
def _errors_of_zero(name: str) -> tuple[float, float]:
    """Each user's error in rows of norm 1 (1 in total), or each rating's in stars."""
    ratings = catalogue().load(name)
    assert isinstance(ratings, Ratings)
    users = len(np.unique(ratings.users))
    squares = float(np.square(ratings.values, dtype=np.float64).sum())
    return math.sqrt(users / len(ratings)), math.sqrt(squares / len(ratings))


# ---- what is judged ------------------------------------------------------------------------------


def _in_stars(results: Results) -> list[tuple[float, float, float]]:
    """Epsilon, the method's error and DPNMF's, both in stars."""
    ours, theirs = (
        [
            MeasuredFigure(
                label=label,
                epsilon=epsilon,
                grid={"unit": STARS},
            )(results)
            for epsilon in EPSILONS
        ]
        for label in (PRIVATE, DPNMF)
    )
    return list(zip(EPSILONS, ours, theirs, strict=True))


BELOW_DPNMF = judged(
    "at every ε it is more accurate than DPNMF",
    _in_stars,
    lambda errors: min(theirs - ours for _, ours, theirs in errors),
    lambda errors: (
        "both in stars: "
        + ", ".join(
            f"{ours:.2f} and {theirs:.2f} at {at:g}" for at, ours, theirs in errors
        )
    ),
)


DPNMF_IN_STARS = judged(
    "the errors of DPNMF are 1.1953, 1.0785 and 1.0155 (read as stars, within a fifth)",
    lambda results: {
        at: error / PUBLISHED_DPNMF[at] for at, _, error in _in_stars(results)
    },
    lambda ratios: 0.2 - max(abs(ratio - 1) for ratio in ratios.values()),
    lambda ratios: (
        "in stars "
        + ", ".join(
            f"{value:.2f} times the published number at {at:g}"
            for at, value in ratios.items()
        )
    ),
)


def _guesses(results: Results) -> str:
    """The errors of guessing in both units."""

    def at(label: str) -> str:
        rows, stars = (
            MeasuredFigure(label=label, grid={"unit": unit})(results)
            for unit in (ROWS, STARS)
        )
        return f"{rows:.4f} in rows of norm 1 and {stars:.2f} in stars"

    return f"The error of predicting 0 is {at(ZERO)}, of each own mean {at(OWN_MEAN)}."


TABLE_4 = Claim.of(
    __package__,
    "saha-table4",
    sweeps=_sweeps,
    compute=_zero,
    measure=_in_both_units,
    clauses=(DPNMF_IN_STARS, BELOW_DPNMF),
    remark=with_departures(_guesses),
)
