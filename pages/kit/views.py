"""The figures of the Trade-off page, each from what was asked and what has finished."""

import pandas as pd
import streamlit as st

from dpmf_core.experiment import DataSpec, open_data
from dpmf_core.skew import shares
from pages.kit import charts, swept
from pages.kit.asked import Asked
from pages.kit.sidebar import Choice
from pages.kit.swept import Finished

NO_LOG = {"frequent_fraction", "step"}


def figure(question: Asked, finished: Finished, metric: str) -> None:
    """The primary figure: against epsilon, a parameter, the number of users, or the step."""
    if question.axis == "step":
        table = swept.curve_rows(question.points, finished)
        charts.show(charts.steps(table, None), "tradeoff.steps", "Held-out RMSE by step.", table)
        return
    table = swept.frame(question.points, finished, metric)
    if question.axis != "epsilon" and table["epsilon"].nunique() > 1:
        at = [f"{name}, ε = {epsilon:g}" if epsilon == epsilon else name for name, epsilon in zip(table["name"], table["epsilon"], strict=True)]
        table = table.assign(name=at)
    fig = charts.against(table, question.axis, swept.METRICS[metric], log=question.axis not in NO_LOG)
    if question.preset and question.preset.marks and metric == question.metric:
        charts.published(fig, pd.DataFrame([vars(mark) for mark in question.preset.marks]))
    words = "; ".join(f"{name} {value:.3f}" for name, value in table.groupby("name", sort=False)["value"].median().items())
    charts.show(fig, "tradeoff.main", f"{swept.METRICS[metric]} against {question.axis}. Medians over the axis: {words}.", table)


def grid(question: Asked, finished: Finished) -> None:
    """A heat map where the grid has two parameters; best point in words."""
    table = swept.frame(question.points, finished, "validation_rmse")
    names = [name for name in table.columns if name not in ("name", "id", "source", "epsilon", "seed", "value")]
    if not names or table.empty:
        return
    st.subheader("The grid, on the validation split")
    both = table.dropna(subset=names)
    for name, lines in both.groupby("name", sort=False):
        best = lines.groupby([*names, "epsilon"] if lines["epsilon"].notna().any() else names, dropna=False)["value"].median().idxmin()
        place = ", ".join(f"{key} {value}" for key, value in zip([*names, "epsilon"], best if isinstance(best, tuple) else (best,), strict=False))
        st.write(f"**{name}** does best at {place}.")
    if len(names) == 2 and len(both):
        left, right = st.columns(2)
        method = left.selectbox("Method", list(dict.fromkeys(both["name"])), key="tradeoff.heat.method")
        own = both[both["name"] == method]
        epsilons = sorted(own["epsilon"].dropna().unique())
        at = right.selectbox("ε", epsilons, key="tradeoff.heat.epsilon") if epsilons else None
        own = own[own["epsilon"] == at] if at is not None else own
        charts.show(charts.heat(own, names[0], names[1], "RMSE"), "tradeoff.heat", f"Validation RMSE of {method} over {names[0]} and {names[1]}.", own)
    st.caption("Choosing by such a grid costs privacy that no single run's ε counts: all its runs compose. On public or simulated data it is free.")


def reaching(question: Asked, finished: Finished, metric: str) -> None:
    st.subheader(f"Which ε reaches a given {swept.METRICS[metric]}?")
    table = swept.frame(question.points, finished, metric)
    private = table[table["epsilon"].notna()]["value"]
    value = st.number_input(
        f"{swept.METRICS[metric]} to reach", value=round(float(private.median()), 3), format="%.3f", step=0.005, key=f"tradeoff.reach.{metric}"
    )
    if value is None:
        st.info("Give a number to reach.")
        return
    st.dataframe(swept.which_epsilon(question.points, finished, metric, value), hide_index=True)
    st.caption("Between measured ε the medians are joined along log ε; nothing is said beyond them.")


def payers(question: Asked, finished: Finished) -> None:
    """RMSE by how much a user rates and by how often an item is rated."""
    st.subheader("Who pays for privacy?")
    epsilons = sorted({point.epsilon for point in question.points if point.epsilon is not None and point.key in finished})
    if not epsilons:
        return
    epsilon = st.select_slider("At ε", epsilons, key="tradeoff.payers", format_func=lambda at: f"{at:g}") if len(epsilons) > 1 else epsilons[0]
    table = swept.bucket_rows(question.points, finished, epsilon)
    sides = (("activity", "ratings of the user, in quarters of the test set"), ("popularity", "ratings of the item, in quarters of the test set"))
    for column, (by, title) in zip(st.columns(2), sides, strict=True):
        with column:
            part = table[table["by"] == by]
            charts.show(charts.groups(part, title), f"tradeoff.{by}", f"RMSE by {by} at epsilon {epsilon:g}.", part)


def bunching(choice: Choice) -> None:
    """Chien et al. 2021, Fig. 2: a figure of the data alone."""
    ratings = open_data(DataSpec(id=choice.data, top_items=choice.top_items if choice.assumptions else None))
    table = pd.DataFrame([vars(share) for share in shares(ratings)])
    at = {name: float(line.loc[line["items"].sub(0.2).abs().idxmin(), "observations"]) for name, line in table.groupby("kept", sort=False)}
    st.title(f"A fifth of the items holds {at['all ratings']:.0%} of the ratings")
    rest = "; ".join(f"{share:.0%} where each user gives {name.replace(' a user,', ',')}" for name, share in list(at.items())[1:])
    st.write(f"On {choice.entry.title}: {rest}. Published for MovieLens 10M: over 85% (Chien et al. 2021, Fig. 2). Computed on raw data, not released.")
    charts.show(charts.shares(table), "tradeoff.shares", "Share of observations against share of top items.", table)
