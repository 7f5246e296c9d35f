"""A published figure, made again: its runs, chart and verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.figures import Claim, Figure, Outcome, Verdict, by_metric
from dpmf_core.runs.sweep import Point, Summary, rows
from pages.kit import (
    charts,
    comparison_charts,
    factorisation_figures,
    safe_text,
    sweep_charts,
    sweep_frames,
)
from pages.kit.frames import ANY, Curve, curve_frame, to_frame
from pages.kit.runs import ask
from pages.kit.sweep_frames import Runs

AXES = {
    "epsilon": "ε of a step (source) or in total",
    "regularisation": "λ",
    "threshold": "threshold ε",
    "users": "users",
    "items": "items",
    "static_share": "share of the ratings known from the start, Rₛ",
    "new_share": "share of the new ratings that have arrived",
    "stretch": "stretch of time that is predicted",
}
OUTCOMES = {
    Outcome.REPRODUCED: "Reproduced",
    Outcome.DIFFERS: "Differs",
    Outcome.CANNOT_BE_JUDGED: "Cannot be judged here",
    Outcome.NOT_MEASURED: "Not measured",
    Outcome.NOTHING_CLAIMED: "Our own figure",
}
# of lines that one algorithm draws, in their order
TINTS = ("blue", "vermilion", "green", "orange", "violet", "brown", "pink", "teal")


def name(figure: Figure) -> str:
    """Whose figure it is, and of what."""
    return f"{figure.source}: {figure.title}"


def choice(page: str, figures: Mapping[str, Figure]) -> None:
    """A figure, made again on request."""
    st.header("Figures of the source", anchor=False)
    chosen_id = st.selectbox(
        "Figure",
        list(figures),
        index=None,
        key=f"{page}.figure",
        format_func=lambda figure_id: name(figures[figure_id]),
        placeholder="choose one to make it again",
    )
    if chosen_id is not None:
        draw(page, figures[chosen_id])


def draw(page: str, figure: Figure) -> None:
    """The figure at page size, whatever the sidebar says."""
    points = figure.points()
    runs = ask(f"{page}.figure.runs", {point.key: point.spec for point in points})
    finished_points = [point for point in points if point.key in runs]
    if points and not finished_points:
        return
    verdict = figure.verdict(points, runs)
    show_verdict(figure, verdict)
    if finished_points and (figure.measure is by_metric or len(finished_points) == len(points)):
        _show(
            f"{page}.figure.{figure.id}",
            figure,
            _of_one_set(page, figure, finished_points),
            runs,
            verdict,
        )
    st.caption(f"{figure.words} At full size: `{command(figure)}`")


def _of_one_set(page: str, figure: Figure, points: list[Point]) -> list[Point]:
    """Of a figure on several data sets the points of the chosen one."""
    sets = list(dict.fromkeys(str(point.grid.get("data")) for point in points))
    if not figure.by_data or len(sets) < 2:
        return points
    data_id = st.segmented_control(
        "Data set", sets, default=sets[0], required=True, key=f"{page}.figure.set"
    )
    return [point for point in points if point.grid["data"] == data_id]


def _show(key: str, figure: Figure, points: list[Point], runs: Runs, verdict: Verdict) -> None:
    """The figure's own drawing, or its chart with the numbers."""
    if figure.id in factorisation_figures.OWN_DRAWINGS:
        factorisation_figures.OWN_DRAWINGS[figure.id](key, figure, points, runs)
    else:
        table = pd.DataFrame(rows(points, runs))
        alt = f"{figure.title}. {verdict.outcome}."
        charts.show(chart(figure, points, runs), key, alt, table)
    factorisation_figures.show_totals(points)


def command(figure: Figure) -> str:
    """The command that makes it at full size."""
    what = "papers run" if isinstance(figure, Claim) else "sweep --preset"
    return f"python -m dpmf_core {what} {figure.id}"


def show_verdict(figure: Figure, verdict: Verdict) -> None:
    """The verdict, and each statement with the numbers that decide it."""
    if verdict.outcome is Outcome.NOTHING_CLAIMED:
        st.info(f"{verdict.remark} {verdict.size}")
        return
    if verdict.outcome is Outcome.NOT_MEASURED:
        st.info(f"**{figure.source}.** {verdict.remark}")
        return
    count = sum(clause.holds for clause in verdict.clauses)
    box = {Outcome.REPRODUCED: st.success, Outcome.DIFFERS: st.warning}.get(
        verdict.outcome, st.info
    )
    outcome = f"**{OUTCOMES[verdict.outcome]}: {count} of {len(verdict.clauses)} statements hold.**"
    box(f"{outcome} {figure.source}. {verdict.size}")
    for clause in verdict.clauses:
        icon = ":material/check: holds"
        if not clause.holds:
            icon = ":material/close: does not hold"
        st.markdown(f"- {icon}: {clause.words}. *{clause.figures}.*")
        if clause.quote:
            st.caption(f"{clause.place}: “{safe_text.escape(clause.quote)}”")
    for text in filter(None, (verdict.obstacle, verdict.remark)):
        st.write(text)


def chart(figure: Figure, points: list[Point], runs: Runs) -> Any:
    """What finished runs give, along the figure's axis."""
    if figure.axis == "step":
        return _by_step(figure, points, runs)
    draws = (
        sweep_frames.frame(points, runs, figure.metric, notes={})
        if figure.measure is by_metric
        else draws_frame(figure.results(points, runs))
    )
    title = AXES.get(figure.axis, figure.axis.replace("_", " "))
    quantity = figure.quantity or METRICS[figure.metric].label
    fig = sweep_charts.against(draws, figure.axis, quantity, title)
    sweep_charts.add_published(fig, figure.marks)
    if figure.axis == "epsilon":
        factorisation_figures.add_overall_axis(fig, points)
    return fig


def draws_frame(summaries: Sequence[Summary]) -> pd.DataFrame:
    """Draws of a figure's own measure, as `sweep_frames.frame` gives those of a metric; every line
    in a colour of its own.
    """
    labels = list(dict.fromkeys(it.label for it in summaries))
    rows = [
        {
            "name": it.label,
            "id": TINTS[labels.index(it.label) % len(TINTS)],
            "source": False,
            "epsilon": it.epsilon,
            "seed": seed,
            "value": value,
        }
        | dict(it.grid)
        for it in summaries
        for seed, value in enumerate(it.draws)
    ]
    grid = dict.fromkeys((name for it in summaries for name in it.grid), ANY)
    return to_frame(rows, {**sweep_frames.PLACE, **grid})


def _by_step(figure: Figure, points: list[Point], runs: Runs) -> Any:
    first = points[0].spec.seed
    parts = {"objective": "all samples"} if figure.metric == "objective" else {"test_rmse": "test"}
    lines = [
        Curve(
            point.label,
            "sky" if "random" in point.label else point.spec.algorithm,
            point.spec.seed - first,
            runs[point.key],
            parts,
        )
        for point in points
    ]
    return comparison_charts.steps(curve_frame(lines, figure.metric), None, figure.metric)
