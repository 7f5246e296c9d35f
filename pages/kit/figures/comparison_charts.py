"""Methods at one epsilon, and the steps of a run, as figures."""

import textwrap
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.comparison import BEST_KNOWN, MAIN, NAMES, Comparison, split_name
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.record import Run, Runs
from pages.kit.figures import charts, colours, sweep_charts

VARIANTS = {title: name for name, title in NAMES.items()}  # ids by title, for colours
ALL_DRAWN = "Dots are draws of split and noise, bars are medians. All methods share {draws} draws."
SOME_MISSING = "Some runs are missing, so the ranking may change."


# ---- methods at one epsilon ----------------------------------------------------------------------


def draw_methods(
    page: str,
    selection: Comparison,
    runs: Runs,
    metric: str,
    remark: str = "",
) -> None:
    """Draw every method at this epsilon, with its draws. `remark` explains the metric."""
    if selection.every:
        heading = "Every private method"
    else:
        heading = "Selected methods"
    st.header(f"{heading}, at this ε", anchor="methods")
    st.caption(_caption(selection, runs, remark))

    def make() -> charts.Ready:
        judgement = selection.table(runs).by(metric)
        medians = sorted(judgement.measured, key=judgement.rank)
        kind = judgement.metric
        values = "; ".join(f"{name_of(one)} {kind.text(one.median)}" for one in medians)
        alt = f"{kind.label} of each method: {values}"
        frame = methods_frame(judgement)
        return charts.ready(_methods_chart(frame, metric), alt, frame)

    charts.show_ready(
        charts.of_runs(f"ladder {metric}", runs.items(), make), f"{page}.ladder"
    )


def _caption(selection: Comparison, runs: Runs, remark: str) -> str:
    draws = 1 + max(split_name(name)[1] for name in selection.runs)
    sentences = [remark, ALL_DRAWN.format(draws=draws)]
    if len(runs) < len(selection.runs):
        sentences.append(SOME_MISSING)
    sentences += [
        f"{name} is missing: {why}" for name, why in selection.refusals.items()
    ]
    return " ".join(filter(None, sentences))


def name_of(one: Measured) -> str:
    """A method's label with a note on its epsilon, if that differs in meaning."""
    if one.caution:
        return f"{one.label} ({one.caution})"
    return one.label


def methods_frame(judgement: Judgement) -> pd.DataFrame:
    """Name, id, draw and the metric of every method in every finished draw."""
    metric = judgement.metric.id
    rows = [
        (name_of(one), VARIANTS.get(one.label, one.algorithm), seed, value)
        for one in judgement.measured
        for seed, value in one.by_seed.items()
    ]
    return pd.DataFrame(rows, columns=["name", "id", "draw", metric])


def _methods_chart(points: pd.DataFrame, metric: str) -> go.Figure:
    """A chart with a row for each method of `methods_frame`: draws as dots, the median as a bar."""
    kind = METRICS[metric]
    medians = points.groupby("name")[metric].median().sort_values(kind="stable")
    names = list(medians.index)
    tints = points["id"].map(colours.of)
    low = points[metric].min()
    high = points[metric].max()
    span = high - low
    fig = charts.figure(
        kind.title,
        "",
        height=60 + 29 * len(names),
        # room for the figures on the right, and for equal values
        xaxis={"range": [low - 0.06 * span - 1e-3, high + 0.25 * span + 1e-3]},
        yaxis={
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "tickvals": names,
            # long names would be cut next to a narrow figure
            "ticktext": [
                "<br>".join(textwrap.wrap(name, 16, break_long_words=False))
                for name in names
            ],
            "title": None,
        },
    )
    fig.add_scatter(
        x=points[metric].tolist(),
        y=points["name"].tolist(),
        mode="markers",
        marker={"color": tints.tolist(), "size": 9, "opacity": 0.45},
        showlegend=False,
        hovertemplate=f"%{{y}}<br>%{{x:.{kind.digits}f}}<extra></extra>",
    )
    bars = tints.groupby(points["name"]).first()[names].tolist()
    fig.add_scatter(
        x=medians.tolist(),
        y=names,
        mode="markers",
        marker={"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": bars}},
        showlegend=False,
        hoverinfo="skip",
    )
    ends = points.groupby("name")[metric].max()
    fig.add_scatter(  # right of all dots of a row: above a bar lies the row before
        x=[ends[name] for name in names],
        y=names,
        mode="text",
        text=[f"\u2003{kind.text(median)}" for median in medians],
        textposition="middle right",
        textfont={"color": colours.ink()},
        showlegend=False,
        hoverinfo="skip",
    )
    fig.update_traces(cliponaxis=False)
    return fig


