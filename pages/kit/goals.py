"""What must be reached: a share of the gain over guessing, or a value of a metric."""

import statistics
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.needed_epsilon import Goal
from pages.kit.session_widgets import bind

USUAL = 80  # percent of the gain
BETWEEN = (
    "≈: interpolated between two measured ε, along log ε. Nothing is extrapolated. 100% of the"
    " gain is the method without privacy, 0% is guessing the mean."
)
SHARE, VALUE = "share", "value"


def row(key: str) -> DeltaGenerator:
    """A line for the question and its answer."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}.row")


def choose(key: str, metric: str, twin: Sequence[float], trivial: Sequence[float]) -> Goal:
    """The goal that a person chooses; the controls keep their values while their page is away.

    twin, trivial: the metric without privacy and by guessing, which say where a value starts.
    """
    kind = METRICS[metric]
    names = {SHARE: "To keep, in percent of the gain", VALUE: f"To reach {kind.title}"}
    st.session_state.setdefault(f"{key}.goal", SHARE)
    what = st.selectbox(
        "Goal",
        list(names),
        **bind(f"{key}.goal", list(names)),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=270,
    )
    if what == SHARE:
        st.session_state.setdefault(key, USUAL)
        box: dict[str, Any] = {"min_value": 1, "max_value": 100, "step": 5, **bind(key)}
        percent = st.number_input("Percent", **box, label_visibility="collapsed", width=100)
        return Goal.share(int(percent) / 100)
    guess, plain = statistics.median(trivial), statistics.median(twin)
    value_key = f"{key}.{metric}"
    st.session_state.setdefault(value_key, round(guess + USUAL / 100 * (plain - guess), 3))
    box = {"step": 0.005, "format": f"%.{kind.digits}f", **bind(value_key)}
    value = st.number_input(kind.label, **box, label_visibility="collapsed", width=120)
    return Goal.metric(kind, round(float(value), kind.digits))
