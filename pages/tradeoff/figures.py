"""The figures of the Trade-off page, each from what was asked and what has finished."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.papers.figures import Mark
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.sweep import Point
from pages.kit import (
    charts,
    colours,
    comparison_charts,
    privacy_card,
    safe_text,
    sweep_charts,
    sweep_frames,
)
from pages.kit.sweep_frames import Runs, method
from pages.tradeoff import findings, tables
from pages.tradeoff.controls import Question, measure_title


def _keep_choice(key: str) -> None:
    st.session_state[f"{key}.chosen"] = True


def _set_default(key: str, default: Any, options: Sequence[Any] | None = None) -> None:
    """A widget's value before it is drawn: the default, which moves while runs finish, until a
    person chooses; and again when the choice is gone.
    """
    if not st.session_state.get(f"{key}.chosen") or (
        options is not None and st.session_state.get(key) not in options
    ):
        st.session_state[key] = default
        st.session_state[f"{key}.chosen"] = False
    else:
        st.session_state[key] = st.session_state.get(key, default)


def _pick(label: str, options: Sequence[Any], key: str, default: Any, **more: Any) -> Any:
    _set_default(key, default, options)
    return st.selectbox(label, options, key=key, on_change=_keep_choice, args=(key,), **more)


def _epsilon(epsilon: float) -> str:
    return budget_text(epsilon)


def figure(question: Question, runs: Runs, metric: str, aside: DeltaGenerator) -> None:
    """The primary figure: against epsilon, a parameter, the number of users, or the step.
    aside: room for its choice of epsilon.
    """
    if question.axis == "step":
        table = tables.curve_rows(question.points, runs)
        fig = comparison_charts.steps(table, None)
        charts.show(fig, "tradeoff.steps", "Held-out RMSE by step.", table)
        return
    table = sweep_frames.frame(question.points, runs, metric)
    if table.empty:
        st.info(f"No finished run has {METRICS[metric].title} yet.")
        return
    if question.axis != "epsilon":
        table = _at_one_epsilon(table, aside)
    table = tables.best_of_second(table, question.axis, metric)
    title = (
        "privacy loss ε, total"
        if question.axis == "epsilon"
        else sweep_frames.parameter(question.axis, dict.fromkeys(table["id"]))
    )
    quantity = measure_title(metric)
    fig = sweep_charts.against(table, question.axis, quantity, title)
    marks = question.figure.marks if question.figure and metric == question.metric else ()
    sweep_charts.add_published(fig, marks)
    words = "; ".join(
        f"{name} {value:.3f}"
        for name, value in table.groupby("name", sort=False)["value"].median().items()
    )
    charts.show(
        fig,
        "tradeoff.main",
        f"{METRICS[metric].title} against {title}. Medians over the axis: {words}.",
        table,
        caption=_caption(question, table, marks),
    )


def _at_one_epsilon(table: pd.DataFrame, aside: DeltaGenerator) -> pd.DataFrame:
    """The rows of one epsilon, which is chosen, and those without any."""
    epsilons = sorted(table["epsilon"].dropna().unique())
    if len(epsilons) < 2:
        return table
    with aside:
        at = _pick(
            "At ε",
            epsilons,
            "tradeoff.at",
            tables.middle_epsilon(epsilons),
            format_func=lambda at: f"at ε = {budget_text(at)}",
            label_visibility="collapsed",
        )
    rows: pd.DataFrame = table[table["epsilon"].isna() | (table["epsilon"] == at)]
    return rows


def _caption(question: Question, table: pd.DataFrame, marks: Sequence[Mark]) -> str:
    """How to read the primary figure."""
    parts = [
        "A dot is one draw of split and noise, the line their median; bands reach from the"
        " lowest draw to the highest."
    ]
    if any(table["source"]):
        parts.append("Dotted: noise by the source's own rule, at its nominal ε.")
    parameters = [name for name in table.columns if name not in sweep_frames.PLACE]
    if question.axis != "epsilon" and len(parameters) > 1:
        parts.append("Of the grid's second parameter, each point has its best value.")
    if marks:
        parts.append(f"Published: {'; '.join(map(_mark_text, marks))}.")
    return " ".join(parts)


def _mark_text(mark: Mark) -> str:
    """A published number, and how the figure marks it."""
    name = method(mark.label)
    if mark.x is None:
        return f"{name} {mark.y:g}, a dotted level ({mark.source})"
    return f"{name} {mark.y:g} at {mark.x:g}, a cross ({mark.source})"


def rule(question: Question, runs: Runs, metric: str) -> None:
    """One method under exact accounting and under its source's rule."""
    if not (both := findings.both_rules(question.points)):
        return
    sentences = {label: findings.rule_alone(question.points, runs, metric, label) for label in both}
    if not any(sentences.values()):
        return
    st.header("What the source's rule for the noise alone costs", anchor=False)
    for sentence in filter(None, sentences.values()):
        st.markdown(f"- {sentence}")
    if question.axis != "epsilon":
        return
    label = both[0]
    if len(both) > 1:
        label = _pick("Method", both, "tradeoff.rule", both[0])
    own = algorithms.find(
        next(point.spec.algorithm for point in question.points if point.label == label)
    ).twin
    names = {label, f"{label}{sweep_frames.SOURCE_SUFFIX}"}
    points = [
        point
        for point in question.points
        if point.label in names or point.spec.algorithm in (own, "als")
    ]
    table = sweep_frames.frame(points, runs, metric)
    if table["epsilon"].notna().any():
        title = "privacy loss ε, nominal"
        fig = sweep_charts.against(table, "epsilon", measure_title(metric), title)
        charts.show(
            fig,
            "tradeoff.rules",
            f"{METRICS[metric].title} of {label} by exact accounting and by its source's rule.",
            table,
        )


