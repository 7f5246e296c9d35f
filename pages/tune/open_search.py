"""Searches on a page: one object for each specification, shared by sessions; figures and price."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
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
from pages.kit import charts, colours, safe_text, time_estimate
from pages.kit.sidebar_values import Choice
from pages.kit.sweep_charts import parameter
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
    terms: Mapping[str, Any]

    def submit(self, spec: RunSpec, priority: int) -> Job:
        with asking(self.owner):
            return engine().submit(spec, priority, **self.terms)


def search_of(spec: TuneSpec, trials: int) -> Search:
    """Return the search of all sessions that began or joined it.

    It lives while a session shows it or waits for it. More trials than before continue it.
    """
    with _searches_lock:
        search = _searches.get(spec.key)
        if search is None or (search.trials_asked < trials and not search.busy):
            terms = {"asker": visitor.person(), "cost": time_estimate.cost(spec.trial({}))}
            search = Search(spec, trials, _OwnersEngine(visitor.asker(), terms))
            _searches[spec.key] = search
        st.session_state[SEARCH] = search
        return search


# ---- figures and the price -----------------------------------------------------------------------


def _frame(trials: list[Trial]) -> pd.DataFrame:
    """Return finished trials: trial, score, its 95% interval, best so far, parameters.

    The interval is empty for a single draw.
    """
    rows = []
    for trial in trials:
        if trial.score is not None:
            low, high = trial.interval or (math.nan, math.nan)
            figures = {"trial": trial.number + 1, "score": trial.score, "low": low, "high": high}
            rows.append({**figures, "best so far": trial.score, **trial.place})
    table = pd.DataFrame(rows)
    return table.assign(**{"best so far": table["score"].cummin()})


def figures(search: Search, metric: Metric) -> None:
    """Draw score by trial, and which parameter matters. At least one trial has finished."""
    table = _frame(search.trials)
    half_widths = ((table["high"] - table["low"]) / 2).dropna()
    noise = f", typically ± {metric.text(half_widths.median())}" if len(half_widths) else ""
    st.subheader("Score by trial", anchor=False)
    fig = charts.figure("trial", metric.title, height=300)
    ends = {"array": table["high"] - table["score"], "arrayminus": table["score"] - table["low"]}
    fig.add_scatter(
        x=table["trial"],
        y=table["score"],
        mode="markers",
        showlegend=False,
        marker={"color": colours.of("dpals"), "size": 8, "opacity": 0.6},
        error_y={"type": "data", "symmetric": False, "thickness": 1, **ends},
    )
    stairs = {"color": colours.of("spectral"), "shape": "hv", "width": 3}
    best = table["best so far"]
    fig.add_scatter(x=table["trial"], y=best, mode="lines", name="best so far", line=stairs)
    alt = "Validation score of each trial and the best so far."
    caption = f"Each dot is one trial: the mean of its draws with a 95% interval{noise}."
    charts.show(fig, "tune.history", alt, table, caption=caption)
    if shares := search.importance():
        ids = [search.spec.algorithm]
        texts = ", ".join(f"{parameter(name, ids)} {it:.0%}" for name, it in shares.items())
        st.markdown(f"**Which parameter matters**, by share of the scores' variance: {texts}.")


def costs(choice: Choice, search: Search) -> None:
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
    draws, unit = search.spec.draws, ready.guarantee.unit
    cost = price(ready.plan, SCORE_NOISE, len(search.trials), budget, draws)
    rows = [
        ("one trial with parameters fixed in advance", cost.single),
        *(
            (f"the best of about {cost.mean:g}, {it} number", cost.best_of[it])
            for it in cost.best_of
        ),
        (f"all {cost.mean:g} trials, as here", cost.all_shown),
    ]
    texts = [(what, epsilon_text(value)) for what, value in rows]
    safe_text.table(pd.DataFrame(texts, columns=["what is shown", "total ε"]))
    st.caption(
        linked(
            f"δ = {delta_text(budget.delta)}, per {unit}, {neighbours(unit, budget.relation)}."
            f" Each trial trains {draws} models, scored with noise of multiplier {SCORE_NOISE:g}."
            f" The comparison on new draws trained {2 * FRESH} more, at ε ="
            f" {budget_text(budget.epsilon)} each. The first and last rows are exact; the others"
            " are upper bounds (Papernot & Steinke 2022; Koskela, Redberg & Wang 2024)."
        )
    )
