"""A paper's figure: its verdict in words, recorded results and published numbers, new runs."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.base.program import program
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.balu_2016.protocol import NO_THRESHOLD
from dpmf_core.papers.balu_2016.statements import best_regularisations
from dpmf_core.papers.clauses import Clause, Results
from dpmf_core.papers.figures import Claim, Figure, Mark, Outcome, Verdict, by_metric
from dpmf_core.papers.results import ClaimResult
from dpmf_core.runs.sweep import Point, Summary
from pages.kit import charts, colours, safe_text, sweep_charts
from pages.kit.runs import ask
from pages.papers import saha_figures

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
NONE_AT = {"threshold": NO_THRESHOLD, "regularisation": 0.0}  # values that stand for none
# for several lines of one algorithm
TINTS = ("blue", "vermilion", "green", "orange", "violet", "brown", "pink", "teal")
BOXES = {Outcome.REPRODUCED: st.success, Outcome.DIFFERS: st.warning}


# ---- in words ------------------------------------------------------------------------------------


def place(figure: Figure) -> str:
    """Return the figure's place in its paper."""
    return figure.source.partition(", ")[2]


def command(figure: Figure) -> str:
    """Return the command that makes the figure at full size."""
    what = "papers run" if isinstance(figure, Claim) else "sweep --preset"
    return f"{program()} {what} {figure.id}"


def show_verdict(figure: Figure, verdict: Verdict) -> None:
    """Draw the verdict, and each statement with the numbers that decide it."""
    if verdict.outcome is Outcome.NOTHING_CLAIMED:
        st.info(f"{verdict.remark} {verdict.size}")
        return
    if verdict.outcome is Outcome.NOT_MEASURED:
        st.info(f"**{figure.source}.** {verdict.remark}")
        return
    count = sum(clause.holds for clause in verdict.clauses)
    hold = f"{count} of {len(verdict.clauses)} statements hold"
    box = BOXES.get(verdict.outcome, st.info)
    if verdict.outcome is Outcome.CANNOT_BE_JUDGED:
        box(f"**{verdict.outcome}.** {verdict.obstacle} On these data {hold}. {verdict.size}")
    else:
        box(f"**{verdict.outcome}: {hold}.** {verdict.size}")
    for clause in verdict.clauses:
        icon = ":material/check: holds" if clause.holds else ":material/close: does not hold"
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


def best_map(results: Results) -> tuple[go.Figure, pd.DataFrame]:
    """Return the best λ by dimension and space gain, as the statements compute it."""
    best = [
        {"rank": rank, "gain": gain, "λ": value, "text": f"λ = {value:.3f}"}
        for (rank, gain), value in best_regularisations(results).items()
    ]
    table = pd.DataFrame(best)
    place = {"index": "gain", "columns": "rank"}
    values = table.pivot(**place, values="λ")
    text = table.pivot(**place, values="text")
    fig = charts.heat_map(values, text, "dimension d", "space gain γ")
    return fig, table.drop(columns="text")


# by figure: a chart and its table from results, in place of a line chart
OWN_CHARTS = {"saha-table4": saha_figures.two_units, "balu-fig2": best_map}


def draw_recorded(claim: Claim, last: ClaimResult) -> None:
    """Draw the last measurement with the published numbers."""
    points = claim.points(last.size == "full")
    key = f"papers.{claim.id}"
    _draw(key, claim, _of_one_set(key, claim, last.measured), points)
    st.caption(f"{claim.words} Measured {last.created[:10]}, version {last.version}.")


def measure(place: str, figure: Figure, by_button: bool = False) -> None:
    """Measure the figure here, at page size."""
    points = figure.points()
    runs = ask(place, {point.key: point.spec for point in points}, by_button=by_button)
    finished_points = [point for point in points if point.key in runs]
    if points and not finished_points:
        return
    show_verdict(figure, figure.verdict(points, runs))
    if figure.measure is by_metric or len(finished_points) == len(points):
        results, key = figure.results(finished_points, runs), f"{place}.{figure.id}"
        _draw(key, figure, _of_one_set(key, figure, results), finished_points)
        if figure.id in saha_figures.OF_RUNS:
            saha_figures.OF_RUNS[figure.id](key, finished_points, runs)


