"""A paper's figure: recorded results beside published numbers, or measured here at page size."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.balu_2016.protocol import NO_THRESHOLD
from dpmf_core.papers.clauses import Results
from dpmf_core.papers.figures import Claim, Figure, Mark, by_metric
from dpmf_core.papers.results import ClaimResult
from dpmf_core.runs.sweep import Point, Summary
from pages.kit import charts, colours, published_figures, sweep_charts, sweep_frames
from pages.kit.frames import ANY, to_frame
from pages.kit.runs import ask
from pages.papers import balu_figures, saha_figures

AXES = {
    "epsilon": "ε",
    "regularisation": "λ",
    "threshold": "threshold ε",
    "users": "users",
    "items": "items",
    "step": "step",
    "rank": "dimension d",
    "static_share": "share of the ratings known from the start, Rₛ",
    "arrived_share": "share of the new ratings that have arrived",
    "ratings": "ratings that are processed",
    "stretch": "stretch of time that is predicted",
}
NONE_AT = {"threshold": NO_THRESHOLD, "regularisation": 0.0}  # which value stands for none
# of lines that one algorithm draws, in their order
TINTS = ("blue", "vermilion", "green", "orange", "violet", "brown", "pink", "teal")
# of figures that no line chart shows, by id: a chart and its table from results
OWN_CHARTS = {"saha-table4": saha_figures.two_units, "balu-fig2": balu_figures.best_map}


def draw_recorded(claim: Claim, last: ClaimResult) -> None:
    """What was measured last, beside what is published."""
    points = claim.points(last.size == "full")
    key = f"papers.{claim.id}"
    _draw(key, claim, _of_one_set(key, claim, last.summaries), points)
    st.caption(f"{claim.words} Measured {last.created[:10]}, version {last.version}.")


def measure(place: str, figure: Figure, by_button: bool = False) -> None:
    """The figure made here, at page size."""
    points = figure.points()
    runs = ask(place, {point.key: point.spec for point in points}, by_button=by_button)
    finished_points = [point for point in points if point.key in runs]
    if points and not finished_points:
        return
    published_figures.show_verdict(figure, figure.verdict(points, runs))
    if figure.measure is by_metric or len(finished_points) == len(points):
        results, key = figure.results(finished_points, runs), f"{place}.{figure.id}"
        _draw(key, figure, _of_one_set(key, figure, results), finished_points)
        if figure.id in saha_figures.OF_RUNS:
            saha_figures.OF_RUNS[figure.id](key, finished_points, runs)


def _of_one_set(key: str, figure: Figure, results: Results) -> list[Summary]:
    """Of results on several data sets those on the chosen one."""
    sets = list(dict.fromkeys(str(it.grid.get("data")) for it in results))
    if not figure.by_data or len(sets) < 2:
        return list(results)
    box: dict[str, Any] = {"default": sets[0], "required": True, "key": f"{key}.set"}
    data_title = st.segmented_control("Data set", sets, **box)
    return [it for it in results if it.grid.get("data") == data_title]


def _draw(key: str, figure: Figure, results: Results, points: Sequence[Point]) -> None:
    """The chart with its numbers, and of a step's epsilon the total."""
    alt = f"{figure.title}: measured results and published numbers."
    if figure.id in OWN_CHARTS:
        fig, table = OWN_CHARTS[figure.id](results)
    else:
        fig, table = chart(figure, results), numbers(results, figure.marks)
        if figure.axis == "epsilon":
            saha_figures.add_overall_axis(fig, points)
    words = "Bands span the draws; lines are medians." + " Crosses are published." * bool(
        figure.marks
    )
    charts.show(fig, key, alt, table, leaves=True, caption=words)
    saha_figures.show_totals(points)


def chart(figure: Figure, results: Results) -> Any:
    """Results along the figure's axis, and the published numbers."""
    has_places = figure.axis == "epsilon" or any(figure.axis in it.grid for it in results)
    axis = figure.axis if has_places else "epsilon"
    title = AXES.get(axis, axis.replace("_", " "))
    quantity = figure.quantity or METRICS[figure.metric].label
    fig = sweep_charts.against(draws_frame(axis, results), axis, quantity, title)
    sweep_charts.add_published(fig, figure.marks)
    return fig


def draws_frame(axis: str, results: Results) -> pd.DataFrame:
    """Every draw as a row, as `sweep_frames.frame` gives those of runs: name, id, source, epsilon,
    seed, value and the grid. Lines of one algorithm get colours of their own.
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
    grid = dict.fromkeys((name for it in results for name in it.grid), ANY)
    frame = to_frame(rows, {**sweep_frames.PLACE, **grid})
    return _with_none(frame, axis) if axis in NONE_AT else frame


def _with_none(frame: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Values along the axis as words, in their order; the one that stands for none says so."""
    none = NONE_AT[axis]
    words = frame[axis].map(lambda it: "none" if it == none else f"{it:g}", na_action="ignore")
    return frame.sort_values(axis, kind="stable").assign(**{axis: words})


def _by_source(result: Summary) -> bool:
    return result.label.endswith(sweep_frames.SOURCE_SUFFIX)


def _name(axis: str, result: Summary, results: Results) -> str:
    """A line's name: the label, and what of the grid differs apart from the axis."""
    others = {
        name: value
        for name, value in result.grid.items()
        if name not in (axis, "data") and len({it.grid.get(name) for it in results}) > 1
    }
    return ", ".join(filter(None, (result.label, sweep_frames.place(others, [result.algorithm]))))


def numbers(results: Results, marks: Sequence[Mark]) -> pd.DataFrame:
    """The measured and the published numbers, a row each."""
    measured_rows = [
        {"method": it.label, "ε": it.epsilon, **it.grid}
        | {"median": it.median, "lowest": it.low, "highest": it.high, "draws": len(it.draws)}
        for it in results
    ]
    published_rows = [
        {"method": it.label, "at": it.x, "published": it.y, "printed in": it.source} for it in marks
    ]
    return pd.DataFrame([*measured_rows, *published_rows])
