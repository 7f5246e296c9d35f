"""A published figure, made again: its runs, chart and verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.language import phrase
from dpmf_core.papers.figures import Claim, Figure, Outcome, Verdict, by_metric
from dpmf_core.runs.sweep import Point, Summary, rows
from pages.kit import (
    charts,
    comparison_charts,
    parts_figures,
    run_progress,
    sweep_charts,
    sweep_frames,
)
from pages.kit.frames import ANY, Curve, curve_frame, framed
from pages.kit.language import say
from pages.kit.sweep_frames import Finished

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
    Outcome.REPRODUCED: phrase("Reproduced"),
    Outcome.DIFFERS: phrase("Differs"),
    Outcome.NOT_MEASURED: phrase("Not measured"),
    Outcome.NOTHING_CLAIMED: phrase("Our own figure"),
}
# of lines that one algorithm draws, in their order
TINTS = ("blue", "vermilion", "green", "orange", "violet", "brown", "pink", "teal")


def name(figure: Figure) -> str:
    """Whose figure it is, and of what."""
    return f"{say(figure.source)}: {say(figure.title)}"


def choice(page: str, figures: Mapping[str, Figure]) -> None:
    """A figure, made again on request."""
    st.header(say("Figures of the source"), anchor=False)
    chosen = st.selectbox(
        say("Figure"),
        list(figures),
        index=None,
        key=f"{page}.figure",
        format_func=lambda figure_id: name(figures[figure_id]),
        placeholder=say("choose one to make it again"),
    )
    if chosen is not None:
        draw(page, figures[chosen])


def draw(page: str, figure: Figure) -> None:
    """The figure at page size, whatever the sidebar says."""
    points = figure.points()
    finished = run_progress.request(
        f"{page}.figure.runs", {point.key: point.spec for point in points}
    )
    done = [point for point in points if point.key in finished]
    if points and not done:
        return
    verdict = figure.verdict(points, finished)
    show_verdict(figure, verdict)
    if done and (figure.measure is by_metric or len(done) == len(points)):
        _show(
            f"{page}.figure.{figure.id}", figure, _of_one_set(page, figure, done), finished, verdict
        )
    st.caption(f"{figure.words} At full size: `{command(figure)}`")


def _of_one_set(page: str, figure: Figure, done: list[Point]) -> list[Point]:
    """Of a figure on several data sets the points of the chosen one."""
    sets = list(dict.fromkeys(str(point.grid.get("data")) for point in done))
    if not figure.by_data or len(sets) < 2:
        return done
    chosen = st.segmented_control(
        "Data set", sets, default=sets[0], required=True, key=f"{page}.figure.set"
    )
    return [point for point in done if point.grid["data"] == chosen]


def _show(
    key: str, figure: Figure, done: list[Point], finished: Finished, verdict: Verdict
) -> None:
    """The figure's own drawing, or its chart with the numbers."""
    if figure.id in parts_figures.OWN_DRAWINGS:
        parts_figures.OWN_DRAWINGS[figure.id](key, figure, done, finished)
    else:
        table = pd.DataFrame(rows(done, finished))
        alt = f"{figure.title}. {verdict.outcome}."
        charts.show(chart(figure, done, finished), key, alt, table)
    parts_figures.show_totals(done)


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
        st.info(f"**{say(figure.source)}.** {say(verdict.remark)}")
        return
    held = sum(clause.holds for clause in verdict.clauses)
    box = st.success if verdict.reproduced else st.warning
    outcome = say(
        "**{outcome}: {held} of {all} statements hold.**",
        outcome=OUTCOMES[verdict.outcome],
        held=held,
        all=len(verdict.clauses),
    )
    box(f"{outcome} {say(figure.source)}. {verdict.size}")
    for clause in verdict.clauses:
        icon = f":material/check: {say('holds')}"
        if not clause.holds:
            icon = f":material/close: {say('does not hold')}"
        st.markdown(f"- {icon}: {clause.words}. *{clause.figures}.*")
    if verdict.remark:
        st.write(verdict.remark)


def chart(figure: Figure, done: list[Point], finished: Finished) -> Any:
    """What finished runs give, along the figure's axis."""
    if figure.axis == "step":
        return _by_step(figure, done, finished)
    points = (
        sweep_frames.frame(done, finished, figure.metric, notes={})
        if figure.measure is by_metric
        else measured(figure.measured(done, finished))
    )
    title = AXES.get(figure.axis, figure.axis.replace("_", " "))
    quantity = figure.quantity or METRICS[figure.metric].label
    fig = sweep_charts.against(points, figure.axis, quantity, title)
    sweep_charts.published(fig, figure.marks)
    if figure.axis == "epsilon":
        parts_figures.add_overall_axis(fig, done)
    return fig


def measured(found: Sequence[Summary]) -> pd.DataFrame:
    """Draws of a figure's own measure, as `sweep_frames.frame` gives those of a metric; every line
    in a colour of its own.
    """
    labels = list(dict.fromkeys(it.label for it in found))
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
        for it in found
        for seed, value in enumerate(it.draws)
    ]
    grid = dict.fromkeys((name for it in found for name in it.grid), ANY)
    return framed(rows, {**sweep_frames.PLACE, **grid})


def _by_step(figure: Figure, done: list[Point], finished: Finished) -> Any:
    first = done[0].spec.seed
    kept = {"objective": "all samples"} if figure.metric == "objective" else {"test_rmse": "test"}
    lines = [
        Curve(
            point.label,
            "sky" if "random" in point.label else point.spec.algorithm,
            point.spec.seed - first,
            finished[point.key],
            kept,
        )
        for point in done
    ]
    return comparison_charts.steps(curve_frame(lines, figure.metric), None, figure.metric)
