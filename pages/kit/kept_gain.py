"""Which epsilon keeps so many percent of the gain over guessing: the box, and the answer."""

from collections.abc import Sequence

import streamlit as st

from dpmf_core.language import phrase
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.gain import Keeping, Kept, first_keeping
from dpmf_core.runs.needed_epsilon import Needed
from pages.kit.language import say
from pages.kit.session_widgets import bind

USUAL = 80  # percent
BETWEEN = phrase(
    "≈: read between two measured ε, along log ε. Nothing is said beyond what was measured."
)


def percent(key: str) -> int:
    """The box for the wanted share, in percent; it keeps its value while its page is away."""
    st.session_state.setdefault(key, USUAL)
    box = st.number_input(
        say("Share of the gain to keep, in percent"),
        1,
        100,
        **bind(key),
        step=5,
        label_visibility="collapsed",
        width=90,
    )
    return int(box)


def answer(line: Sequence[Kept], wanted: int) -> tuple[str, str]:
    """The epsilon that it takes, and its range over draws; of a line that keeps less everywhere,
    the most that it keeps. wanted: in percent. line: ascending by epsilon, not empty.
    """
    found = first_keeping(line, wanted / 100)
    if found.median is None:
        top = max(line, key=lambda it: it.median)
        return phrase("no ε up to {most} does", most=budget_text(line[-1].epsilon)), phrase(
            "; the most is {share:.0%}, at ε = {epsilon}",
            share=top.median,
            epsilon=budget_text(top.epsilon),
        )
    if found.median.is_first:
        least = phrase("ε = {epsilon} does", epsilon=epsilon(found.median))
        return least, phrase(", the smallest that was measured")
    about = "=" if found.median.is_measured else "≈"
    value = phrase("ε {about} {epsilon}", about=about, epsilon=epsilon(found.median))
    return value, _range(found, line)


def epsilon(needed: Needed) -> str:
    """As it is printed: what lies between measured points is known to two digits at most."""
    return budget_text(needed.epsilon if needed.is_measured else chosen(needed))


def chosen(needed: Needed) -> float:
    """The epsilon that a person goes to."""
    return needed.epsilon if needed.is_measured else float(f"{needed.epsilon:.2g}")


def _range(found: Keeping, line: Sequence[Kept]) -> str:
    """By the best draws and by the worst, where they differ."""
    if found.best is None or found.median == found.best == found.worst:
        return ""
    beyond = phrase("more than {epsilon}", epsilon=budget_text(line[-1].epsilon))
    worst = beyond if found.worst is None else epsilon(found.worst)
    return phrase(", {best} to {worst} over draws", best=epsilon(found.best), worst=worst)