def grid(question: Question, runs: Runs) -> None:
    """The best places of a grid in words; a heat map where it has two parameters."""
    table = sweep_frames.frame(question.points, runs, "validation_rmse")
    names = [name for name in table.columns if name not in sweep_frames.PLACE]
    if not names or table.empty:
        return
    st.header("The grid, on the validation split", anchor=False)
    for sentence in findings.best_places(
        tables.whole_frame(question.points, runs, "validation_rmse"), names
    ):
        st.markdown(f"- {sentence}")
    both = table.dropna(subset=names)
    if len(names) == 2 and len(both):
        left, right = st.columns(2)
        with left:
            method_name = _pick(
                "Method",
                list(dict.fromkeys(both["name"])),
                "tradeoff.heat.method",
                both["name"].iloc[0],
            )
        own = both[both["name"] == method_name]
        if epsilons := sorted(own["epsilon"].dropna().unique()):
            with right:
                at = _pick(
                    "ε",
                    epsilons,
                    "tradeoff.heat.epsilon",
                    tables.middle_epsilon(epsilons),
                    format_func=_epsilon,
                )
            own = own[own["epsilon"] == at]
        ids = [str(own["id"].iloc[0])]
        first, second = (sweep_frames.parameter(name, ids) for name in names)
        fig = _heat(own, names[0], names[1], "RMSE", (first, second))
        alt = f"Validation RMSE of {method_name} over {first} and {second}."
        charts.show(fig, "tradeoff.heat", alt, own)
    st.caption(
        "Choosing by such a grid costs privacy that no single run's ε counts: all its runs"
        " compose. On public or simulated data it is free."
    )


def _heat(points: pd.DataFrame, x: str, y: str, metric: str, titles: tuple[str, str]) -> go.Figure:
    """The median metric over two parameters; titles of x and y. Darker is a smaller value."""
    table = points.pivot_table(index=y, columns=x, values="value", aggfunc="median")
    fig = charts.figure(*titles, height=340)
    across, up = (
        [(f"{value:g}" if isinstance(value, float) else str(value)) for value in axis]
        for axis in (table.columns, table.index)
    )
    fig.add_heatmap(
        z=table.to_numpy(),
        x=across,
        y=up,
        colorscale="Cividis",
        texttemplate="%{z:.3f}",
        colorbar={"title": {"text": metric}},
        hovertemplate=f"{titles[0]} %{{x}}, {titles[1]} %{{y}}: %{{z:.3f}}<extra></extra>",
    )
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig


