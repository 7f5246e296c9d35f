"""The figures of an answer: every method against epsilon, or the range over worlds."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.measured_trainings import AnswerStep
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.unpaid_range import UnpaidRange
from pages.kit.controls.session_widgets import SHARE, ask_of_shares
from pages.kit.figures import charts, colours, sweep_charts
from pages.kit.running.runs import note_shipped

SCALE = "choose.scale"  # in the session: what the figure shows


def front(answer: Answer, *, of_shares: bool) -> go.Figure:
    """Every candidate at every epsilon; the answer's line is thick, with its interval.

    Parameters
    ----------
    answer
        The answer.
    of_shares
        Whether the figure shows the share kept, and not the metric.
    """
    best = answer.best
    judgement = answer.judgement
    title = answer.metric.label
    labels = dict.fromkeys(one.label for one in judgement.ranked)
    lines = [judgement.line(label) for label in labels]
    hover = "%{y:.3f}"
    if of_shares:
        title = "Share kept"
        lines = [judgement.shares_along(line) for line in lines]
        hover = "%{y:.0%}"
    fig = _figure_by_epsilon(title, answer.question.epsilons)
    for line in lines:
        _draw_line(fig, line, best, hover)
    sweep_charts.add_ends(fig, judgement, best, of_shares=of_shares)
    return fig


def _figure_by_epsilon(title: str, epsilons: Sequence[float]) -> go.Figure:
    """An empty figure against epsilon, with the title of its other axis."""
    return charts.figure(
        "ε, total (log scale)",
        title,
        400,
        xaxis=charts.log_axis(epsilons),
    )


def _draw_line(
    fig: go.Figure, line: Sequence[Measured], best: Measured | None, value: str
) -> None:
    """Draw a method's medians, for the answer with intervals and a ring. `value` is hover text."""
    if not line:
        return
    method = line[0].algorithm
    label = line[0].label
    is_best = best is not None and label == best.label
    width = 1.2
    size = 5
    if is_best:
        width = 3.5
        size = 8
    colour = colours.of(method)
    x = [one.epsilon for one in line]
    fig.add_scatter(
        x=x,
        y=[one.median for one in line],
        name=label,
        mode="lines+markers",
        line={"color": colour, "width": width},
        marker={"symbol": colours.marker(method), "size": size},
        hovertemplate=f"{label}<br>ε = %{{x:g}}: {value}<extra></extra>",
    )
    if best is None or not is_best:
        return
    # a share of medians alone has no interval
    ends = [
        one.interval if len(one.draws) > 1 else (one.median, one.median) for one in line
    ]
    charts.band(fig, x, [low for low, _ in ends], [high for _, high in ends], colour)
    heights = [one.median for one in line if one.epsilon == best.epsilon]
    ring = {"color": "rgba(0,0,0,0)", "size": 22, "line": {"color": colour, "width": 3}}
    fig.add_scatter(
        x=[best.epsilon for _ in heights],
        y=heights,
        mode="markers",
        marker=ring,
        showlegend=False,
        hoverinfo="skip",
    )


def draw_figure(finding: Finding) -> None:
    if isinstance(finding, PublicFinding):
        _draw_front(finding)
    elif isinstance(finding, PrivateFinding):
        _draw_range(finding)


def _draw_front(finding: PublicFinding) -> None:
    answer = finding.answer
    of_shares = False
    if answer.judgement.is_sharing_worth:
        st.session_state.setdefault(SCALE, SHARE)
        of_shares = ask_of_shares(answer.metric.label, SCALE)
    caption = (
        f"The ring marks the answer. For {finding.question.whom}: medians over draws of split and"
        " noise, with 95% intervals for the answer's method."
    )
    numbers = {"ε": float, answer.metric.title: float, "draws": int}
    charts.show(
        front(answer, of_shares=of_shares),
        "choose.front",
        finding.headline,
        pd.DataFrame(answer.rows, columns=answer.columns).astype(numbers),
        leaves=True,
        caption=caption,
    )
    note_shipped(list(finding.runs.specs.values()))


def _draw_range(finding: PrivateFinding) -> None:
    """Draw what the method may bring at each epsilon, and what sharing may be worth."""
    table = pd.DataFrame(finding.rows, columns=finding.columns)
    caption = (
        f"For {finding.question.whom}: the band is from the least to the most over the worlds, and"
        " each thin line is one world. The dashed line marks the ε of the question."
    )
    fig = range_figure(finding.expected, finding.epsilon)
    if finding.steps_of_method:
        _draw_steps(fig, finding.known_steps)
        caption += (
            " Points are measured on your data, with 95% intervals of the added noise."
        )
    charts.show(
        fig, "choose.range", finding.headline, table, leaves=True, caption=caption
    )


def range_figure(expected: UnpaidRange, epsilon: float) -> go.Figure:
    """The gain of each world against epsilon, with the band between least and most."""
    epsilons = list(expected.epsilons)
    fig = _figure_by_epsilon(wording.range_label(expected), epsilons)
    colour = colours.of(expected.method)
    gains = [expected.gains(one) for one in epsilons]  # of every world
    lows = [min(at_epsilon) for at_epsilon in gains]
    highs = [max(at_epsilon) for at_epsilon in gains]
    charts.band(fig, epsilons, lows, highs, colour)
    for number, of_world in enumerate(zip(*gains, strict=True), 1):
        fig.add_scatter(
            x=epsilons,
            y=of_world,
            name=f"world {number}",
            mode="lines",
            line={"color": colour, "width": 1},
            showlegend=False,
            hovertemplate=f"world {number}<br>ε = %{{x:g}}: %{{y:.2f}}<extra></extra>",
        )
    fig.add_vline(x=epsilon, line={"color": colour, "width": 1.5, "dash": "dash"})
    return fig


def _draw_steps(fig: go.Figure, steps: Sequence[AnswerStep]) -> None:
    """Draw what measured trainings brought, with the intervals of their noise."""
    by_epsilon = sorted(steps, key=lambda step: step.epsilon)
    fig.add_scatter(
        x=[step.epsilon for step in by_epsilon],
        y=[step.fall.value for step in by_epsilon],
        error_y={
            "array": [step.fall.high - step.fall.value for step in by_epsilon],
            "arrayminus": [step.fall.value - step.fall.low for step in by_epsilon],
            "thickness": 2.5,
        },
        name="measured",
        mode="lines+markers",
        line={"color": colours.text(), "width": 2},
        marker={"size": 9},
        hovertemplate="measured<br>ε = %{x:g}: %{y:.3f}<extra></extra>",
    )
