"""Who sees what: choose an observer, and the diagram shows what that observer sees."""

from itertools import pairwise

import pandas as pd
import streamlit as st

from dpmf_core.base.documents import render
from dpmf_core.teaching.glossary import linked
from dpmf_core.teaching.observers import DESIGNS, Design, Observer
from pages.kit.base import drawing, safe_text
from pages.kit.figures import colours

USERS = "users"
SKETCH = "sketch"
RETENTION = "retention"
# by algorithm: its design, if people's ratings do not reach a curator who adds noise to a sum
OF_ALGORITHM = {
    "input-perturbation": "ratings",
    "dpnmf-laplace": "ratings",
    "local-bias": "local",
}
IN_LESSON = ("exact", USERS, "local")
WITH_NOISE = "#0072B2"
WITHOUT_NOISE = "#E69F00"


def design_of(algorithm: str) -> str:
    """The design of a private algorithm on ratings."""
    return OF_ALGORITHM.get(algorithm, USERS)


def draw_folded(name: str) -> None:
    """Draw the diagram of a design, folded."""
    with st.expander("Who sees what"):
        drawing.repeat(lambda: _draw(f"observers.{name}", DESIGNS[name]), None)


def draw_lesson() -> None:
    """Draw the diagrams of several designs, and what all observers of the chosen one see."""
    name = st.segmented_control(
        "Design",
        IN_LESSON,
        default=USERS,
        key="observers.design",
        format_func=lambda one: DESIGNS[one].title,
        required=True,
    )
    design = DESIGNS[name]
    _draw("observers.lesson", design)
    safe_text.words_table(table(design))


def table(design: Design) -> pd.DataFrame:
    """What each observer sees without and with noise, and what they learn about you."""
    rows = [(one.name, one.exact, one.noisy, one.learns) for one in design.observers]
    columns = ["who looks", "sees without noise", "sees with noise", "learns about you"]
    return pd.DataFrame(rows, columns=columns)


def _draw(key: str, design: Design) -> None:
    """Draw the choice of an observer, the diagram, and what this observer sees in words."""
    observers = {one.id: one for one in design.observers}
    observer_id = st.segmented_control(
        "Who looks",
        observers,
        default=next(iter(observers)),
        key=f"{key}.{design.id}",
        format_func=lambda name: observers[name].name,
        required=True,
    )
    observer = observers[observer_id]
    seen_labels = "; ".join(design.thing_labels(observer, is_seen=True)) or "nothing"
    other_labels = "; ".join(design.thing_labels(observer, is_seen=False)) or "nothing"
    st.graphviz_chart(
        dot(design, observer),
        alt=f"Diagram. {observer.name} sees: {seen_labels}. Not seen: {other_labels}.",
    )
    st.caption(
        "Orange: seen without noise. Blue: seen with noise. Dashed: not seen. Ovals: who looks."
    )
    st.markdown(
        f"**{observer.name}.** Without noise: {observer.exact}. With noise: {observer.noisy}."
        f" Learns about you: {observer.learns[0].lower()}{observer.learns[1:]}"
    )
    st.markdown(f":small[{linked(design.words)}]")


def dot(design: Design, observer: Observer) -> str:
    """The diagram in the language of Graphviz, with what one observer sees in colour."""
    between = [{flow.start, flow.end} for flow in design.flows]
    looks = [
        (one, thing)
        for one in design.observers
        for thing in one.sees
        if {one.id, thing} not in between
    ]
    taking_part = set().union(*between)
    aside = [one.id for one in design.observers if one.id not in taking_part]
    return render(
        "who_sees_what.dot",
        design=design,
        observer=observer,
        looks=looks,
        aside=list(pairwise(aside[1:])),
        with_noise=WITH_NOISE,
        without_noise=WITHOUT_NOISE,
        is_dark=colours.is_dark(),
    )
