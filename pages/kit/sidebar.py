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
from pages.kit.choice import Choice
from pages.kit.page_table import DataKind
from pages.kit.sidebar_values import COMPLAINTS, controls, value


def draw(kind: DataKind = "ratings", unused: Collection[str] = (), note: str = "") -> None:
    """The sidebar of a page about one kind of data; afterwards `choice()` says what is chosen.

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
    _draw_widget("dataset", sidebar_widgets.data_set, unused)
    entry = sidebar_values.chosen_entry()
    sidebar_widgets.describe_data(entry)
    units = data_sets.privacy_units(entry)
    if not entry.public:
        odometer.panel(entry.id, "sidebar", units)
    _draw_widget("algorithm", sidebar_widgets.algorithm, unused)
    _draw_widget("epsilon", partial(sidebar_epsilon.draw, unused=unused), unused)
    if "delta" not in unused and value("delta") >= 1 / units:
        st.warning(
            f"δ of 1/n ({1 / units:.0e}) or more would allow publishing one person's whole row."
        )
    if not entry.public:
        _draw_widget("noise", sidebar_widgets.noise, unused)
    with st.expander("More"):
        _draw_rest(entry, unused)


def _draw_rest(entry: Any, unused: Collection[str]) -> None:
    """What a first look does without."""
    _draw_widget("delta", sidebar_widgets.delta, unused)
    _draw_widget("seed", sidebar_widgets.seed, unused)
    columns = sidebar_widgets.COLUMNS.get(data_sets.data_kind())
    if columns:
        _draw_widget(columns, partial(sidebar_widgets.columns_kept, entry, columns), unused)
    if getattr(entry, "item_features", ""):
        _draw_widget("item_features", sidebar_widgets.item_features, unused)
    _draw_widget("calibration", sidebar_widgets.calibration, unused)
    if entry.public:
        _draw_widget("noise", sidebar_widgets.noise, unused)
    if not entry.public or (columns and value(columns)) or value("row_count") != "given":
        _draw_widget("row_count", sidebar_widgets.row_count, unused)


def _draw_widget(name: str, widget: Callable[[bool], None], unused: Collection[str]) -> None:
    """A widget, unless a lesson hides it or the page has no use for it; locked where the lesson
    fixes it.
    """
    if name not in unused and not lesson.is_hidden(name):
        widget(lesson.fixed_value(name) is not None)


def _show_complaints() -> None:
    """What was wrong with the address, until something else is chosen."""
    state, now = st.session_state, choice()
    if state[COMPLAINTS] and state.setdefault("sidebar.complained", now) != now:
        state[COMPLAINTS], state["sidebar.complained"] = [], now
    for complaint in dict.fromkeys(state[COMPLAINTS]):
        st.warning(safe_text.escape(complaint))


def choice() -> Choice:
    """What the sidebar says now."""
    return Choice(**{control.id: value(control.id) for control in controls()})
