"""What do the published error bounds promise, and what is measured?

A bound's curve, with its constant fitted on one measured point, and measured runs.
"""

from collections.abc import Sequence
from typing import cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers import results, theory
from dpmf_core.papers.bounds import Axis, Bound, Place
from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.jain_2018 import bounds
from dpmf_core.papers.jain_2018.bounds import LOW_RANK, SAMPLE_COMPLEXITY
from dpmf_core.papers.registry import BOUNDS, CLAIMS
from dpmf_core.papers.theory import Comparison, places_between
from dpmf_core.papers.theory_claims import EACH, PLACES, SYMBOLS, claim_id, place_at
from dpmf_core.privacy.formatting import budget_text, delta_text
from pages.kit import charts, colours, links, page_controls, safe_text
from pages.kit.published_figures import command
from pages.kit.session_widgets import bind

AXES: dict[Axis, str] = {"users": "users n", "items": "items m", "epsilon": "ε"}
DELTA = 1e-5
BEYOND = 2.0  # so far past the measured places a curve is drawn
TICKS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]


def controls() -> tuple[Bound, Axis]:
    """The bound and the axis, which the address holds."""
    left, right = st.columns([3, 2])
    names, axes = list(BOUNDS), list(AXES)
    page_controls.start("theory.bound", "bound", names[0], page_controls.one_of(names))
    page_controls.start("theory.axis", "axis", axes[0], page_controls.one_of(axes))
    box = bind("theory.bound", names)
    bound_id = left.selectbox("Bound", names, format_func=lambda it: BOUNDS[it].title, **box)
    axis = right.selectbox("Along", axes, format_func=AXES.__getitem__, **bind("theory.axis", axes))
    links.put_in_address({"bound": bound_id, "axis": axis})
    return BOUNDS[bound_id], cast("Axis", axis)


def compare(bound: Bound, axis: Axis) -> Comparison | None:
    """A bound and its algorithm's last results along an axis; None where there are none."""
    last = results.last(CLAIMS[claim_id(bound.algorithm, axis)])
    try:
        return None if last is None else theory.compare_bound(bound, axis, last.summaries)
    except MissingResult:
        return None


# ---- the figure ----------------------------------------------------------------------------------


def figure(lines: Sequence[Comparison], x: str) -> go.Figure:
    """Measured errors and fitted bounds, both axes logarithmic. The first is the chosen bound."""
    marks = sorted({at for it in lines for at in it.medians})
    fig = charts.figure(
        x,
        "RMSE, held out",
        height=420,
        xaxis={"type": "log", "tickvals": marks, "ticktext": [f"{it:,g}" for it in marks]},
        yaxis={"type": "log", "tickvals": TICKS, "ticktext": [f"{it:g}" for it in TICKS]},
    )
    for it in lines:
        name, algorithm = it.bound.algorithm.upper(), it.bound.algorithm
        tint, symbol = colours.of(algorithm), colours.marker(algorithm)
        places = places_between(min(it.medians) / BEYOND, max(it.medians) * BEYOND)
        fig.add_scatter(
            x=[x for x, _ in it.draws],
            y=[error for _, error in it.draws],
            mode="markers",
            marker={"color": tint, "size": 6, "opacity": 0.35, "symbol": symbol},
            showlegend=False,
            hoverinfo="skip",
        )
        fig.add_scatter(
            x=list(it.medians),
            y=list(it.medians.values()),
            name=f"{name}, measured",
            mode="lines+markers",
            line={"color": tint, "width": 2.5},
            marker={"symbol": symbol, "size": 8},
            hovertemplate="%{x:,}: %{y:.3f}",
        )
        fig.add_scatter(
            x=places,
            y=it.curve(places),
            name=f"{name}, bound",
            mode="lines",
            line={"color": tint, "width": 1.5, "dash": "dash"},
            hovertemplate="%{x:,.4g}: %{y:.3g}",
        )
    return fig


def draw(it: Comparison) -> None:
    """The curves and the measured errors; what they say."""
    other = next(one for one in BOUNDS.values() if one.algorithm != it.bound.algorithm)
    beside = compare(other, it.axis)
    lines = [it, *([beside] if beside else [])]
    table = pd.DataFrame(
        {
            "bound": one.bound.title,
            SYMBOLS[one.axis]: f"{at:g}",
            "measured, median": f"{error:.4f}",
            "bound, fitted": f"{one.curve([at])[0]:.4f}",
        }
        for one in lines
        for at, error in one.medians.items()
    )
    st.markdown(f"**{theory.verdict(it)}**")
    charts.show(
        figure(lines, AXES[it.axis]),
        f"theory.{it.bound.id}.{it.axis}",
        f"{it.bound.title}: error against {AXES[it.axis]}. {theory.verdict(it)}",
        table,
        leaves=True,
        caption=(
            "Dots and solid lines are measured. A dashed line is a bound, shifted to meet its"
            " method's first measured point: compare how steeply the two fall."
        ),
    )
    sentences = [theory.promise(it), theory.users_for(it), theory.price_of_half(it)]
    sentences += [theory.preference(it, beside)] if beside else []
    st.subheader("What this means for choosing an algorithm", anchor=False)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences if sentence))


