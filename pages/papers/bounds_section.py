"""A paper's error bounds and our measurements.

The constant of a bound is fitted to one measured point.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from dpmf_core.papers import recorded_results, theory
from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.figures import Claim
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.recorded_results import ClaimResult
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.papers.theory import AXES, EACH, PLACES, Axis, Bound, claim_id
from dpmf_core.privacy.formatting import budget_text, delta_text
from pages.kit.base import safe_text
from pages.kit.figures import charts, colours
from pages.papers import address, claim_figure

BEYOND = 2.0  # how far a curve extends past the measurements, as a factor
TICKS = [digit * 10.0**power for power in range(-4, 2) for digit in (1, 2, 3, 5, 7)]


def draw(paper: Paper) -> None:
    if paper.bounds:
        draw_bounds(paper)
    printed_tables(paper)


def draw_bounds(paper: Paper) -> None:
    """Draw one bound of the paper along one axis."""
    left, right = st.columns([3, 2])
    with left:
        bound = address.pick(
            "bound",
            "Bound",
            paper.bounds,
            lambda bound: f"{bound.title}: {bound.place}",
        )
    with right:
        axis = cast(
            "Axis",
            address.select("axis", "Along", {str(name): AXES[name] for name in AXES}),
        )
    statement(bound)
    claim = CLAIMS[claim_id(bound.algorithm, axis)]
    if (last := recorded_results.last(claim)) and (draws := draws_of(axis, last)):
        curves(claim, last, bound, draws)
        st.write(safe_text.escape(last.verdict(claim).words))
        st.caption(
            "Exponents are slopes of log error by least squares over all draws, with Student's 95%"
            " interval. A result contradicts an upper bound only if the whole interval is worse"
            " than the bound and its conditions hold."
        )
    else:
        st.info("Not measured yet.")


def statement(bound: Bound) -> None:
    """Draw what is printed, where, and its conditions."""
    st.latex(bound.formula)
    st.markdown(f"**{bound.place}:** {bound.statement}. Valid with {bound.needs}.")
    claim_figure.show_quote(bound.place, bound.quote)


def draws_of(axis: Axis, last: ClaimResult) -> list[tuple[float, float]]:
    """The place on the axis and the error of every run; nothing if places are missing."""
    try:
        return theory.draws_along(axis, last.measured)
    except MissingResult:
        return []


def curves(
    claim: Claim, last: ClaimResult, bound: Bound, draws: Sequence[tuple[float, float]]
) -> None:
    """Draw the measured errors and the fitted bound, both axes logarithmic."""
    axis = cast("Axis", claim.axis)
    medians = theory.medians(draws)
    along = () if axis == "epsilon" else (axis,)
    measured_results = [
        replace(each, grid={name: each.grid[name] for name in along})
        for each in last.measured
    ]
    fig = claim_figure.chart(claim, measured_results)
    places = np.geomspace(min(medians) / BEYOND, max(medians) * BEYOND, 60).tolist()
    line = {"color": colours.of(bound.algorithm), "width": 1.5, "dash": "dash"}
    curve = theory.fitted(bound, axis, draws, places)
    fig.add_scatter(
        x=places,
        y=curve,
        name="bound",
        mode="lines",
        line=line,
    )
    for name, ticks in (("xaxis", list(medians)), ("yaxis", TICKS)):
        fig.update_layout({name: charts.log_axis(ticks)})
    table = pd.DataFrame(
        {
            AXES[axis]: f"{at:g}",
            "measured, median": f"{error:.4f}",
            "bound, fitted": f"{of_bound:.4f}",
        }
        for (at, error), of_bound in zip(
            medians.items(), theory.fitted(bound, axis, draws, medians), strict=True
        )
    )
    at = PLACES[axis]
    ratings = ""
    if axis == "items":
        ratings = f" About {EACH} ratings per user at every number of items."
    charts.show(
        fig,
        f"papers.bound.{bound.id}.{axis}",
        f"{bound.title}: error against {AXES[axis]}.",
        table,
        leaves=True,
        caption=(
            "Dots and the solid line are measured. The dashed line is the bound, shifted to meet"
            " the first measured point: compare the slopes. Simulated matrices of rank 5 whose"
            " entries have standard deviation 1, so the held-out RMSE is the relative error. Along"
            f" other axes: {at.users:,.0f} users, {at.items:,.0f} items, ε ="
            f" {budget_text(at.epsilon)}; δ = {delta_text(at.delta)}.{ratings}"
        ),
    )


def printed_tables(paper: Paper) -> None:
    for table in paper.tables:
        st.markdown(f"**{table.place}.** {table.title}")
        safe_text.words_table(table.rows.items(), table.columns)
        if table.note:
            st.caption(safe_text.escape(table.note))
