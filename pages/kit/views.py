"""The figures of the Trade-off page, each from what was asked and what has finished."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.experiment import DataSpec, open_ratings
from dpmf_core.figures import Mark
from dpmf_core.skew import shares
from dpmf_core.sweeps import Point
from pages.kit import charts, findings, said, swept
from pages.kit.asked import Asked
from pages.kit.guarantee import loss
from pages.kit.sidebar import Choice
from pages.kit.swept import METRICS, Finished

BADGES = {"PROVEN": "green", "CONDITIONAL": "orange", "UNPROVEN": "red", "NONE": "gray"}


def _chosen(key: str) -> None:
    st.session_state[f"{key}.chosen"] = True


def _held(key: str, default: Any, options: Sequence[Any] | None = None) -> None:
    """A widget's value before it is drawn: the default, which moves while runs finish, until a person chooses; and again when the choice is gone."""
    if not st.session_state.get(f"{key}.chosen") or (options is not None and st.session_state.get(key) not in options):
        st.session_state[key] = default
        st.session_state[f"{key}.chosen"] = False
    else:
        st.session_state[key] = st.session_state.get(key, default)


def _pick(label: str, options: Sequence[Any], key: str, default: Any, **more: Any) -> Any:
    _held(key, default, options)
    return st.selectbox(label, options, key=key, on_change=_chosen, args=(key,), **more)


def _at(epsilon: float) -> str:
    return loss(epsilon)


def figure(question: Asked, finished: Finished, metric: str, aside: DeltaGenerator) -> None:
    """The primary figure: against epsilon, a parameter, the number of users, or the step. aside: room for its choice of epsilon."""
    if question.axis == "step":
        table = swept.curve_rows(question.points, finished)
        charts.show(charts.steps(table, None), "tradeoff.steps", "Held-out RMSE by step.", table)
        return
    table = swept.frame(question.points, finished, metric)
    if table.empty:
        st.info(f"No finished run has {METRICS[metric]} yet.")
        return
    epsilons = sorted(table["epsilon"].dropna().unique())
    if question.axis != "epsilon" and len(epsilons) > 1:
        with aside:
            at = _pick("At ε", epsilons, "tradeoff.at", swept.middle(epsilons), format_func=lambda at: f"at ε = {loss(at)}", label_visibility="collapsed")
        table = table[table["epsilon"].isna() | (table["epsilon"] == at)]
    table = swept.best_of_second(table, question.axis, metric)
    title = "privacy loss ε, total" if question.axis == "epsilon" else swept.parameter(question.axis, dict.fromkeys(table["id"]))
    fig = charts.against(table, question.axis, METRICS[metric], title)
    marks = question.preset.marks if question.preset and metric == question.metric else ()
    charts.published(fig, marks)
    words = "; ".join(f"{name} {value:.3f}" for name, value in table.groupby("name", sort=False)["value"].median().items())
    charts.show(fig, "tradeoff.main", f"{METRICS[metric]} against {title}. Medians over the axis: {words}.", table)
    told = "A dot is one draw of split and noise, the line their median; bands reach from the lowest draw to the highest."
    if any(table["source"]):
        told += " Dotted: noise by the source's own rule, at its nominal ε."
    if question.axis != "epsilon" and len([name for name in table.columns if name not in swept.PLACE]) > 1:
        told += " Of the grid's second parameter, each point has its best value."
    if marks:
        told += " Published: " + "; ".join(f"{mark.label} {mark.y:g}{_where(mark)} ({mark.source})" for mark in marks) + "."
    st.caption(told)


def _where(mark: Mark) -> str:
    return ", a dotted level" if mark.x is None else f" at {mark.x:g}, a cross"


def rule(question: Asked, finished: Finished, metric: str) -> None:
    """One method under exact accounting and under its source's rule."""
    if not (both := findings.both_rules(question.points)):
        return
    sentences = {label: findings.rule_alone(question.points, finished, metric, label) for label in both}
    if not any(sentences.values()):
        return
    st.header("What the accounting rule alone costs", anchor=False)
    for sentence in filter(None, sentences.values()):
        st.markdown(f"- {sentence}")
    if question.axis != "epsilon":
        return
    label = _pick("Method", both, "tradeoff.rule", both[0]) if len(both) > 1 else both[0]
    own = algorithms.find(next(point.spec.algorithm for point in question.points if point.label == label)).twin
    names = {label, f"{label}{swept.SOURCED}"}
    chosen = [point for point in question.points if point.label in names or point.spec.algorithm in (own, "als")]
    table = swept.frame(chosen, finished, metric)
    if table["epsilon"].notna().any():
        fig = charts.against(table, "epsilon", METRICS[metric], "privacy loss ε, nominal")
        charts.show(fig, "tradeoff.rules", f"{METRICS[metric]} of {label} with exact accounting and with its source's noise.", table)


