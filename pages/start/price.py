"""The start page's figure: how much of the gain each epsilon keeps, from shipped runs."""

import functools
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import Relation, default_delta, neighbours
from dpmf_core.privacy.certainty import Certainty, certainty_at
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import EpsilonGrid, grid_runs, read_grid
from dpmf_core.runs.needed_epsilon import answer
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_cost import PrivacyCost
from pages.explore.story import USUAL
from pages.kit import data_sets
from pages.kit.comparison import best_known_title
from pages.kit.sidebar_values import EPSILONS, Choice

COLUMNS = ("kept", "lowest draw", "highest draw", "RMSE")
RMSE = METRICS["rmse"]


@functools.cache
def choice() -> Choice:
    """Return the defaults of a page about ratings."""
    first = data_sets.FIRST["ratings"]
    return Choice(**first, delta=default_delta(data_sets.find(first["dataset"]).n_users))


@functools.cache
def grid() -> EpsilonGrid:
    runs = grid_runs(choice().spec())
    return read_grid(runs, [shipped_runs.summary(it.spec) for it in runs], RMSE.id)


@functools.cache
def table() -> pd.DataFrame:
    """Return the measured points: epsilon, share of the gain kept, RMSE."""
    return pd.DataFrame(
        {
            "epsilon": kept.epsilon,
            "kept": kept.median,
            "lowest draw": min(kept.values),
            "highest draw": max(kept.values),
            "RMSE": errors.median,
        }
        for kept, errors in zip(grid().kept, grid().points, strict=True)
    )


@functools.cache
def stops() -> Sequence[dict[str, Any]]:
    """Return the figure's data at each place of its handle, linear along log epsilon.

    The places are the measured epsilons and the slider's stops between them.
    """
    known = table()
    measured = known["epsilon"].tolist()
    places = sorted({*measured, *(it for it in EPSILONS if measured[0] < it < measured[-1])})
    lines = [np.interp(np.log(places), np.log(measured), known[it]).tolist() for it in COLUMNS]
    return [
        {
            "epsilon": epsilon,
            "kept": kept,
            "low": low,
            "high": high,
            "measured": epsilon in measured,
            "facts": _facts(epsilon, kept, error, "" if epsilon in measured else "about "),
        }
        for epsilon, kept, low, high, error in zip(places, *lines, strict=True)
    ]


def caption() -> str:
    it = choice()
    value, detail = answer(grid().kept, USUAL / 100)
    return (
        f"{REGISTRY[it.algorithm].title} (private ALS) on {it.entry.title}, a synthetic data set."
        f" Points are measured medians of {DRAWS} draws of split and noise; the band is their"
        f" range. To keep {USUAL}%: {value}{detail}."
    )


def _facts(epsilon: float, kept: float, error: float, about: str) -> list[dict[str, str]]:
    """Return numbers with their meaning. about: 'about ' between measured points."""
    cost, best = PrivacyCost.of(RMSE, [(error, *levels())]), best_title()
    certainty = certainty_here(epsilon)
    return [
        {
            "number": f"ε = {budget_text(epsilon)}",
            "words": f"in total, for all releases ({_terms()}). Drag the point to the left for"
            " more privacy.",
        },
        {
            "number": f"{about}{max(0.0, kept):.0%} kept",
            "words": f"of what {best}, the best known method without privacy, can learn."
            f" Predicted ratings are off by {about}{RMSE.text(error)} stars; by"
            f" {RMSE.text(cost.best)} with {best}, by {RMSE.text(cost.guess)} when guessing the"
            f" mean. {cost.words(best)}",
        },
        {
            "number": certainty.percent,
            "words": certainty.words_of_figure,
        },
    ]


def certainty_here(epsilon: float) -> Certainty:
    """Return what an epsilon of these data lets an attacker become certain of."""
    return certainty_at(epsilon, choice().delta, _unit())


def levels() -> tuple[float, float, float]:
    """Return errors of the method without noise, of the best known method, and of guessing."""
    own, best, guess = (statistics.median(it) for it in (grid().open, grid().best, grid().trivial))
    return own, best, guess


def best_title() -> str:
    return best_known_title(choice().algorithm)


@functools.cache
def _unit() -> str:
    it = choice()
    return prepare(it.spec(), it.shape, it.assumptions).guarantee.unit


def _terms() -> str:
    """Return the terms of epsilon."""
    relation = neighbours(_unit(), Relation.ADD_REMOVE)
    return f"δ = {delta_text(choice().delta)}, per {_unit()}, {relation}, exact rule"
