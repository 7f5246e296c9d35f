"""A paper's methods to try: presets with its published settings and protocol, and what shows how
the method works.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpmf_core.papers.figures import Preset
from dpmf_core.papers.paper import Paper
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, links
from pages.papers import address, figures, retention, sketch

OWN: dict[str, Callable[[], None]] = {"balu-2016": sketch.draw, "vallet-2014": retention.draw}
PAGES = {"ratings": "explore", "documents": "topics", "images": "faces"}
OPENED = "papers.preset.measured"  # in the session: the presets that were run


def of(paper: Paper) -> list[object]:
    """What the section holds; empty where there is no section."""
    return [*paper.presets, *([paper.id] if paper.id in OWN else [])]


def draw(paper: Paper) -> None:
    if paper.presets:
        titles = {it.id: it.title for it in paper.presets}
        name = address.select("preset", "As in the paper", titles)
        preset(next(it for it in paper.presets if it.id == name))
    if paper.id in OWN:
        OWN[paper.id]()


def preset(it: Preset) -> None:
    """One method with its published settings, and the button that runs them."""
    st.write(it.words)
    st.markdown(f"**Published settings.** {it.settings}")
    with st.container(horizontal=True):
        is_asked = st.button("Run it as in the paper", type="primary", key=f"papers.run.{it.id}")
        run = it.run if it.run is not None and it.run.budget is not None else None
        if run is not None and st.button("Open it with these settings", key="papers.open"):
            open_run(run)
    asked_ids = st.session_state.setdefault(OPENED, set())
    if is_asked:
        asked_ids.add(it.id)
    if it.id in asked_ids:
        figures.measure("papers.preset.runs", it, by_button=True)


def open_run(run: RunSpec) -> None:
    """Leave for the page that draws one such run, with its settings."""
    kind = data_sets.kind_of(data_sets.find(run.data.id))
    settings: dict[str, Any] = {
        "dataset": run.data.id,
        "top_items": run.data.top_items,
        "algorithm": run.algorithm,
        "seed": run.seed,
    }
    if run.budget is not None:
        settings |= run.budget.model_dump(include={"epsilon", "delta", "calibration"})
    for name in settings:  # the page starts from its address where the session has no value
        st.session_state.pop(data_sets.session_key(name, kind), None)
    for name in run.parameters:
        st.session_state.pop(f"{PAGES[kind]}.{run.algorithm}.{name}", None)
    settings |= {f"p.{name}": value for name, value in run.parameters.items()}
    links.go(PAGES[kind], {name: str(it) for name, it in settings.items() if it is not None})
