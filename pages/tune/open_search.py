"""Searches on a page: one object for each specification, shared by sessions; figures and price."""

import threading
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.base.requesters import Asker, asking
from dpmf_core.evaluation.registry import Metric
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.privacy import neighbours, normal_form
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_text
from dpmf_core.privacy.selection import Price
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.tuning.search import Search, Trial, price
from dpmf_core.runs.tuning.search_space import FRESH, TuneSpec
from dpmf_core.teaching.glossary import linked
from pages.kit import charts, colours, safe_text, time_estimate
from pages.kit.sidebar_values import Choice
from pages.kit.sweep_charts import parameter
from pages.server import sessions, visitor

SEARCH = "tune.search"  # in the session: the search that it shows
SCORE_NOISE = 5.0


@dataclass(eq=False)
class OpenSearch:
    """A search of all sessions that began or joined it; one at a time advances or cancels it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    search: Search | None = None

    @property
    def busy(self) -> bool:
        return self.search is not None and self.search.busy

    def advance(self) -> bool:
        """Advance the search; return whether there is more to come."""
        with self.lock:
            return self.search is not None and self.search.advance()

    def cancel(self) -> None:
        with self.lock:
            if self.search is not None:
                self.search.cancel()


# two unfinished searches must not write the same journal
_searches = WeakValueDictionary[str, OpenSearch]()
_searches_lock = threading.Lock()


def open_search(key: str) -> OpenSearch:
    """Return the search of this key, which lives while a session shows it or waits for it."""
    with _searches_lock:
        search = st.session_state[SEARCH] = _searches.setdefault(key, OpenSearch())
    return search


@dataclass(frozen=True)
class _OwnersEngine:
    """The engine with the owner's permissions, also from another session's page."""

    owner: Asker

    def submit(self, *arguments: Any, **terms: Any) -> Job:
        with asking(self.owner):
            return engine().submit(*arguments, **terms)


def search_of(spec: TuneSpec, trials: int) -> Search:
    """Return the search of this specification; more trials than before continue it."""
    shared = open_search(spec.key)
    with shared.lock:
        search = shared.search
        if search is None or (search.trials_asked < trials and not search.busy):
            cost = time_estimate.cost(spec.trial({}))
            terms: dict[str, Any] = {"asker": sessions.this(), "cost": cost}
            owner = _OwnersEngine(visitor.asker())
            search = shared.search = Search(spec, trials, owner, **terms)
        return search


def frame(trials: list[Trial]) -> pd.DataFrame:
    """Return finished trials: trial, score, its 95% interval, best so far, parameters.

    The interval is empty for a single draw.
    """
    with_score = [trial for trial in trials if trial.score is not None]
    ends = [dict(zip(("low", "high"), it.interval or (), strict=False)) for it in with_score]
    rows = [
        {"trial": it.number + 1, "score": it.score, **end, **it.place}
        for it, end in zip(with_score, ends, strict=True)
    ]
    figures = ("score", "low", "high")
    parameters = dict.fromkeys(name for trial in with_score for name in trial.place)
    out = pd.DataFrame(rows, columns=["trial", *figures, *parameters])
    out = out.astype(dict.fromkeys(figures, float))
    out.insert(4, "best so far", out["score"].cummin())
    return out


def history(table: pd.DataFrame, metric: str) -> go.Figure:
    fig = charts.figure("trial", metric, height=300)
    ends = {"array": table["high"] - table["score"], "arrayminus": table["score"] - table["low"]}
    fig.add_scatter(
        x=table["trial"],
        y=table["score"],
        mode="markers",
        showlegend=False,
        marker={"color": colours.of("dpals"), "size": 8, "opacity": 0.6},
        error_y={"type": "data", "symmetric": False, "thickness": 1, **ends},
    )
    fig.add_scatter(
        x=table["trial"],
        y=table["best so far"],
        mode="lines",
        name="best so far",
        line={"color": colours.of("spectral"), "shape": "hv", "width": 3},
    )
    return fig


def figures(search: Search, table: pd.DataFrame, metric: Metric) -> None:
    half_widths = ((table["high"] - table["low"]) / 2).dropna()
    noise = f", typically ± {metric.text(half_widths.median())}" if len(half_widths) else ""
    st.subheader("Score by trial", anchor=False)
    charts.show(
        history(table, metric.title),
        "tune.history",
        "Validation score of each trial and the best so far.",
        table,
        caption=f"Each dot is one trial: the mean of its draws with a 95% interval{noise}.",
    )
    if shares := search.importance():
        ids = [search.spec.algorithm]
        texts = ", ".join(f"{parameter(name, ids)} {it:.0%}" for name, it in shares.items())
        st.markdown(f"**Which parameter matters**, by share of the scores' variance: {texts}.")


def costs(choice: Choice, search: Search) -> None:
    """Draw the cost of choosing on private data: one trial, the best of several, or all."""
    st.header("What choosing costs on private data", anchor=False)
    budget = search.spec.budget
    ready = prepare(choice.spec().canonical(), choice.shape, choice.assumptions)
    if budget is None or not normal_form(ready.plan):
        st.write("Nothing is released with noise here, so choosing has no ε.")
        return
    if not ready.guarantee.has_epsilon:
        st.write(
            f"Nothing is proved for {ready.algorithm.title} with these parameters, so neither"
            " trials nor choosing have an ε."
        )
        return
    st.write("This search cost **nothing**: its data are public or synthetic.")
    draws = search.spec.draws
    cost = price(ready.plan, SCORE_NOISE, len(search.trials), budget, draws)
    _draw_prices(cost)
    unit = ready.guarantee.unit
    st.caption(
        linked(
            f"δ = {delta_text(budget.delta)}, per {unit}, {neighbours(unit, budget.relation)}."
            f" Each trial trains {draws} models, scored with noise of multiplier {SCORE_NOISE:g}."
            f" The comparison on new draws trained {2 * FRESH} more, at ε ="
            f" {budget_text(budget.epsilon)} each. The first and last rows are exact; the others"
            " are upper bounds (Papernot & Steinke 2022; Koskela, Redberg & Wang 2024)."
        )
    )


def _draw_prices(cost: Price) -> None:
    best = cost.best_of.items()
    rows = [
        ("one trial with parameters fixed in advance", cost.single),
        *((f"the best of about {cost.mean:g}, {name} number", value) for name, value in best),
        (f"all {cost.mean:g} trials, as here", cost.all_shown),
    ]
    texts = [(what, epsilon_text(value)) for what, value in rows]
    safe_text.table(pd.DataFrame(texts, columns=["what is shown", "total ε"]))
