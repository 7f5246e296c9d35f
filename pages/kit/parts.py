"""What the pages about documents and images share: the finding, the price, what the source's epsilon truly is, the source's figures."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.cli import show as words
from dpmf_core.experiment import Run
from dpmf_core.explain import likeness
from dpmf_core.figures import Preset
from dpmf_core.presets import find_preset
from dpmf_core.privacy import Relation, claims
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.store import to_json
from dpmf_core.sweeps import rows
from pages.kit import charts, guarantee, runs
from pages.kit.findings import verdict
from pages.kit.sidebar import SampleChoice

Done = dict[str, Run]
METRICS = {"objective": "objective", "coherence": "TC-W2V coherence", "rmse_all_cells": "RMSE over all cells"}


def figure_of(run: Run, metric: str = "objective") -> float:
    return float(run.record["metrics"][metric])


def finding(choice: SampleChoice, done: Done, noun: str) -> None:
    """The sentence first."""
    if "main" not in done:
        st.title(f"What does ε = {choice.epsilon:g} do to {noun}?", anchor=False)
        st.write("Training. The privacy card below needs no data and already holds.")
        return
    record = done["main"].record
    trivial, private = figure_of(done["main"], "trivial_objective"), figure_of(done["main"])
    at = f"At ε = {choice.epsilon:g}"
    if record["guarantee"]["status"] == "UNPROVEN":
        at = "With nothing proved"
    elif choice.calibration == "source":
        at = f"At the source's ε = {choice.epsilon:g} a step, truly {record['epsilon']['exact']:.2f}"
    if "twin" not in done:
        st.title(f"{at}, {record['title']} reaches an objective of {private:.3f}", anchor=False)
        return
    twin = figure_of(done["twin"])
    nothing = f"finds no {noun}: it does no better than the mean row"
    st.title(f"{at}, {record['title']} {verdict(private, twin, trivial, done['twin'].record['title'], nothing)}", anchor=False)
    alike, degrees = likeness(done["main"], done["twin"])
    st.write(
        f"Objective **{private:.4f}** with privacy, **{twin:.4f}** without ({done['twin'].record['title']}), **{trivial:.4f}** for the mean row alone, on "
        f"{choice.entry.title}. Matched one to one, private and other {noun} have a mean cosine of **{alike:.2f}**; they span spaces {degrees:.0f}° apart."
    )  # fmt: skip


def ladder(done: Done) -> pd.DataFrame:
    """The objective of every method, the chosen one with its further draws."""
    own = done["main"].record["spec"]["algorithm"]
    return pd.DataFrame(
        [
            {"name": run.record["title"], "id": own if name.startswith(("main", "draw")) else run.record["spec"]["algorithm"],
             "draw": int(name[5:]) if name.startswith("draw") else 0, "objective": figure_of(run)}
            for name, run in done.items()
        ]
    )  # fmt: skip


def price(done: Done, page: str) -> None:
    """Every method at this epsilon, and the objective by step."""
    left, right = st.columns([2, 3], gap="large")
    points = ladder(done)
    with left:
        st.subheader("Every method, at this ε", anchor=False)
        st.caption(
            "Half the mean squared distance of a row from its explanation; rows have norm 1. "
            f"The mean row alone: {figure_of(done['main'], 'trivial_objective'):.3f}."
        )
        alt = "; ".join(f"{name} {value:.4f}" for name, value in points.groupby("name")["objective"].median().sort_values().items())
        charts.show(charts.ladder(points, "objective", "objective", 4), f"{page}.ladder", f"Objective of each method: {alt}", points)
    with right:
        st.subheader("Objective by step", anchor=False)
        st.caption("Computed on raw data, not released.")
        curves = pd.DataFrame([row for name, run in done.items() for row in _curve(name, run)])
        fig = charts.steps(curves, figure_of(done["main"], "trivial_objective"), "objective", "objective", "the mean row")
        charts.show(fig, f"{page}.steps", "Objective by step, private beside non-private.", curves)


def _curve(name: str, run: Run) -> list[dict[str, Any]]:
    common = {
        "name": run.record["title"],
        "id": run.record["spec"]["algorithm"],
        "draw": int(name[5:]) if name.startswith("draw") else 0,
        "part": "all samples",
    }
    return [common | {"step": int(point["step"]), "objective": point["objective"]} for point in run.record["curves"]]


def per_step(page: str, delta: float) -> None:
    """The source's epsilon of a step beside what all steps cost."""
    st.header("What “ε = 0.5” is in the source", anchor=False)
    left, right = st.columns(2)
    each = left.slider("ε of each of two statistics, in each step", 0.05, 0.99, 0.5, 0.05, key=f"{page}.each")
    steps = right.slider("Steps", 1, 500, 100, key=f"{page}.steps.claimed")
    own, tight = claims.saha(each, delta, steps), claims.saha(each, delta, steps, tight=True)
    st.markdown("Total ε of the same noise:")
    first, second, third = st.columns(3)
    first.metric("by the source", f"{exactly(own.event, delta):.2f}")
    second.metric("add/remove", f"{exactly(tight.event, delta):.2f}")
    third.metric("replace-one", f"{exactly(tight.event, delta, Relation.REPLACE_ONE):.2f}")
    st.caption(
        f"Saha & Imtiaz 2022 set the noise of two statistics in each step for ε = {each:g}. Composed exactly over {steps} steps at "
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
    st.caption(f"{preset.words} At full size: `python -m dpmf_core sweep --preset {preset.id}`")


def _against(preset: Preset, done: list[Any], finished: Done) -> Any:
    points = pd.DataFrame(
        [
            {
                "name": point.label,
                "id": point.spec.algorithm,
                "source": False,
                "value": figure_of(finished[point.key], preset.metric),
                "epsilon": point.epsilon,
                **point.grid,
            }
            for point in done
        ]
    )
    title = "ε of a step (source) or in total" if preset.axis == "epsilon" else preset.axis
    fig = charts.against(points, preset.axis, METRICS.get(preset.metric, preset.metric), title)
    if preset.marks:
        charts.published(fig, pd.DataFrame([{"label": mark.label, "x": mark.x, "y": mark.y, "source": mark.source} for mark in preset.marks]))
    return fig


def _by_step(preset: Preset, done: list[Any], finished: Done) -> Any:
    found = [
        {"name": point.label, "id": point.spec.algorithm if "random" not in point.label else "ada-dpals", "draw": point.spec.seed - done[0].spec.seed,
         "part": "all samples", "step": int(at["step"]), "objective": at["objective"]}
        for point in done for at in finished[point.key].record["curves"]
    ]  # fmt: skip
    return charts.steps(pd.DataFrame(found), None, "objective", "objective")


def take_away(main: Run) -> None:
    """Downloads and the script."""
    st.header("Take it away", anchor=False)
    record = main.export()
    left, middle, right = st.columns(3)
    left.download_button("The run as JSON", to_json(record, indent=1), f"{main.name}.json", "application/json", width="stretch")
    middle.download_button("The script", words.script(record), f"{main.name}.py", "text/x-python", width="stretch")
    with right.popover("Share link", width="stretch"):
        link = f"{(st.context.url or '').split('?')[0]}?" + "&".join(f"{name}={value}" for name, value in st.query_params.items())
        st.code(link, language=None, wrap_lines=True)
