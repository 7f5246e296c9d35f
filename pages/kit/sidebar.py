"""The sidebar that pages about ratings, documents or images share."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import streamlit as st

from pages.kit import (
    data_sets,
    lesson,
    odometer,
    safe_text,
    sidebar_epsilon,
    sidebar_values,
    sidebar_widgets,
)
from pages.kit.choice import Choice, SampleChoice
from pages.kit.page_table import DataKind
from pages.kit.sidebar_values import COMPLAINTS, value


def draw(kind: DataKind = "ratings", unused: Collection[str] = (), note: str = "") -> None:
    """The sidebar of a page about one kind of data; afterwards `choice()` or `sample_choice()`
    says what is chosen.

    unused: controls that play no part on the page, by their names in a link. note: shown in
    place of all controls, where the page has settings of its own.
    """
    st.session_state[data_sets.KIND] = kind
    sidebar_values.prepare()
    if note:
        st.sidebar.info(note)
    else:
        with st.sidebar:
            _draw_widgets(unused)
    _show_complaints()
    sidebar_values.write_to_address()


def _draw_widgets(unused: Collection[str]) -> None:
    _draw_widget("data", sidebar_widgets.data_set, unused)
    entry = sidebar_values.chosen_entry()
    sidebar_widgets.describe_data(entry)
    units = data_sets.privacy_units(entry)
    if not entry.public:
        odometer.panel(entry.id, "sidebar", units)
    _draw_widget("algo", sidebar_widgets.algorithm, unused)
    _draw_widget("eps", partial(sidebar_epsilon.draw, unused=unused), unused)
    if "delta" not in unused and value("delta") >= 1 / units:
        st.warning(
            f"δ of 1/n ({1 / units:.0e}) or more would allow publishing one person's whole row."
        )
    if not entry.public:
        _draw_widget("noise_kind", sidebar_widgets.noise_kind, unused)
    with st.expander("More"):
        _draw_rest(entry, unused)


def _draw_rest(entry: Any, unused: Collection[str]) -> None:
    """What a first look does without."""
    _draw_widget("delta", sidebar_widgets.delta, unused)
    _draw_widget("seed", sidebar_widgets.seed, unused)
    _draw_widget("top", partial(sidebar_widgets.columns_kept, entry), unused)
    if getattr(entry, "item_features", ""):
        _draw_widget("features", sidebar_widgets.features, unused)
    _draw_widget("rule", sidebar_widgets.rule, unused)
    if entry.public:
        _draw_widget("noise_kind", sidebar_widgets.noise_kind, unused)
    if not entry.public or value("top") or value("shape") != "given":
        _draw_widget("shape", sidebar_widgets.shape, unused)


def _draw_widget(name: str, widget: Callable[[bool], None], unused: Collection[str]) -> None:
    """A widget, unless a lesson hides it or the page has no use for it; locked where the lesson
    fixes it.
    """
    if name not in unused and not lesson.is_hidden(name):
        widget(lesson.fixed_value(name) is not None)


def _show_complaints() -> None:
    """What was wrong with the address, until something else is chosen."""
    state, now = st.session_state, _current_choice()
    if state[COMPLAINTS] and state.setdefault("sidebar.complained", now) != now:
        state[COMPLAINTS], state["sidebar.complained"] = [], now
    for complaint in dict.fromkeys(state[COMPLAINTS]):
        st.warning(safe_text.escape(complaint))


def choice() -> Choice:
    """What the sidebar of a page about ratings says now."""
    return Choice(
        data=value("data"),
        top_items=value("top"),
        algorithm=value("algo"),
        epsilon=float(value("eps")),
        delta=float(value("delta")),
        seed=int(value("seed")),
        calibration=value("rule") or "exact",
        noise=value("noise_kind") or "continuous",
        shape_is=value("shape") or "given",
        features=value("features") or "none",
    )


def sample_choice() -> SampleChoice:
    """What the sidebar of a page about documents or images says now."""
    return SampleChoice(
        data=value("data"),
        most_words=value("top"),
        algorithm=value("algo"),
        epsilon=float(value("eps")),
        delta=float(value("delta")),
        seed=int(value("seed")),
        calibration=value("rule") or "exact",
        noise=value("noise_kind") or "continuous",
        shape_is=value("shape") or "given",
    )


def _current_choice() -> Choice | SampleChoice:
    return choice() if data_sets.data_kind() == "ratings" else sample_choice()