# ---- steps of a run ------------------------------------------------------------------------------


def has_steps(run: Run) -> bool:
    return len(run.record.curves) > 1


def draw_steps(
    page: str,
    heading: str,
    runs: Runs,
    parts: Mapping[str, str],
    metric: str,
    floor: tuple[str, float | None],
) -> None:
    """Draw the metric by step, private and non-private.

    Parameters
    ----------
    page
        The id of the page.
    heading
        The heading of the figure, for its description.
    runs
        The runs of the comparison, by name.
    parts
        The names of the curves, by their key in a record.
    metric
        The id of the metric.
    floor
        The name and the figure of the prediction that needs no model of others.
    """
    st.caption("Computed on raw data, not released. Further draws are faint.")

    def make() -> charts.Ready:
        curves = sweep_charts.curve_frame(_curves(runs, parts), metric)
        return charts.ready(
            _steps_chart(curves, metric, floor),
            f"{heading}, private and non-private.",
            curves,
        )

    charts.show_ready(
        charts.of_runs(f"steps {metric}", runs.items(), make), f"{page}.steps"
    )


def _curves(runs: Runs, parts: Mapping[str, str]) -> list[sweep_charts.Curves]:
    """The curves of the chosen run and of the best known method; later draws have one."""
    first_part = dict(list(parts.items())[:1])
    curves = []
    for name, run in runs.items():
        method, draw = split_name(name)
        if method in (MAIN, BEST_KNOWN):
            shown_parts = first_part if draw else parts
            record = run.record
            curves.append((record.title, record.spec.algorithm, draw, run, shown_parts))
    return curves


def _steps_chart(
    curves: pd.DataFrame, metric: str, floor: tuple[str, float | None]
) -> go.Figure:
    """Held-out (solid) and training (dotted) error by step, from `curve_frame`."""
    fig = charts.figure("step", METRICS[metric].title)
    if curves["step"].max() <= 12:
        fig.update_xaxes(dtick=1)
    lines = ["name", "id", "part", curves["draw"] == 0]
    for (name, ident, part, is_first), rows in curves.groupby(lines, sort=False):
        label = f"{name}, {part}"
        x = list[int | None]()
        y = list[float | None]()
        # further draws are one line with gaps, because a trace costs more than its points
        for _, draw in rows.groupby("draw"):
            if x:
                x.append(None)
                y.append(None)
            x += draw["step"].tolist()
            y += draw[metric].tolist()
        line = go.Scatter(
            x=x,
            y=y,
            name=label,
            line={
                "color": colours.of(str(ident)),
                "dash": "dot" if part == "train" else "solid",
            },
            hovertemplate=f"{label}<br>step %{{x}}: %{{y:.3f}}<extra></extra>",
        )
        if is_first:
            line.update(
                showlegend=True,
                mode="lines+markers",
                opacity=1.0,
                line_width=2.5,
            )
        else:
            line.update(
                showlegend=False,
                mode="lines",
                opacity=0.35,
                line_width=1,
            )
        fig.add_trace(line)
    name, value = floor
    if value is not None:
        charts.level(
            fig,
            value,
            f"{name}: {METRICS[metric].text(value)}",
            {"dash": "dash", "color": colours.ink()},
        )
    return fig