def _of_one_set(key: str, figure: Figure, results: Results) -> list[Summary]:
    """Return the results on the chosen data set if there are several."""
    sets = list(dict.fromkeys(str(it.grid.get("data")) for it in results))
    if not figure.by_data or len(sets) < 2:
        return list(results)
    box: dict[str, Any] = {"default": sets[0], "required": True, "key": f"{key}.set"}
    data_title = st.segmented_control("Data set", sets, **box)
    return [it for it in results if it.grid.get("data") == data_title]


def _draw(key: str, figure: Figure, results: Results, points: Sequence[Point]) -> None:
    """Draw the chart with its numbers and, for epsilons of a step, the totals of all steps."""
    alt = f"{figure.title}: measured results and published numbers."
    if figure.id in OWN_CHARTS:
        fig, table = OWN_CHARTS[figure.id](results)
    else:
        fig, table = chart(figure, results), numbers(results, figure.marks)
    words = "Lines are medians of draws, bands their range."
    words += " Crosses are published numbers." * bool(figure.marks)
    words += saha_figures.totals_text(points)
    charts.show(fig, key, alt, table, leaves=True, caption=words)


def chart(figure: Figure, results: Results) -> Any:
    """Return results along the figure's axis, with the published numbers."""
    has_places = figure.axis == "epsilon" or any(figure.axis in it.grid for it in results)
    axis = figure.axis if has_places else "epsilon"
    title = AXES.get(axis, axis.replace("_", " "))
    quantity = figure.quantity or METRICS[figure.metric].label
    fig = sweep_charts.against(draws_frame(axis, results), axis, quantity, title)
    sweep_charts.add_published(fig, figure.marks)
    return fig


def draws_frame(axis: str, results: Results) -> pd.DataFrame:
    """Return every draw as a row: name, id, source, epsilon, seed, value and the grid.

    The columns are those of `sweep_charts.frame`. Several lines of one algorithm get their own
    colours.
    """
    names = [_name(axis, it, results) for it in results]
    lines = {(name, it.algorithm, _by_source(it)) for name, it in zip(names, results, strict=True)}
    algorithms = [(algorithm, source) for _, algorithm, source in lines]
    is_ambiguous = len(set(algorithms)) < len(algorithms)
    tints = dict(zip(dict.fromkeys(names), TINTS * len(names), strict=False))
    rows = [
        {
            "name": name,
            "id": tints[name]
            if is_ambiguous and not colours.is_trivial(it.algorithm)
            else it.algorithm,
            "source": _by_source(it),
            "epsilon": it.epsilon,
            "seed": seed,
            "value": value,
        }
        | dict(it.grid)
        for name, it in zip(names, results, strict=True)
        for seed, value in enumerate(it.draws)
    ]
    frame = sweep_charts.draws_frame(rows, (name for it in results for name in it.grid))
    return _with_none(frame, axis) if axis in NONE_AT else frame


def _with_none(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return axis values as words in order; the value that stands for none reads "none"."""
    none = NONE_AT[axis]
    words = frame[axis].map(lambda it: "none" if it == none else f"{it:g}", na_action="ignore")
    return frame.sort_values(axis, kind="stable").assign(**{axis: words})


def _by_source(result: Summary) -> bool:
    return result.label.endswith(sweep_charts.SOURCE_SUFFIX)


def _name(axis: str, result: Summary, results: Results) -> str:
    """Return a line's name: its label, and the grid's values that differ apart from the axis."""
    others = {
        name: value
        for name, value in result.grid.items()
        if name not in (axis, "data") and len({it.grid.get(name) for it in results}) > 1
    }
    return ", ".join(filter(None, (result.label, sweep_charts.place(others, [result.algorithm]))))


def numbers(results: Results, marks: Sequence[Mark]) -> pd.DataFrame:
    """Return measured and published numbers, a row each."""
    measured_rows = [
        {"method": it.label, "ε": it.epsilon, **it.grid}
        | {"median": it.median, "lowest": it.low, "highest": it.high, "draws": len(it.draws)}
        for it in results
    ]
    published_rows = [
        {"method": it.label, "at": it.x, "published": it.y, "printed in": it.source} for it in marks
    ]
    return pd.DataFrame([*measured_rows, *published_rows])
