"""Searches on a page: one object for each specification, shared by sessions; figures and price."""

import math
import threading
from dataclasses import dataclass
from weakref import WeakValueDictionary

import pandas as pd
import streamlit as st

from dpmf_core.base.requesters import Asker, asking
from dpmf_core.evaluation.registry import Metric
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.privacy import neighbours
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_text
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.search import Search, Trial, price
from dpmf_core.runs.tuning.search_space import FRESH, TuneSpec
from dpmf_core.teaching.glossary import linked
from pages.kit.base import safe_text
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures import charts, colours
from pages.kit.figures.sweep_charts import parameter
from pages.kit.running import time_estimate
from pages.server import visitor

SEARCH = "tune.search"  # in the session: the search that it shows
SCORE_NOISE = 5.0


# two unfinished searches must not write the same journal
_searches = WeakValueDictionary[str, Search]()
_searches_lock = threading.Lock()


@dataclass(frozen=True)
class _OwnersEngine:
    """The engine with the owner's permissions and turn, also from another session's page."""

    owner: Asker
    person: str
    cost: float

    def submit(self, spec: RunSpec, priority: int) -> Job:
        with asking(self.owner):
            return engine().submit(spec, priority, self.person, self.cost)


def search_of(spec: TuneSpec, trials: int) -> Search:
    """The search of all sessions that began or joined it.

    It lives while a session shows it or waits for it. More trials than before continue it.
    """
    with _searches_lock:
        search = _searches.get(spec.key)
        if search is None or (search.trials_asked < trials and not search.busy):
            cost = time_estimate.cost(spec.trial({}))
            owners_engine = _OwnersEngine(visitor.asker(), visitor.person(), cost)
            search = Search(spec, trials, owners_engine)
            _searches[spec.key] = search
        st.session_state[SEARCH] = search
        return search


# ---- figures and the price -----------------------------------------------------------------------


def _frame(trials: list[Trial]) -> pd.DataFrame:
    """Finished trials: trial, score, its 95% interval, best so far, parameters.

    The interval is empty for a single draw.
    """
    rows = []
    for trial in trials:
        if trial.score is None:
            continue
        low, high = trial.interval or (math.nan, math.nan)
        rows.append(
            {
                "trial": trial.number + 1,
                "score": trial.score,
                "low": low,
                "high": high,
                "best so far": math.nan,
                **trial.place,
            }
        )
    table = pd.DataFrame(rows)
    table["best so far"] = table["score"].cummin()
    return table


def draw_figures(search: Search, metric: Metric) -> None:
    """Draw score by trial, and which parameter matters. At least one trial has finished."""
    table = _frame(search.trials)
    st.header("Score by trial", anchor=False)
    fig = charts.figure("trial", metric.title, height=300)
    fig.add_scatter(
        x=table["trial"],
        y=table["score"],
        mode="markers",
        showlegend=False,
        marker={"color": colours.of("dpals"), "size": 8, "opacity": 0.6},
        error_y={
            "type": "data",
            "symmetric": False,
            "thickness": 1,
            "array": table["high"] - table["score"],
            "arrayminus": table["score"] - table["low"],
        },
    )
    fig.add_scatter(
        x=table["trial"],
        y=table["best so far"],
        mode="lines",
        name="best so far",
        line={"color": colours.of("spectral"), "shape": "hv", "width": 3},
    )
    alt = "Validation score of each trial and the best so far."
    caption = "Each dot is one trial: the mean of its draws with a 95% interval"
    half_widths = ((table["high"] - table["low"]) / 2).dropna()
    if len(half_widths):
        caption += f", typically ± {metric.text(half_widths.median())}"
    charts.show(fig, "tune.history", alt, table, caption=f"{caption}.")
    shares = search.importance()
    if shares:
        ids = [search.spec.algorithm]
        texts = ", ".join(
            f"{parameter(name, ids)} {share:.0%}" for name, share in shares.items()
        )
        st.markdown(
            f"**Which parameter matters**, by share of the scores' variance: {texts}."
        )


def draw_costs(choice: SidebarChoice, search: Search) -> None:
    """Draw the cost of choosing on private data: one trial, the best of several, or all."""
    st.header("What choosing costs on private data", anchor=False)
    budget = search.spec.budget
    ready = prepare(choice.spec().canonical(), choice.shape, choice.assumptions)
    assert budget is not None  # the sidebar has no choice without noise
    if not ready.guarantee.has_epsilon:
        st.write(
            f"Nothing is proved for {ready.algorithm.title} with these parameters, so neither"
            " trials nor choosing have an ε."
        )
        return
    st.write("This search cost **nothing**: its data are public or synthetic.")
    draws = search.spec.draws
    unit = ready.guarantee.unit
    cost = price(ready.plan, SCORE_NOISE, len(search.trials), budget, draws)
    epsilons = {"one trial with parameters fixed in advance": cost.single}
    for distribution, epsilon in cost.best_of.items():
        epsilons[f"the best of about {cost.mean:g}, {distribution} number"] = epsilon
    epsilons[f"all {cost.mean:g} trials, as here"] = cost.all_shown
    texts = [(what, epsilon_text(epsilon)) for what, epsilon in epsilons.items()]
    safe_text.table(texts, ["what is shown", "total ε"])
    st.caption(
        linked(
            f"δ = {delta_text(budget.delta)}, per {unit}, {neighbours(unit, budget.relation)}."
            f" Each trial trains {draws} models, scored with noise of multiplier {SCORE_NOISE:g}."
            f" The comparison on new draws trained {2 * FRESH} more, at ε ="
            f" {budget_text(budget.epsilon)} each. The first and last rows are exact; the others"
            " are upper bounds (Papernot & Steinke 2022; Koskela, Redberg & Wang 2024)."
        )
    )
