"""Total epsilon of a repeated ledger, and delta over epsilon."""

import functools
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpmf_core.privacy import Event, Repeat
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_text
from dpmf_core.runs.needed_epsilon import Measured
from pages.accountant.ledger_table import MOST_LAPLACE, laplace
from pages.kit import charts, colours

TICKS = [digit * 10.0**power for power in range(-3, 4) for digit in (1, 3)]


@functools.lru_cache(64)
def totals(event: Event, delta: float) -> pd.DataFrame:
    """Return times, epsilon: the exact epsilon of the repeated ledger."""
    times = (1, 2, 5, 10) if laplace(event)[0] else (1, 2, 3, 5, 10, 20, 50, 100)
    repeats = [n for n in times if laplace(Repeat(event, n))[0] <= MOST_LAPLACE]
    epsilons = [epsilon_of(Repeat(event, n), delta) for n in repeats]
    return pd.DataFrame({"times": repeats, "epsilon": epsilons})


@functools.lru_cache(64)
def deltas(event: Event, epsilon: float) -> pd.DataFrame:
    """Return epsilon, delta: the curve from 0 to 2.5 times epsilon, above the numerical floor."""
    # numeric composition is slow, and inaccurate below its floor
    points, floor = (25, 1e-14) if laplace(event)[0] else (81, 1e-18)
    top = max(2.5 * epsilon, 1e-3)
    epsilons = [top * step / (points - 1) for step in range(points)]
    curve = pd.DataFrame({"epsilon": epsilons, "delta": [delta_of(event, it) for it in epsilons]})
    return curve[curve["delta"] > floor]


def draw(event: Event, delta: float) -> None:
    blue, grey = {"color": colours.of("dpals")}, {"dash": "dash", "color": colours.ink()}
    left, right = st.columns(2, gap="large")
    table = totals(event, delta)
    times, once = table["times"], table["epsilon"].iloc[0]
    last, total = int(times.iloc[-1]), table["epsilon"].iloc[-1]
    with left:
        cost = f"Repeated {last} times: ε = {epsilon_text(total)}, not {epsilon_text(last * once)}"
        st.subheader(cost, anchor=False)
        fig = charts.figure("repetitions of the ledger", "total ε", height=300)
        fig.add_scatter(x=times, y=table["epsilon"], mode="lines+markers", name="exact", line=blue)
        fig.add_scatter(x=times, y=times * once, mode="lines", name="sum of ε", line=grey)
        fig.update_xaxes(type="log", tickvals=times)
        fig.update_yaxes(type="log", tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
        alt = "Total epsilon as the ledger is repeated."
        words = "The gap between the lines is what exact composition saves."
        charts.show(fig, "accountant.growth", alt, table, leaves=True, caption=words)
    curve = deltas(event, once)
    with right:
        st.subheader("Each ε has its own δ", anchor=False)
        fig = charts.figure("ε", "δ", height=300)
        fig.add_scatter(x=curve["epsilon"], y=curve["delta"], mode="lines", name="δ(ε)", line=blue)
        fig.update_yaxes(type="log", exponentformat="power")
        charts.level(fig, delta, f"δ = {delta_text(delta)}", grey)
        alt = "Delta as a function of epsilon."
        words = "The curve meets the dashed line at the ε in the title."
        charts.show(fig, "accountant.delta", alt, curve, leaves=True, caption=words)


def kept_words(
    line: Sequence[Measured], epsilon: float, best: str, *, is_private: bool = False
) -> str:
    """Return how much a model keeps at an epsilon, measured there or on both sides.

    line: shares kept, ascending by epsilon. best: the title of the method without privacy whose
    gain over guessing is 100%. is_private: whether a measurement is a release from private data.
    """
    here = [it for it in line if it.epsilon == epsilon]
    below = [it for it in line if it.epsilon < epsilon][-1:]
    above = [it for it in line if it.epsilon > epsilon][:1]
    around = here or [*below, *above]
    if not here and not (below and above):
        near = "".join(f" At ε = {budget_text(it.epsilon)} it is {it.median:.0%}." for it in around)
        cost = f" That is a release and costs its ε, {budget_text(epsilon)}." if is_private else ""
        return (
            f"The gain that each model keeps is not measured yet; Explore measures it.{cost}{near}"
        )
    at = " and ".join(budget_text(it.epsilon) for it in around)
    shares = " to ".join(f"{max(it.median, 0.0):.0%}" for it in around)
    return f"**Each keeps {shares} of {best}'s gain over guessing** (measured at ε = {at})."
