"""Which epsilon keeps so many percent of the gain over guessing: the box, and the answer."""

from collections.abc import Sequence

import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.gain import Keeping, KeptGain, first_keeping
from dpmf_core.runs.needed_epsilon import NeededEpsilon
from pages.kit.session_widgets import bind

USUAL = 80  # percent
BETWEEN = "≈: read between two measured ε, along log ε. Nothing is said beyond what was measured."


def percent(key: str) -> int:
    """The box for the wanted share, in percent; it keeps its value while its page is away."""
    st.session_state.setdefault(key, USUAL)
    box = st.number_input(
        "Share of the gain to keep, in percent",
        1,
        100,
        **bind(key),
        step=5,
        label_visibility="collapsed",
        width=90,
    )
    return int(box)


def answer(line: Sequence[KeptGain], target: int) -> tuple[str, str]:
    """The epsilon that it takes, and its range over draws; of a line that keeps less everywhere,
    the most that it keeps. target: in percent. line: ascending by epsilon, not empty.
    """
    keeping = first_keeping(line, target / 100)
    if keeping.median is None:
        top = max(line, key=lambda it: it.median)
        return (
            f"no ε up to {budget_text(line[-1].epsilon)} does",
            f"; the most is {top.median:.0%}, at ε = {budget_text(top.epsilon)}",
        )
    if keeping.median.is_first:
        least = f"ε = {epsilon(keeping.median)} does"
        return least, ", the smallest that was measured"
    about = "=" if keeping.median.is_measured else "≈"
    value = f"ε {about} {epsilon(keeping.median)}"
    return value, _range(keeping, line)


def epsilon(estimate: NeededEpsilon) -> str:
    """As it is printed: what lies between measured points is known to two digits at most."""
    return budget_text(estimate.epsilon if estimate.is_measured else target_epsilon(estimate))


def target_epsilon(estimate: NeededEpsilon) -> float:
    """The epsilon that a person goes to."""
    return estimate.epsilon if estimate.is_measured else float(f"{estimate.epsilon:.2g}")


def _range(keeping: Keeping, line: Sequence[KeptGain]) -> str:
    """By the best draws and by the worst, where they differ."""
    if keeping.best is None or keeping.median == keeping.best == keeping.worst:
        return ""
    beyond = f"more than {budget_text(line[-1].epsilon)}"
    worst = beyond if keeping.worst is None else epsilon(keeping.worst)
    return f", {epsilon(keeping.best)} to {worst} over draws"
