"""What the pages about documents and images share: the finding, the price, what the source's epsilon truly is, the source's figures."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.compare import Comparison, named, split_name
from dpmf_core.experiment import Run
from dpmf_core.explain import likeness
from dpmf_core.figures import Preset
from dpmf_core.presets import find_preset
from dpmf_core.privacy import Relation, claims
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.sweeps import Point, rows
from pages.kit import charts, comparison, guarantee, odometer, runs
from pages.kit.comparison import Draws, beaten, figure, kept, so_far
from pages.kit.frames import ANY, Columns, framed
from pages.kit.sidebar import SampleChoice

Done = dict[str, Run]
METRICS = {"objective": "objective", "coherence": "TC-W2V coherence", "rmse_all_cells": "RMSE over all cells"}


def figure_of(run: Run, metric: str = "objective") -> float:
    return float(run.record["metrics"][metric])


def finding(choice: SampleChoice, asked: Comparison, done: Done, noun: str) -> None:
    """The sentence first."""
    if "main" not in done:
        st.title(f"What does ε = {guarantee.loss(choice.epsilon)} do to {noun}?", anchor=False)
        st.write(odometer.unasked("topics" if noun == "topics" else "faces"))
        return
    record = done["main"].record
    at = f"At ε = {guarantee.loss(choice.epsilon)}"
    if record["guarantee"]["status"] == "UNPROVEN":
        at = "With nothing proved"
    elif choice.calibration == "source":
        at = f"At the source's ε = {guarantee.loss(choice.epsilon)} a step, truly {guarantee.shown(record['epsilon']['exact'])}"
    draws = drawn(done)
    if not draws or "twin" not in done:
        st.title(f"{at}, {record['title']} reaches an objective of {figure_of(done['main']):.3f} in the first draw", anchor=False)
        st.write("The same without privacy is not there yet.")
        return
    without = done["twin"].record["title"]
    nothing = f"finds no {noun}: it does no better than the mean row"
    clause, sentence = beaten(done, asked.runs, "objective")
    st.title(f"{at}, {record['title']} {kept(draws, without, nothing)}{so_far(draws, asked.runs)}{clause}", anchor=False)
    alike, degrees = likeness(done["main"], done["twin"])
    what = f"medians and ranges of {len(draws)} draws" if len(draws) > 1 else "in this draw"
    st.write(
        f"Objective {figure(draws, 0, 4)} with privacy, {figure(draws, 1, 4)} without ({without}), {figure(draws, 2, 4)} for the mean row alone: {what}, on "
        f"{choice.entry.title}.{sentence} Matched one to one, private and other {noun} of the first draw have a mean cosine of **{alike:.2f}**; they span "
        f"spaces {degrees:.0f}° apart."
    )


def drawn(done: Done) -> Draws:
    """(private, twin, trivial) objectives of the draws in which both have finished; the trivial predictor needs no run of its own."""
    both = [(run, done[pair]) for name, run in done.items() for who, n in [split_name(name)] if who == "main" and (pair := named("twin", n)) in done]
    return [(figure_of(run), figure_of(twin), figure_of(run, "trivial_objective")) for run, twin in both]


def price(asked: Comparison, done: Done, page: str) -> None:
    """Every method at this epsilon, and the objective by step."""
    left, right = st.columns([2, 3], gap="large")
    points = comparison.ladder(done, "objective")
    with left:
        st.subheader(comparison.heading(asked), anchor=False)
        st.caption(
            "Half the mean squared distance of a row from its explanation; rows have norm 1. "
            f"The mean row alone: {figure_of(done['main'], 'trivial_objective'):.3f}. {comparison.explanation(asked, done)}"
        )
        alt = "; ".join(f"{name} {value:.4f}" for name, value in points.groupby("name")["objective"].median().sort_values().items())
        charts.show(charts.ladder(points, "objective", "objective", 4), f"{page}.ladder", f"Objective of each method: {alt}", points)
    with right:
        st.subheader("Objective by step", anchor=False)
        st.caption("Computed on raw data, not released. Further draws are faint.")
        lines = comparison.curves(done, {"objective": "all samples"}, "objective")
        fig = charts.steps(lines, figure_of(done["main"], "trivial_objective"), "objective", "objective", "the mean row")
        charts.show(fig, f"{page}.steps", "Objective by step, private beside non-private.", lines)


def per_step(page: str, delta: float) -> None:
    """The source's epsilon of a step beside what all steps cost."""
    st.header("What “ε = 0.5” is in the source", anchor=False)
    left, right = st.columns(2)
    each = left.slider("ε of each of two statistics, in each step", 0.05, 0.99, 0.5, 0.05, key=f"{page}.each")
    steps = right.slider("Steps", 1, 500, 100, key=f"{page}.steps.claimed")
    own, tight = claims.saha(each, delta, steps), claims.saha(each, delta, steps, tight=True)
    st.markdown("Total ε of the same noise:")
    first, second, third = st.columns(3)
    first.metric("by the source", guarantee.shown(exactly(own.event, delta)))
    second.metric("add/remove", guarantee.shown(exactly(tight.event, delta)))
    third.metric("replace-one", guarantee.shown(exactly(tight.event, delta, Relation.REPLACE_ONE)))
    st.caption(
        f"Saha & Imtiaz 2022 set the noise of two statistics in each step for ε = {guarantee.loss(each)}. Composed exactly over {steps} steps at "
        f"δ = {guarantee.small(delta)}, that noise costs the figures above: first with the sensitivities of the source (2/N and 4/N), then with those that "
        "hold (1/N and 1/N for adding or removing a sample, √2/N and 2/N for replacing one). Elsewhere on this page ε is the total, "
        "but for the axes of the source's figures."
    )  # fmt: skip