def reaching(question: Question, runs: Runs, metric: str) -> None:
    """Which epsilon is needed for a value, in a sentence and a table."""
    table = sweep_frames.frame(question.points, runs, metric)
    private = table[table["epsilon"].notna()]["value"]
    if private.empty:
        return
    kind = METRICS[metric].title
    st.header(f"Which ε reaches a given {kind}?", anchor=False)
    key = f"tradeoff.reach.{metric}"
    _set_default(key, round(float(private.median()), 3))
    value = st.number_input(
        f"{kind} to reach",
        format="%.3f",
        step=0.005,
        key=key,
        on_change=_keep_choice,
        args=(key,),
    )
    if value is None:
        st.info("Give a number to reach.")
        return
    value = round(value, METRICS[metric].digits)  # what the box shows
    epsilon_table = tables.which_epsilon(question.points, runs, metric, value)
    if epsilon_table.empty:
        st.caption("Said of each method when all its runs have finished.")
        return
    st.markdown(findings.needed_epsilons(epsilon_table, metric, value))
    texts = [
        "not within the measured range"
        if at != at or at is None
        else f"ε = {findings.epsilon_or_less(at, low)}"
        for at, low in zip(epsilon_table["epsilon"], epsilon_table["low"], strict=True)
    ]
    columns = {
        "method": epsilon_table["method"],
        f"reaches {value:.3f} at": texts,
        "its best": epsilon_table["its best"],
    }
    safe_text.words_table(pd.DataFrame(columns))
    st.caption(
        "Between measured ε the medians are joined along log ε; nothing is said beyond them. Of"
        " a grid, its best place at each ε counts."
    )


# by what users and items are parted: the axis, and the figure for who does not see it
QUARTERS = {
    "activity": (
        "ratings of the user, quarters",
        "RMSE by activity at epsilon {epsilon}.",
    ),
    "popularity": (
        "ratings of the item, quarters",
        "RMSE by popularity at epsilon {epsilon}.",
    ),
}


def payers(question: Question, runs: Runs) -> None:
    """RMSE by how much a user rates and by how often an item is rated, private against
    non-private.
    """
    points = tables.best_points(
        tables.complete_points(question.points, runs), runs, question.metric
    )
    private = {
        point.label: point.spec.algorithm
        for point in points
        if point.epsilon is not None and point.key in runs
    }
    if not private:
        return
    st.header("Who pays for privacy?", anchor=False)
    left, right = st.columns(2)
    with left:
        label = _pick(
            "Private method",
            list(private),
            "tradeoff.payers.method",
            next(iter(private)),
            format_func=method,
        )
    epsilons = sorted(
        {point.epsilon for point in points if point.label == label and point.epsilon is not None}
    )
    with right:
        epsilon = _pick(
            "At ε",
            epsilons,
            "tradeoff.payers.epsilon",
            tables.middle_epsilon(epsilons),
            format_func=_epsilon,
        )
    twin, trivial = _references(points, runs, private[label])
    table = tables.bucket_rows(points, runs, epsilon, [it for it in (label, twin, *trivial) if it])
    st.markdown(findings.who_pays(table, method(label), method(twin), epsilon))
    for column, (by, (title, alt)) in zip(st.columns(2), QUARTERS.items(), strict=True):
        with column:
            part = table[table["by"] == by]
            charts.show(
                charts.groups(part, title),
                f"tradeoff.{by}",
                alt.format(epsilon=budget_text(epsilon)),
                part,
            )


def _references(points: Sequence[Point], runs: Runs, algorithm: str) -> tuple[str, list[str]]:
    """Labels of what a private method is held against, of the runs that have finished: its twin
    without privacy, else ALS, else ''; and the trivial predictors.
    """
    open_ = {
        point.spec.algorithm: point.label
        for point in points
        if point.epsilon is None and point.key in runs
    }
    twin = open_.get(algorithms.find(algorithm).twin) or open_.get("als", "")
    return twin, [label for name, label in open_.items() if colours.is_trivial(name)]


def promises(points: Sequence[Point], runs: Runs) -> None:
    """Status, unit, true epsilon and time of every method; what each status rests on."""
    st.header("What each method promises, and how long it takes", anchor=False)
    table = tables.methods_table(points, runs)
    safe_text.words_table(table)
    for words, status in tables.promise_words(points, runs).items():
        st.markdown(f"{privacy_card.badge(status)} {words}")
