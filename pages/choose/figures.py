"""The Choose page's figure: error against epsilon for every candidate, and what to use."""

import statistics
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.needed_epsilon import share_text
from dpmf_core.tuning.choosing.answer import Answer, Place, interval
from dpmf_core.tuning.choosing.question import Question
from pages.kit import charts, colours

Line = Sequence[tuple[float, float]]  # (epsilon, median) of a method


def front(answer: Answer) -> go.Figure:
    """Every candidate at every epsilon; the answer's method is thick, with its interval."""
    lines: dict[str, list[Place]] = {}
    for place in sorted(answer.places, key=lambda it: it.epsilon):
        lines.setdefault(place.method, []).append(place)
    medians = {name: [(it.epsilon, it.value) for it in its] for name, its in lines.items()}
    plain, guess = (statistics.median(it) for it in (answer.plain, answer.guesses))
    best = answer.best
    fig = _figure(answer.question, medians, best.method if best else "")
    if best:
        _band(fig, best.method, lines[best.method])
        ring = {"color": colours.of(best.method), "width": 3}
        fig.add_scatter(
            x=[best.epsilon],
            y=[best.value],
            mode="markers",
            marker={"color": "rgba(0,0,0,0)", "size": 22, "line": ring},
            hoverinfo="skip",
            showlegend=False,
        )
    _levels(fig, plain, guess, f"{algorithms.find(answer.reference).title}, no privacy")
    return fig


def _figure(question: Question, lines: Mapping[str, Line], thick: str = "") -> go.Figure:
    """A line a method. thick: the method whose line is."""
    lists = question.goal == "lists"
    axis = "liked items in a list of 20" if lists else "RMSE of predictions"
    ticks = {
        "tickvals": question.epsilons,
        "ticktext": [budget_text(it) for it in question.epsilons],
    }
    fig = charts.figure("ε, total (log scale)", axis, 400, xaxis={"type": "log", **ticks})
    for method, points in lines.items():
        title, is_thick = algorithms.find(method).title, method == thick
        fig.add_scatter(
            x=[epsilon for epsilon, _ in points],
            y=[value for _, value in points],
            name=title,
            mode="lines+markers",
            line={"color": colours.of(method), "width": 3.5 if is_thick else 1.2},
            marker={"symbol": colours.marker(method), "size": 8 if is_thick else 5},
            opacity=1.0 if is_thick or not thick else 0.65,
            hovertemplate=f"{title}<br>ε = %{{x:g}}: %{{y:.3f}}<extra></extra>",
        )
    return fig


def _levels(fig: go.Figure, plain: float | None, guess: float | None, name: str) -> None:
    ink = colours.ink()
    if plain is not None:
        charts.level(fig, plain, name, {"color": ink}, "left")
    if guess is not None:
        charts.level(fig, guess, "guessing", {"color": ink, "dash": "dash"}, "left")


def _band(fig: go.Figure, method: str, places: Sequence[Place]) -> None:
    """The 95% interval at each epsilon."""
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
    """A row for every candidate at every epsilon."""
    places = sorted(answer.places, key=lambda it: (it.epsilon, answer.metric.sign * it.value))
    return pd.DataFrame(
        {
            "ε": place.epsilon,
            "method": place.title,
            answer.metric.title: place.value,
            "95%, from": interval(place.values)[0],
            "to": interval(place.values)[1],
            "gain kept": "" if place.share is None else share_text(place.share),
            "gain kept on rare items": share_text(statistics.median(place.rare))
            if place.rare
            else "",
            "worst quarter loses": statistics.median(place.losses) if place.losses else None,
            "on the front": "yes" if place in answer.front else "",
        }
        for place in places
    )