# ---- the statement and the tables ----------------------------------------------------------------


def statement(bound: Bound, axis: Axis) -> None:
    """What is printed, where, and when it is valid."""
    at = place_at(axis, getattr(PLACES[axis], axis))
    values = {
        "users": f"{at.users:,.0f} users",
        "items": f"{at.items:,.0f} items",
        "epsilon": f"ε = {budget_text(at.epsilon)}",
    }
    fixed = ", ".join(it for name, it in values.items() if name != axis)
    st.latex(bound.formula)
    st.write(f"**{bound.source}:** {bound.statement}.")
    ratings = f" ({bound.ratings(at):,.0f} ratings here)" if bound.ratings else ""
    items = (
        f" Each user has about {EACH} ratings whatever the number of items; DPALS has the better of"
        " 3 and 6 steps."
    )
    st.caption(
        f"Valid with {bound.needs}{ratings}, and where the error is below 1, which predicting 0"
        " has. Simulated matrices of rank 5 with entries of standard deviation 1: the held-out RMSE"
        f" is the relative error. Fixed: {fixed}."
        f" δ = {delta_text(DELTA)}, per user, add/remove, exact.{items * (axis == 'items')}"
    )


def exponents(bound: Bound) -> None:
    """Every axis of this bound: predicted and measured exponent."""
    rows = []
    for axis, words in AXES.items():
        row = {"along": words}
        if it := compare(bound, axis):
            row |= {
                "bound, same places": f"{it.bound_exponent:+.2f}",
                "measured": f"{it.exponent.value:+.2f}",
                "95% interval": f"{it.exponent.low:+.2f} to {it.exponent.high:+.2f}",
                "statement": "holds" if it.holds else "does not hold",
            }
        rows.append(row)
    st.subheader("Exponents", anchor=False)
    safe_text.words_table(pd.DataFrame(rows).fillna("-"))
    st.caption(
        "Slopes of log error by least squares over all draws, with Student's interval. An upper"
        " bound is contradicted only where the whole interval is worse than it says. The printed"
        " statements leave out the rank; Papers measures its effect."
    )


def comparisons() -> None:
    """The printed comparisons, evaluated at sizes of one's choice."""
    st.header("The tables of comparison", anchor=False)
    left, right = st.columns(2)
    place = Place(
        left.number_input("Users n", 1, 10**9, 20_000, 1_000, key="theory.n"),
        right.number_input("Items m", 1, 10**9, 1_000, 100, key="theory.m"),
    )
    st.write(
        "The number of users that a vanishing error takes, and the order of the Frobenius error of"
        " a low-rank approximation of a fully observed matrix. Constants, logarithms and privacy"
        " parameters are left out: compare growth, not methods at one size."
    )
    complexity = [
        (
            row.method,
            row.note,
            f"{row.users(place):,.0f}" if row.users else "-",
            f"{row.ratings(place):,.0f}" if row.ratings else "-",
        )
        for row in SAMPLE_COMPLEXITY
    ]
    columns = ["method", "needs", "users", "ratings"]
    safe_text.words_table(pd.DataFrame(complexity, columns=columns))
    errors = [
        (row.method, row.note, f"{row.error(place):,.1f}" if row.error else "-") for row in LOW_RANK
    ]
    columns = ["method", "error", "at these sizes"]
    safe_text.words_table(pd.DataFrame(errors, columns=columns))
    st.caption(
        f"{bounds.TABLES}. In the second table, private Frank-Wolfe's output has a rank of the"
        f" order n^(2/5) / m^(1/5), {bounds.output_rank(place):.1f} here, and takes as many steps."
    )


def main() -> None:
    head = st.container()
    bound, axis = controls()
    chart = st.container()
    statement(bound, axis)
    claim = CLAIMS[claim_id(bound.algorithm, axis)]
    if it := compare(bound, axis):
        name = SYMBOLS[axis]
        measured = f"the error goes as ${name}^{{{it.exponent.value:.2f}}}$"
        promised = f"the bound goes as ${name}^{{{it.bound_exponent:.2f}}}$"
        head.title(f"{bound.title}: {measured}, {promised}", anchor=False)
        with chart:
            draw(it)
    else:
        head.title("What do the error bounds promise, and what is measured?", anchor=False)
        chart.info("Not measured yet.")
    exponents(bound)
    links.to("papers", "Measure it here, at page size", {"claim": claim.id})
    st.caption(f"At full size: `{command(claim)}`.")
    comparisons()


try:
    main()
except BadInput as error:
    safe_text.error(error)
