"""The start page's figure: how much of what recommendations learn is kept at each epsilon, and
what that epsilon means for one person, of the usual choice.
"""

import functools
import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dpmf_core.algorithms import REGISTRY
from dpmf_core.privacy import Gaussian, Relation, default_delta, neighbours
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.interpretation import meaning
from dpmf_core.runs import gain, shipped_runs
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import EpsilonGrid, GridRun, Point, grid_runs, read_grid
from dpmf_core.runs.gain import kept_along
from dpmf_core.runs.planning import prepare
from pages.kit import data_sets, kept_gain
from pages.kit.choice import Choice
from pages.kit.sidebar_values import CONTROLS, EPSILONS

METRIC = "rmse"


@functools.cache
def choice() -> Choice:
    """What a page about ratings shows first."""
    first = data_sets.FIRST["ratings"]
    return Choice(
        data=first["data"],
        top_items=None,
        algorithm=first["algo"],
        epsilon=CONTROLS["eps"].first,
        delta=default_delta(data_sets.find(first["data"]).n_users),
        seed=CONTROLS["seed"].first,
        calibration="exact",
    )


def runs() -> list[GridRun]:
    """The runs that the figure is made of."""
    return grid_runs(choice().spec())


@functools.cache
def grid() -> EpsilonGrid:
    """What comes with the package of these runs, whatever the store holds."""
    run_list = runs()
    return read_grid(run_list, shipped_runs.summaries([it.spec for it in run_list]), METRIC)


@dataclass(frozen=True)
class GainShare:
    """How much of the gain over guessing a private method keeps at an epsilon: the median draw,
    the lowest and the highest; 1 is all of it, 0 none.

    error: its RMSE. measured: whether it was, or lies on a line between two that were.
    """

    epsilon: float
    share: float
    low: float
    high: float
    error: float
    measured: bool


def gain_shares(epsilon_grid: EpsilonGrid) -> list[GainShare]:
    """At each measured epsilon and each stop of the sidebar's slider between two of them."""
    shares = kept_along(epsilon_grid)
    measured_shares = [
        _measured_share(own, point) for own, point in zip(shares, epsilon_grid.points, strict=True)
    ]
    stops = {it.epsilon: it for it in measured_shares}
    for low, high in itertools.pairwise(measured_shares):
        for epsilon in EPSILONS:
            if low.epsilon < epsilon < high.epsilon:
                stops[epsilon] = _between(low, high, epsilon)
    return sorted(stops.values(), key=lambda it: it.epsilon)


def _measured_share(own: gain.KeptGain, point: Point) -> GainShare:
    return GainShare(
        own.epsilon, own.median, min(own.shares), max(own.shares), point.median, measured=True
    )


def _between(low: GainShare, high: GainShare, epsilon: float) -> GainShare:
    """Linear in the logarithm of epsilon."""
    far = math.log(epsilon / low.epsilon) / math.log(high.epsilon / low.epsilon)

    def mix(one: float, other: float) -> float:
        return (1 - far) * one + far * other

    return GainShare(
        epsilon,
        mix(low.share, high.share),
        mix(low.low, high.low),
        mix(low.high, high.high),
        mix(low.error, high.error),
        measured=False,
    )


@functools.cache
def stops(delta: float) -> Sequence[dict[str, object]]:
    """What the figure shows where its handle stands, of every stop: numbers of the curve, and
    facts in words.
    """
    epsilon_grid = grid()
    twin, trivial = statistics.median(epsilon_grid.twin), statistics.median(epsilon_grid.trivial)
    return [
        {
            "epsilon": it.epsilon,
            "kept": it.share,
            "low": it.low,
            "high": it.high,
            "measured": it.measured,
            "facts": _facts(it, delta, twin, trivial),
        }
        for it in gain_shares(epsilon_grid)
    ]


def table() -> pd.DataFrame:
    """The measured points of the figure, a row each."""
    return pd.DataFrame(
        {
            "epsilon": it.epsilon,
            "kept": it.share,
            "lowest draw": it.low,
            "highest draw": it.high,
            "RMSE": it.error,
        }
        for it in gain_shares(grid())
        if it.measured
    )


def caption() -> str:
    """What the figure is of, and how it was measured."""
    it, goal = choice(), kept_gain.USUAL
    answer = "".join(part for part in kept_gain.answer(kept_along(grid()), goal))
    return (
        f"{REGISTRY[it.algorithm].title}, which is ALS made private, on {it.entry.title},"
        " invented so that you may look at everything. Other private methods do better: Trade-off"
        f" compares them. Points are measured, medians of {DRAWS} draws; the band reaches from"
        " the lowest draw to the highest, and between points the line is straight. To keep"
        f" {goal}%: {answer}."
    )


def _facts(at: GainShare, delta: float, twin: float, trivial: float) -> list[dict[str, str]]:
    one = meaning(Gaussian(1 / gaussian_mu(at.epsilon, delta)), delta)
    exception = delta_text(float(f"{one.exception:.1g}"))
    share = max(0.0, at.share)
    about = "" if at.measured else "about "
    words = (
        f"of what recommendations learn. Predicted ratings are off by {about}{at.error:.2f} stars;"
        f" by {twin:.2f} without privacy, by {trivial:.2f} when guessing."
    )
    return [
        {
            "number": f"ε = {budget_text(at.epsilon)}",
            "words": (
                f"in total, for all that is released ({_terms(delta)}). Drag the point: to the"
                " left is safer."
            ),
        },
        {"number": f"{about}{share:.0%} kept", "words": words},
        {
            "number": _suspicion(one.suspicion),
            "words": (
                "is as sure as somebody can become that you were among them who first held it for"
                f" as likely as not, except with probability {exception}."
            ),
        },
    ]


def _terms(delta: float) -> str:
    """What an epsilon here is of."""
    unit = _unit()
    return (
        f"δ = {delta_text(delta)}, per {unit}, {neighbours(unit, Relation.ADD_REMOVE)}, exact rule"
    )


@functools.cache
def _unit() -> str:
    """What is protected."""
    it = choice()
    return prepare(it.spec(), it.shape, it.assumptions).guarantee.unit


def _suspicion(share: float) -> str:
    whole = math.floor(100 * share + 0.5)
    if whole < 100:
        return f"{whole} in 100"
    return "over 99 in 100"
