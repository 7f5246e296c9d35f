"""Who sees what: choose an observer, and the diagram shows what that observer sees."""

import textwrap
from itertools import pairwise

import pandas as pd
import streamlit as st

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
LETTERS = 16  # in a row of the diagram's words
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
        list(observers),
        default=next(iter(observers)),
        key=f"{key}.{design.id}",
        format_func=lambda name: observers[name].name,
        required=True,
    )
    observer = observers[observer_id]
    seen_labels = "; ".join(design.thing_labels(observer, is_seen=True)) or "nothing"
    other_labels = "; ".join(design.thing_labels(observer, is_seen=False)) or "nothing"
    alt = f"Diagram. {observer.name} sees: {seen_labels}. Not seen: {other_labels}."
    st.graphviz_chart(dot(design, observer), alt=alt)
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
    is_dark = colours.is_dark()
    box = "#f4f5f7"
    line = "#6b7280"
    ink = "#1d2330"
    if is_dark:
        box = "#1c222c"
        line = "#8b93a1"
        ink = "#e6e9ef"
    lines = [
        'digraph { rankdir=TB; bgcolor="transparent"; nodesep=0.2; ranksep=0.3',
        f'node [shape=box, fontname="sans-serif", fontsize=12, fillcolor="{box}", color="{line}",'
        f' fontcolor="{ink}", margin="0.1,0.05"]',
        f'edge [color="{line}", fontcolor="{ink}", fontname="sans-serif", fontsize=12]',
    ]
    for thing in design.things:
        look = 'style="rounded,dashed"'
        if thing.id in observer.sees:
            fill = WITH_NOISE if thing.has_noise else WITHOUT_NOISE
            # black on orange and white on blue, at least 4.5 to 1
            text = "white" if thing.has_noise else "black"
            look = f'style="rounded,filled", fillcolor="{fill}", fontcolor="{text}"'
        lines.append(f"{thing.id} [label={_quoted(thing.label)}, {look}]")
    for one in design.observers:
        if one == observer:
            look = 'style="filled", penwidth=3'
        else:
            look = 'style="filled"'
        lines.append(f"{one.id} [label={_quoted(one.name)}, shape=oval, {look}]")
    for flow in design.flows:
        style = "dashed" if flow.dashed else "solid"
        words = _quoted(flow.words)
        lines.append(f"{flow.start} -> {flow.end} [label={words}, style={style}]")
    between = {frozenset((flow.start, flow.end)) for flow in design.flows}
    for one in design.observers:
        # the same layout for every observer
        style = "bold" if one == observer else "invis"
        for name in one.sees:
            if frozenset((name, one.id)) not in between:
                lines.append(f"{name} -> {one.id} [style={style}, arrowhead=open]")
    # those who only look stand below each other, so that a phone shows the words large enough
    aside = [one.id for one in design.observers if not _takes_part(design, one)]
    lines += [f"{one} -> {other} [style=invis]" for one, other in pairwise(aside[1:])]
    return "\n".join([*lines, "}"])


def _takes_part(design: Design, observer: Observer) -> bool:
    return any(observer.id in (flow.start, flow.end) for flow in design.flows)


def _quoted(label: str) -> str:
    rows = textwrap.wrap(label, LETTERS, break_long_words=False)
    escaped = "\\n".join(rows).replace('"', '\\"')
    return f'"{escaped}"'
