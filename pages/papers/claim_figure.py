"""A paper's figure: its verdict in words, recorded results and published numbers."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.base.program import program
from dpmf_core.data.samples import SampleShape
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.balu_2016.protocol import NO_THRESHOLD
from dpmf_core.papers.clauses import Clause, Results
from dpmf_core.papers.figures import Claim, Figure, Mark, Outcome, Verdict
from dpmf_core.papers.recorded_results import ClaimResult
from dpmf_core.privacy import Calibration
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs.measurements import Measured, Point, is_trivial
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import safe_text
from pages.kit.figures import charts, sweep_charts

AXES = {
    "epsilon": "ε",
    "regularisation": "λ",
    "threshold": "threshold ε",
    "users": "users",
    "items": "items",
    "step": "step",
    "rank": "dimension d",
    "static_share": "share of ratings known from the start, Rₛ",
    "arrived_share": "share of new ratings that have arrived",
    "ratings": "processed ratings",
    "stretch": "predicted period",
}
# values that stand for none
NONE_AT = {
    "threshold": NO_THRESHOLD,
    "regularisation": 0.0,
}
SETS = {"data": "Data set", "unit": "Unit"}  # one at a time is drawn
# colours for several lines of one algorithm
TINTS = ("blue", "vermilion", "green", "orange", "violet", "brown", "pink", "teal")
BOXES = {Outcome.REPRODUCED: st.success, Outcome.DIFFERS: st.warning}


# ---- in words ------------------------------------------------------------------------------------


def place(figure: Figure) -> str:
    """The figure's place in its paper."""
    return figure.source.partition(", ")[2]


def command(figure: Figure) -> str:
    """The command that makes the figure."""
    if isinstance(figure, Claim):
        what = "papers run"
    else:
        what = "sweep --preset"
    return f"{program()} {what} {figure.id}"


def show_verdict(claim: Claim, verdict: Verdict) -> None:
    """Draw the verdict, and each statement with the numbers that decide it."""
    if verdict.outcome is Outcome.NOT_MEASURED:
        st.info(f"**{claim.source}.** {verdict.remark}")
        return
    count = sum(clause.holds for clause in verdict.clauses)
    hold = f"{count} of {len(verdict.clauses)} statements hold"
    box = BOXES.get(verdict.outcome, st.info)
    if verdict.outcome in (Outcome.CANNOT_BE_JUDGED, Outcome.NEVER):
        box(f"**{verdict.outcome}.** {verdict.obstacle} On these data {hold}.")
    else:
        box(f"**{verdict.outcome}: {hold}.**")
    for clause in verdict.clauses:
        icon = ":material/check: holds"
        if not clause.holds:
            icon = ":material/close: does not hold"
        st.markdown(f"- {icon}: {clause.words}. *{clause.figures}.*")
        show_quote(clause.place, clause.quote)
    if verdict.remark:
        st.write(verdict.remark)


def show_statements(clauses: Iterable[Clause]) -> None:
    """Draw the source's statements, before anything is measured."""
    for clause in clauses:
        st.markdown(f"- {clause.words}.")
        show_quote(clause.place, clause.quote)


def show_quote(where: str, quote: str) -> None:
    """Draw a quotation with its place; formulas between dollar signs are typeset."""
    if quote:
        st.caption(f"{where}: “{quote if '$' in quote else safe_text.escape(quote)}”")


# ---- as charts -----------------------------------------------------------------------------------


def draw_recorded(claim: Claim, last: ClaimResult) -> None:
    """Draw the last measurement with the published numbers."""
    key = f"papers.{claim.id}"
    _draw(key, claim, _of_one_set(key, last.measured))
    on = f" on {last.on}" if last.on else ""
    st.caption(
        f"{claim.words} Measured{on}, {last.created[:10]}, version {last.version}."
    )


def _of_one_set(key: str, results: Results) -> list[Measured]:
    """The results on the chosen data set, or in the chosen unit, if there are several."""
    results = list(results)
    for name, label in SETS.items():
        sets = list(
            dict.fromkeys(
                str(result.grid[name]) for result in results if name in result.grid
            )
        )
        if len(sets) > 1:
            title = st.segmented_control(
                label,
                sets,
                default=sets[0],
                required=True,
                key=f"{key}.{name}",
            )
            results = [result for result in results if result.grid[name] == title]
    return results


