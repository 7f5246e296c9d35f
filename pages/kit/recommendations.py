"""Choose's recommendation for a data set, for other pages."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from pages.kit import data_sets

STATE_KEY = "choose.recommended"  # in the session: by data set


@dataclass(frozen=True)
class Recommendation:
    """A method's id, with epsilon and delta of one person."""

    method: str
    epsilon: float
    delta: float

    @property
    def words(self) -> str:
        return f"{algorithms.find(self.method).title} at ε = {budget_text(self.epsilon)}"


def keep(data_id: str, recommendation: Recommendation) -> None:
    """Keep a recommendation for other pages of this session."""
    st.session_state[STATE_KEY] = {**st.session_state.get(STATE_KEY, {}), data_id: recommendation}


def of(data_id: str) -> Recommendation | None:
    """Return the last recommendation for a data set, if any."""
    recommendation: Recommendation | None = st.session_state.get(STATE_KEY, {}).get(data_id)
    return recommendation


def choose(entry: Any, recommendation: Recommendation | None) -> None:
    """Choose a data set and its recommendation on every page.

    Call it before widgets are drawn, or as their callback.
    """
    data_sets.choose(entry)
    if recommendation is not None:
        values = {
            "algorithm": recommendation.method,
            "epsilon": recommendation.epsilon,
            "delta": recommendation.delta,
        }
        for name, value in values.items():
            st.session_state[data_sets.session_key(name, "ratings")] = value
