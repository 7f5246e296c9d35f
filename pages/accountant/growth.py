"""Total epsilon as a whole ledger is repeated, and delta over epsilon."""

import functools

import pandas as pd
import streamlit as st

from dpmf_core.privacy import Event, Ledger, Repeat, normal_form, sequence
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from pages.accountant.ledger_table import MOST_LAPLACE, laplace
from pages.kit import charts, colours

TICKS = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 3)]


@functools.lru_cache(64)
def _totals(ledger: Ledger, delta: float) -> pd.DataFrame:
    event = sequence(*(Repeat(leaf, count) for leaf, count in ledger))
    repeats = [
        n
        for n in ((1, 2, 5, 10) if laplace(event)[0] else (1, 2, 3, 5, 10, 20, 50, 100))
        if laplace(Repeat(event, n))[0] <= MOST_LAPLACE
    ]
    return pd.DataFrame(
        {"times": repeats, "epsilon": [epsilon_of(Repeat(event, n), delta) for n in repeats]}
    )


def totals(event: Event, delta: float) -> pd.DataFrame:
    """Exact epsilon of the whole ledger, repeated. Columns: times, epsilon."""
    return _totals(normal_form(event), delta).copy()


@functools.lru_cache(64)
def _deltas(ledger: Ledger, top: float, points: int) -> pd.DataFrame:
    event = sequence(*(Repeat(leaf, count) for leaf, count in ledger))
    # numeric composition tells nothing below
    floor = 1e-14 if laplace(event)[0] else 1e-18
    epsilons = [top * step / (points - 1) for step in range(points)]
    curve = pd.DataFrame({"epsilon": epsilons, "delta": [delta_of(event, eps) for eps in epsilons]})
    return curve[curve["delta"] > floor]


def deltas(event: Event, epsilon: float) -> pd.DataFrame:
    """delta(epsilon) from 0 to 2.5 times the given one, as far as it can be drawn.

    Columns: epsilon, delta.
    """
    return _deltas(
        normal_form(event), max(2.5 * epsilon, 1e-3), 25 if laplace(event)[0] else 81
    ).copy()


def draw(event: Event, delta: float) -> None:
    """Both figures, side by side."""
    left, right = st.columns(2, gap="large")
    table = totals(event, delta)
    with left:
        _draw_totals(table)
    with right:
        _draw_deltas(deltas(event, table["epsilon"].iloc[0]), delta)


def _draw_totals(table: pd.DataFrame) -> None:
    """The exact total by repetitions, beside the sum of epsilons."""
    times, once = table["times"], table["epsilon"].iloc[0]
    last, total = int(times.iloc[-1]), table["epsilon"].iloc[-1]
    st.subheader(
        f"{last} times over: ε = {epsilon_text(total)}, not {epsilon_text(last * once)}",
        anchor=False,
    )
    blue, grey = {"color": colours.of("dpals")}, {"dash": "dash", "color": colours.ink()}
    fig = charts.figure("the whole ledger, repeated", "total ε", height=300)
    fig.add_scatter(x=times, y=table["epsilon"], mode="lines+markers", name="exact", line=blue)
    fig.add_scatter(x=times, y=times * once, mode="lines", name="sum of ε", line=grey)
    fig.update_xaxes(type="log", tickvals=times)
    ticks = [f"{tick:g}" for tick in TICKS]
    fig.update_yaxes(type="log", tickvals=TICKS, ticktext=ticks)
    charts.show(
        fig,
        "accountant.growth",
        "Total epsilon as the ledger is repeated.",
        table,
        leaves=True,
        caption="The further the lines part, the more exact composition saves.",
    )


def _draw_deltas(curve: pd.DataFrame, delta: float) -> None:
    """The whole curve, with the delta of the page."""
    blue, grey = {"color": colours.of("dpals")}, {"dash": "dash", "color": colours.ink()}
    st.subheader("Every ε has its δ: a run has a curve, not a pair", anchor=False)
    fig = charts.figure("ε", "δ", height=300)
    fig.add_scatter(x=curve["epsilon"], y=curve["delta"], mode="lines", name="δ(ε)", line=blue)
    fig.update_yaxes(type="log", exponentformat="power")
    charts.level(fig, delta, f"δ = {delta_text(delta)}", grey)
    charts.show(
        fig,
        "accountant.delta",
        "Delta as a function of epsilon.",
        curve,
        leaves=True,
        caption="Where the curve meets the dashed line is the ε of the title.",
    )
