"""What Choose recommends for a data set, for the way from there to Explore."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text
from pages.kit import data_sets

HELD = "choose.recommended"  # in the session: by data set


@dataclass(frozen=True)
class Recommended:
    """A method's id; epsilon of one person, and delta."""

    method: str
    epsilon: float
    delta: float

    @property
    def words(self) -> str:
        return f"{algorithms.find(self.method).title} at ε = {budget_text(self.epsilon)}"


def keep(data_id: str, found: Recommended) -> None:
    """For other pages of this session."""
    st.session_state[HELD] = {**st.session_state.get(HELD, {}), data_id: found}


def of(data_id: str) -> Recommended | None:
    """What was recommended last for a data set; None where nothing was."""
    found: Recommended | None = st.session_state.get(HELD, {}).get(data_id)
    return found


def choose(entry: Any, found: Recommended | None) -> None:
    """These ratings are chosen on every page, with what was recommended; what was chosen before
    stays where nothing was. Call it before widgets are drawn, or as their callback.
    """
    data_sets.choose(entry)
    if found is not None:
        values = {"algo": found.method, "eps": found.epsilon, "delta": found.delta}
        for name, value in values.items():
            st.session_state[data_sets.session_key(name, "ratings")] = value
