"""The Choose page's figure: error against epsilon for every candidate, and what to use."""

import math
import statistics
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from dpmf_core import algorithms
from dpmf_core.choosing.answer import Answer, Place, SoFar, interval
from dpmf_core.choosing.question import Question
from dpmf_core.privacy.formatting import budget_text
from pages.kit import charts, colours

HEIGHT = 400


def front(answer: Answer) -> go.Figure:
    """Every candidate at every epsilon; the answer's method is thick, with its interval."""
    fig = _empty(answer.question)
    best_method = answer.best.method if answer.best else ""
    for method, places in by_method(answer).items():
        if method == best_method:
            _band(fig, method, places)
        _line(
            fig, method, [(place.epsilon, place.value) for place in places], method == best_method
        )
    if answer.best:
        _mark(fig, answer.best)
    plain, guess = (statistics.median(it) for it in (answer.plain, answer.guesses))
    _levels(fig, plain, guess, f"{algorithms.find(answer.reference).title}, no privacy")
    return fig


def partial_front(so_far: SoFar) -> go.Figure:
    """What has finished of a question that is still being answered: nothing is marked in it."""
    fig = _empty(so_far.question)
    lines = {method: points for method, points in so_far.lines.items() if points}
    for method, points in lines.items():
        _line(fig, method, points, thick=False)
    _levels(fig, so_far.plain, so_far.guess, "no privacy")
    first, last = (math.log10(so_far.question.epsilons[at]) for at in (0, -1))
    fig.update_xaxes(range=[first - 0.1, last + 0.1])
    return fig


def _empty(question: Question) -> go.Figure:
    lists = question.goal == "lists"
    axis = "liked items found by a list of 20" if lists else "predictions off by (RMSE)"
    fig = charts.figure("ε, total (log scale)", axis, height=HEIGHT)
    fig.update_xaxes(
        type="log",
        tickvals=question.epsilons,
        ticktext=[budget_text(it) for it in question.epsilons],
    )
    return fig


def _levels(fig: go.Figure, plain: float | None, guess: float | None, name: str) -> None:
    ink = colours.ink()
    if plain is not None:
        charts.level(fig, plain, name, {"color": ink}, "left")
    if guess is not None:
        charts.level(fig, guess, "guessing", {"color": ink, "dash": "dash"}, "left")


def by_method(answer: Answer) -> Mapping[str, list[Place]]:
    """The places of each candidate, by ascending epsilon."""
    lines: dict[str, list[Place]] = {}
    for place in sorted(answer.places, key=lambda it: it.epsilon):
        lines.setdefault(place.method, []).append(place)
    return lines


def _line(fig: go.Figure, method: str, points: Sequence[tuple[float, float]], thick: bool) -> None:
    """points: (epsilon, median)."""
    title = algorithms.find(method).title
    fig.add_scatter(
        x=[epsilon for epsilon, _ in points],
        y=[value for _, value in points],
        name=title,
        mode="lines+markers",
        line={"color": colours.of(method), "width": 3.5 if thick else 1.2},
        marker={"symbol": colours.marker(method), "size": 8 if thick else 5},
        opacity=1.0 if thick else 0.65,
        hovertemplate=f"{title}<br>ε = %{{x:g}}: %{{y:.3f}}<extra></extra>",
    )


def _band(fig: go.Figure, method: str, places: list[Place]) -> None:
    ends = [interval(place.values) for place in places]
    x = [place.epsilon for place in places]
    fig.add_scatter(
        x=[*x, *reversed(x)],
        y=[*(high for _, high in ends), *(low for low, _ in reversed(ends))],
        fill="toself",
        mode="none",
        fillcolor=colours.of(method),
        opacity=0.15,
        hoverinfo="skip",
        showlegend=False,
    )


def _mark(fig: go.Figure, best: Place) -> None:
    fig.add_scatter(
        x=[best.epsilon],
        y=[best.value],
        mode="markers",
        marker={
            "color": "rgba(0,0,0,0)",
            "size": 22,
            "line": {"color": colours.of(best.method), "width": 3},
        },
        hoverinfo="skip",
        showlegend=False,
    )


def table(answer: Answer) -> pd.DataFrame:
    """A row for every candidate at every epsilon."""
    rows = []
    for place in sorted(answer.places, key=lambda it: (it.epsilon, answer.metric.sign * it.value)):
        low, high = interval(place.values)
        rows.append(
            {
                "ε": place.epsilon,
                "method": place.title,
                answer.metric.title: place.value,
                "95%, from": low,
                "to": high,
                "gain kept": None if place.share is None else f"{place.share:.0%}",
                "of rare items": _percent(place.rare),
                "worst quarter loses": _median(place.losses),
                "on the front": "yes" if place in answer.front else "",
            }
        )
    return pd.DataFrame(rows)


def _percent(draws: tuple[float, ...] | None) -> str:
    return "" if draws is None else f"{statistics.median(draws):.0%}"


def _median(draws: tuple[float, ...] | None) -> float | None:
    return None if draws is None else statistics.median(draws)
