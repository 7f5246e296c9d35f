"""The start page's figure: how much of the gain each epsilon keeps, from shipped runs."""

import functools
import statistics
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import Gaussian, Relation, default_delta, neighbours
from dpmf_core.privacy.formatting import budget_text, certainty_text, delta_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.interpretation import meaning
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import EpsilonGrid, GridRun, grid_runs, read_grid
from dpmf_core.runs.needed_epsilon import Goal, answer, share_kept
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_cost import PrivacyCost
from pages.explore.story import USUAL
from pages.kit import data_sets
from pages.kit.comparison import best_known_title
from pages.kit.sidebar_values import EPSILONS, Choice

COLUMNS = ("kept", "lowest draw", "highest draw", "RMSE")


@functools.cache
def choice() -> Choice:
    """Return the defaults of a page about ratings."""
    first = data_sets.FIRST["ratings"]
    return Choice(**first, delta=default_delta(data_sets.find(first["dataset"]).n_users))


def runs() -> list[GridRun]:
    return grid_runs(choice().spec())


@functools.cache
def grid() -> EpsilonGrid:
    run_list = runs()
    return read_grid(run_list, [shipped_runs.summary(it.spec) for it in run_list], "rmse")


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
def epsilons() -> list[float]:
    """Return the measured epsilons and the slider's stops between them."""
    measured = table()["epsilon"].tolist()
    return sorted({*measured, *(it for it in EPSILONS if measured[0] < it < measured[-1])})


@functools.cache
def stops() -> Sequence[dict[str, object]]:
    """Return the figure's data at each place of its handle, linear along log epsilon."""
    known = table()
    measured = known["epsilon"].tolist()
    lines = [np.interp(np.log(epsilons()), np.log(measured), known[it]).tolist() for it in COLUMNS]
    return [
        {
            "epsilon": epsilon,
            "kept": kept,
            "low": low,
            "high": high,
            "measured": epsilon in measured,
            "facts": _facts(epsilon, kept, error, "" if epsilon in measured else "about "),
        }
        for epsilon, kept, low, high, error in zip(epsilons(), *lines, strict=True)
    ]


def caption() -> str:
    it = choice()
    value, detail = answer(grid().kept, Goal.share(USUAL / 100))
    return (
        f"{REGISTRY[it.algorithm].title} (private ALS) on {it.entry.title}, a synthetic data set."
        f" Points are measured medians of {DRAWS} draws of split and noise; the band is their"
        f" range. To keep {USUAL}%: {value}{detail}."
    )


def _facts(epsilon: float, kept: float, error: float, about: str) -> list[dict[str, str]]:
    """Return numbers with their meaning. about: 'about ' between measured points."""
    kind = METRICS["rmse"]
    cost, best = PrivacyCost.of(kind, [(error, *levels())]), best_title()
    return [
        {
            "number": f"ε = {budget_text(epsilon)}",
            "words": f"in total, for all releases ({_terms()}). Drag the point to the left for"
            " more privacy.",
        },
        {
            "number": f"{about}{max(0.0, kept):.0%} kept",
            "words": f"of what {best}, the best known method without privacy, can learn."
            f" Predicted ratings are off by {about}{kind.text(error)} stars; by"
            f" {kind.text(cost.best)} with {best}, by {kind.text(cost.guess)} when guessing the"
            f" mean. {cost.words(best)}",
        },
        {
            "number": certainty_text(epsilon) or "almost certain",
            "words": "is how sure someone who starts at 50:50 can become that you took part"
            f" (exceptions: {exceptions(epsilon)} in 100,000).",
        },
    ]


def percent(share: float) -> str:
    return f"{share:.0%}" if share < 0.995 else "over 99%"


def exceptions(epsilon: float) -> str:
    """Return how many in 100,000 the bound of an epsilon may miss, to one digit."""
    delta = choice().delta
    one = meaning(Gaussian(1 / gaussian_mu(epsilon, delta)), delta)
    return f"{float(f'{1e5 * one.exception:.1g}'):g}"


def levels() -> tuple[float, float, float]:
    """Return errors of the method without noise, of the best known method, and of guessing."""
    own, best, guess = (statistics.median(it) for it in (grid().open, grid().best, grid().trivial))
    return own, best, guess


def best_title() -> str:
    return best_known_title(choice().algorithm)


def words() -> dict[str, str]:
    method = REGISTRY[choice().algorithm].title
    return {
        "name": "Epsilon",
        "low": "more private",
        "high": "more accurate",
        "best": f"100%: the best known without privacy ({best_title()})",
        "open": f"{method} without noise",
        "trivial": "0%: guessing the mean",
        "price": "what noise costs",
    }


@functools.cache
def kept_without_noise() -> float:
    """Return the share of the best known method's gain that the method keeps without noise."""
    return share_kept([levels()]) or 0.0


@functools.cache
def _terms() -> str:
    """Return the terms of epsilon."""
    it = choice()
    unit = prepare(it.spec(), it.shape, it.assumptions).guarantee.unit
    relation = neighbours(unit, Relation.ADD_REMOVE)
    return f"δ = {delta_text(it.delta)}, per {unit}, {relation}, exact rule"