def _draw(key: str, claim: Claim, results: Results) -> None:
    """Draw the chart with its numbers and, for epsilons of a step, the totals of all steps."""
    alt = f"{claim.title}: measured results and published numbers."
    fig = chart(claim, results)
    table = numbers(results, claim.marks)
    words = "Lines are medians of draws, bands their range."
    if any(not mark.is_digitised for mark in claim.marks):
        words += " Crosses are published numbers."
    if any(mark.is_digitised for mark in claim.marks):
        words += " Hollow marks were read off the paper's figure."
    words += totals_text(claim.points())
    charts.show(fig, key, alt, table, leaves=True, caption=words)


def chart(figure: Figure, results: Results) -> Any:
    """Results along the figure's axis, with the published numbers."""
    has_places = figure.axis == "epsilon" or any(
        figure.axis in result.grid for result in results
    )
    axis = figure.axis if has_places else "epsilon"
    title = AXES.get(axis, axis.replace("_", " "))
    quantity = figure.quantity or METRICS[figure.metric].label
    # where published numbers are far off
    in_units = any("unit" in result.grid for result in results)
    fig = sweep_charts.against(
        draws_frame(axis, results), axis, quantity, title, logs=in_units
    )
    if axis == "epsilon":
        ticks = sorted(
            {result.epsilon for result in results if result.epsilon is not None}
        )
        fig.update_xaxes(
            tickvals=ticks,
            ticktext=[f"{tick:g}" for tick in ticks],
            tickangle=0,
        )
    sweep_charts.add_published(fig, figure.marks)
    return fig


def draws_frame(axis: str, results: Results) -> pd.DataFrame:
    """The draws of `sweep_charts.draws_frame`. Lines of one algorithm get their own colours."""
    frame = sweep_charts.draws_frame(
        (_name(axis, result, results), result) for result in results
    )
    lines = frame[["name", "id", "source"]].drop_duplicates()
    if lines[["id", "source"]].duplicated().any():
        tints = dict(zip(frame["name"].unique(), itertools.cycle(TINTS), strict=False))
        trivial = frame["id"].map(is_trivial)
        frame["id"] = frame["id"].where(trivial, frame["name"].map(tints))
    if axis in NONE_AT:
        return _with_none(frame, axis)
    return frame


def _with_none(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Axis values as words in order; the value that stands for none reads "none"."""
    none = NONE_AT[axis]
    words = frame[axis].map(
        lambda it: "none" if it == none else f"{it:g}", na_action="ignore"
    )
    return frame.sort_values(axis, kind="stable").assign(**{axis: words})


def _name(axis: str, result: Measured, results: Results) -> str:
    """A line's name: its label, and the grid's values that differ apart from the axis."""
    others = {
        name: value
        for name, value in result.grid.items()
        if name not in (axis, *SETS)
        and len({result.grid.get(name) for result in results}) > 1
    }
    return ", ".join(
        filter(None, (result.label, sweep_charts.place(others, [result.algorithm])))
    )


def numbers(results: Results, marks: Sequence[Mark]) -> pd.DataFrame:
    """Measured and published numbers, a row each."""
    measured_rows = [
        {"method": result.label, "ε": result.epsilon, **result.grid}
        | {
            "median": result.median,
            "lowest": result.low,
            "highest": result.high,
            "draws": len(result.draws),
        }
        for result in results
    ]
    published_rows = [
        {
            "method": mark.label,
            "at": mark.x,
            "published": mark.y,
            "printed in": mark.source,
        }
        for mark in marks
    ]
    return pd.DataFrame([*measured_rows, *published_rows])


# ---- total epsilon -------------------------------------------------------------------------------


def totals_text(points: Sequence[Point]) -> str:
    """The exact total of all steps by the epsilon of a step, and its terms; '' without."""
    specs = {
        float(point.epsilon): point.spec
        for point in points
        if point.spec.algorithm == "dp-nmf"
        and point.epsilon is not None
        and point.spec.budget is not None
        and point.spec.budget.calibration is Calibration.SOURCE
    }
    each = ", ".join(
        f"{epsilon_text(_total(specs[at]))} for ε = {at:g} in each of"
        f" {specs[at].parameters['steps']} steps"
        for at in sorted(specs)
    )
    terms = (
        f" Total ε: {each} (exact, δ = 1e-5, per sample, add/remove, for a random start)."
        " Nothing is proved for the source's start, which is computed from the private data."
    )
    if each:
        return terms
    return ""


def _total(spec: RunSpec) -> float:
    """The epsilon of a run with its source's noise, for any shape of the data."""
    shape = SampleShape(10_000, 10_000)
    budget = spec.require_budget()
    method = algorithms.build(spec.algorithm, spec.parameters, shape, budget)
    assert isinstance(method, PrivateAlgorithm)
    return exactly(method.plan(shape, method.source_level(shape, budget)), budget.delta)