def grid(question: Asked, finished: Finished) -> None:
    """The best places of a grid in words; a heat map where it has two parameters."""
    table = swept.frame(question.points, finished, "validation_rmse")
    names = [name for name in table.columns if name not in swept.PLACE]
    if not names or table.empty:
        return
    st.header("The grid, on the validation split", anchor=False)
    for sentence in findings.best_places(swept.whole_frame(question.points, finished, "validation_rmse"), names):
        st.markdown(f"- {sentence}")
    both = table.dropna(subset=names)
    if len(names) == 2 and len(both):
        left, right = st.columns(2)
        with left:
            method = _pick("Method", list(dict.fromkeys(both["name"])), "tradeoff.heat.method", both["name"].iloc[0])
        own = both[both["name"] == method]
        if epsilons := sorted(own["epsilon"].dropna().unique()):
            with right:
                at = _pick("ε", epsilons, "tradeoff.heat.epsilon", swept.middle(epsilons), format_func=_at)
            own = own[own["epsilon"] == at]
        first, second = (swept.parameter(name, [str(own["id"].iloc[0])]) for name in names)
        fig = charts.heat(own, names[0], names[1], "RMSE", (first, second))
        charts.show(fig, "tradeoff.heat", f"Validation RMSE of {method} over {first} and {second}.", own)
    st.caption("Choosing by such a grid costs privacy that no single run's ε counts: all its runs compose. On public or simulated data it is free.")


def reaching(question: Asked, finished: Finished, metric: str) -> None:
    """Which epsilon is needed for a value, in a sentence and a table."""
    table = swept.frame(question.points, finished, metric)
    private = table[table["epsilon"].notna()]["value"]
    if private.empty:
        return
    st.header(f"Which ε reaches a given {METRICS[metric]}?", anchor=False)
    key = f"tradeoff.reach.{metric}"
    _held(key, round(float(private.median()), 3))
    value = st.number_input(f"{METRICS[metric]} to reach", format="%.3f", step=0.005, key=key, on_change=_chosen, args=(key,))
    if value is None:
        st.info("Give a number to reach.")
        return
    value = round(value, swept.DIGITS)  # what the box shows
    found = swept.which_epsilon(question.points, finished, metric, value)
    if found.empty:
        st.caption("Said of each method when all its runs have finished.")
        return
    st.markdown(findings.reached(found, metric, value))
    reaches = f"reaches {value:.3f} at"
    texts = [
        "not within the measured range" if at != at or at is None else f"ε = {findings.up_to(at, low)}"
        for at, low in zip(found["epsilon"], found["low"], strict=True)
    ]
    said.table(pd.DataFrame({"method": found["method"], reaches: texts, "its best": found["its best"]}))
    st.caption("Between measured ε the medians are joined along log ε; nothing is said beyond them. Of a grid, its best place at each ε counts.")


def payers(question: Asked, finished: Finished) -> None:
    """RMSE by how much a user rates and by how often an item is rated, private against non-private."""
    points = swept.at_best(swept.complete(question.points, finished), finished, question.metric)
    private = {point.label: point.spec.algorithm for point in points if point.epsilon is not None and point.key in finished}
    if not private:
        return
    st.header("Who pays for privacy?", anchor=False)
    left, right = st.columns(2)
    with left:
        label = _pick("Private method", list(private), "tradeoff.payers.method", next(iter(private)))
    epsilons = sorted({point.epsilon for point in points if point.label == label and point.epsilon is not None})
    with right:
        epsilon = _pick("At ε", epsilons, "tradeoff.payers.epsilon", swept.middle(epsilons), format_func=_at)
    open_ = {point.spec.algorithm: point.label for point in points if point.epsilon is None and point.key in finished}
    twin = open_.get(algorithms.find(private[label]).twin) or open_.get("als", "")
    labels = [name for name in (label, twin, *(open_.get(name, "") for name in swept.TRIVIAL)) if name]
    table = swept.bucket_rows(points, finished, epsilon, labels)
    st.markdown(findings.who_pays(table, label, twin, epsilon))
    sides = (("activity", "ratings of the user, quarters"), ("popularity", "ratings of the item, quarters"))
    for column, (by, title) in zip(st.columns(2), sides, strict=True):
        with column:
            part = table[table["by"] == by]
            charts.show(charts.groups(part, title), f"tradeoff.{by}", f"RMSE by {by} at epsilon {loss(epsilon)}.", part)


def promises(points: Sequence[Point], finished: Finished) -> None:
    """Status, unit, true epsilon and time of every method; what each status rests on."""
    st.header("What each method promises, and how long it takes", anchor=False)
    seconds = st.column_config.NumberColumn(format="%.2f")
    said.table(swept.methods_table(points, finished), column_config={"seconds to train": seconds})
    for words, status in swept.promises(points, finished).items():
        st.markdown(f":{BADGES[status]}-badge[{status}] {words}")


def bunching(choice: Choice) -> None:
    """Chien et al. 2021, Fig. 2: a figure of the data alone."""
    ratings = open_ratings(DataSpec(id=choice.data, top_items=choice.kept_items))
    table = pd.DataFrame([vars(share) for share in shares(ratings)])
    at = {str(name): float(line["observations"].iloc[int(line["items"].sub(0.2).abs().argmin())]) for name, line in table.groupby("kept", sort=False)}
    st.title(f"A fifth of the items holds {at['all ratings']:.0%} of the ratings", anchor=False)
    rest = "; ".join(f"{share:.0%} where each user gives {name.replace(' a user,', ',')}" for name, share in list(at.items())[1:])
    st.write(f"On {choice.entry.title}: {rest}. Published for MovieLens 10M: over 85% (Chien et al. 2021, Fig. 2). Computed on raw data, not released.")
    charts.show(charts.shares(table), "tradeoff.shares", "Share of observations against share of top items.", table)
