"""Figures of finished runs, made once for all sessions where the data are public."""

from collections.abc import Callable, Mapping

import streamlit as st

from dpmf_core.runs.record import Run
from pages.kit import colours, data_sets
from pages.kit.charts import Ready

CACHE_SIZE = 200  # figures in memory


def of_runs(what: str, runs: Mapping[str, Run], make: Callable[[], Ready]) -> Ready:
    """The figure that `make` makes of these runs, which are told apart by their keys.

    what: names the figure among those of the same runs.
    """
    if not data_sets.chosen_is_public():
        return make()
    keys = [(name, run.key) for name, run in runs.items()]
    return _cached_figure((what, colours.is_dark(), keys), make)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_figure(key: tuple[object, ...], _make: Callable[[], Ready]) -> Ready:
    return _make()