def source_figures(page: str, ids: tuple[str, ...]) -> None:
    """The source's figures, made again on request."""
    st.header("Figures of the source", anchor=False)
    names = {preset_id: f"{find_preset(preset_id).source}: {find_preset(preset_id).title}" for preset_id in ids}
    chosen = st.selectbox("Figure", ids, index=None, key=f"{page}.figure", format_func=names.__getitem__, placeholder="choose one to make it again")
    if chosen is None:
        return
    preset = find_preset(chosen)
    points = preset.points()
    finished = runs.wanted(f"{page}.figure.runs", {point.key: point.spec for point in points})
    done = [point for point in points if point.key in finished]
    if not done:
        return
    verdict = preset.verdict(points, finished)
    (st.success if verdict.reproduced else st.info)(f"**{preset.source}.** {verdict.words}")
    table = pd.DataFrame(rows(done, finished))
    fig = _by_step(preset, done, finished) if preset.axis == "step" else _against(preset, done, finished)
    charts.show(fig, f"{page}.figure.{chosen}", f"{preset.title}. {verdict.words}", table)
    st.caption(f"{preset.words} On {preset.data()}, whatever the sidebar says. At full size: `python -m dpmf_core sweep --preset {preset.id}`")


PLACE: Columns = {"name": str, "id": str, "source": bool, "value": float, "epsilon": float}
STEP: Columns = {"name": str, "id": str, "draw": int, "part": str, "step": int, "objective": float}


def _against(preset: Preset, done: list[Point], finished: Done) -> Any:
    found = [
        {"name": point.label, "id": point.spec.algorithm, "source": False, "value": figure_of(finished[point.key], preset.metric), "epsilon": point.epsilon,
         **point.grid}
        for point in done
    ]  # fmt: skip
    points = framed(found, {**PLACE, **{name: ANY for point in done for name in point.grid}})
    title = "ε of a step (source) or in total" if preset.axis == "epsilon" else preset.axis
    fig = charts.against(points, preset.axis, METRICS.get(preset.metric, preset.metric), title)
    charts.published(fig, preset.marks)
    return fig


def _by_step(preset: Preset, done: list[Point], finished: Done) -> Any:
    found = [
        {"name": point.label, "id": point.spec.algorithm if "random" not in point.label else "ada-dpals", "draw": point.spec.seed - done[0].spec.seed,
         "part": "all samples", "step": int(at["step"]), "objective": at["objective"]}
        for point in done for at in finished[point.key].record["curves"]
    ]  # fmt: skip
    return charts.steps(framed(found, STEP), None, "objective", "objective")
