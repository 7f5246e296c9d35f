"""The figure of Choose: error against epsilon for every candidate."""

import statistics
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.needed_epsilon import share_text
from dpmf_core.runs.privacy_cost import Reference
from dpmf_core.tuning.choosing.answer import Answer, Place, interval
from pages.kit import charts, colours


def front(answer: Answer) -> go.Figure:
    """Return every candidate at every epsilon; the answer's line is thick, with its interval."""
    lines: dict[str, list[Place]] = {}
    for place in sorted(answer.places, key=lambda it: it.epsilon):
        lines.setdefault(place.method, []).append(place)
    best, question = answer.best, answer.question
    axis = "liked items in a list of 20" if question.goal == "lists" else "RMSE of predictions"
    ticks = [budget_text(it) for it in question.epsilons]
    x_axis = {"type": "log", "tickvals": question.epsilons, "ticktext": ticks}
    fig = charts.figure("ε, total (log scale)", axis, 400, xaxis=x_axis)
    for method, places in lines.items():
        title, is_thick = algorithms.find(method).title, best is not None and method == best.method
        fig.add_scatter(
            x=[it.epsilon for it in places],
            y=[it.value for it in places],
            name=title,
            mode="lines+markers",
            line={"color": colours.of(method), "width": 3.5 if is_thick else 1.2},
            marker={"symbol": colours.marker(method), "size": 8 if is_thick else 5},
            hovertemplate=f"{title}<br>ε = %{{x:g}}: %{{y:.3f}}<extra></extra>",
        )
    if best:
        _band(fig, best.method, lines[best.method])
        ring = {"color": colours.of(best.method), "width": 3}
        marker = {"color": "rgba(0,0,0,0)", "size": 22, "line": ring}
        quiet = {"mode": "markers", "hoverinfo": "skip", "showlegend": False}
        fig.add_scatter(x=[best.epsilon], y=[best.value], marker=marker, **quiet)
    for line in answer.lines(best or answer.places[0]):
        if best or line.reference is not Reference.WITHOUT_NOISE:
            charts.reference_line(fig, line, colours.of(best.method) if best else "")
    return fig


def _band(fig: go.Figure, method: str, places: Sequence[Place]) -> None:
    """Draw the 95% interval at each epsilon."""
    lows, highs = zip(*(interval(place.values) for place in places), strict=True)
    x = [place.epsilon for place in places]
    fig.add_scatter(
        x=[*x, *reversed(x)],
        y=[*highs, *reversed(lows)],
        fill="toself",
        mode="none",
        fillcolor=colours.of(method),
        opacity=0.15,
        hoverinfo="skip",
        showlegend=False,
    )


def table(answer: Answer) -> pd.DataFrame:
    """Return a row for every candidate at every epsilon."""
    places = sorted(answer.places, key=lambda it: (it.epsilon, answer.metric.sign * it.value))
    return pd.DataFrame(
        {
            "ε": place.epsilon,
            "method": place.title,
            answer.metric.title: place.value,
            "95%, from": interval(place.values)[0],
            "to": interval(place.values)[1],
            "gain kept": "" if place.share is None else share_text(place.share),
            "kept on rare items": share_text(statistics.median(place.rare)) if place.rare else "",
            "worst quarter loses": statistics.median(place.losses) if place.losses else None,
            "on the front": "yes" if place in answer.front else "",
        }
        for place in places
    )
