"""Epsilon in the sidebar: a slider and a box that follow each other, what it means, and where
real deployments stand.
"""

import functools
import math
from collections.abc import Collection
from typing import Literal

import streamlit as st

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.privacy import PERSON, VALUE, Status
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.teaching.demonstrations import belief
from dpmf_core.teaching.deployments import DEPLOYMENTS, Deployment
from pages.kit import lesson
from pages.kit.components import Stop, draw_epsilon_slider
from pages.kit.data_sets import session_key
from pages.kit.session_widgets import follow
from pages.kit.sidebar_values import CONTROLS, EPSILONS, chosen_entry, put, value

# what somebody may suspect of a unit
CLAIMS = {
    "user": "that you took part",
    PERSON: "that you took part",
    "document": "that a document is among these",
    "image": "that an image is among these",
}
NOT_BY_EPSILON = "ε is not what is promised with this choice: the privacy card says what is."
LEAST_DOUBT = 1e-6  # percent; less is not worth its digits
CAUTION = (
    "Their units and periods differ, and so does where noise is added: a smaller number is not"
    " always the stronger promise."
)


def draw(fixed: bool, unused: Collection[str] = ()) -> None:
    """The slider, its meaning, the box. unused: controls that play no part on the page."""
    _slider("sidebar.slider", fixed, unused, "side")
    left, right = st.columns([5, 6], vertical_alignment="bottom")
    left.number_input(
        "ε, exactly",
        *CONTROLS["epsilon"].range,
        **follow(session_key("epsilon")),
        format="%g",
        step=0.5,
        disabled=fixed,
    )
    with right.popover("Real uses", width="stretch"):
        _list_deployments()


def draw_bar(unused: Collection[str]) -> None:
    """The slider again, at the bottom of a small screen, where the sidebar is folded."""
    if "epsilon" not in unused and not lesson.is_hidden("epsilon"):
        _slider("sidebar.slider.bar", lesson.fixed_value("epsilon") is not None, unused, "bar")


def _slider(key: str, fixed: bool, unused: Collection[str], place: Literal["side", "bar"]) -> None:
    claim = _claim(unused)

    def stop(epsilon: float, name: str = "") -> Stop:
        return Stop(float(budget_text(epsilon)), _meaning(claim, epsilon), name)

    draw_epsilon_slider(
        key,
        stop(value("epsilon")),
        [stop(epsilon) for epsilon in EPSILONS],
        [stop(it.epsilon, it.name) for it in DEPLOYMENTS.values()],
        functools.partial(put, "epsilon"),
        fixed=fixed,
        place=place,
    )


# ---- what it means -------------------------------------------------------------------------------


def _claim(unused: Collection[str]) -> str | None:
    """What somebody may suspect of the unit that is protected; '' where the page's own methods
    say what they promise, None where epsilon promises nothing by itself.
    """
    if "algorithm" in unused:
        return ""
    kind = REGISTRY[value("algorithm")]
    assert issubclass(kind, PrivateAlgorithm)
    promise = kind().guarantee()
    if (
        promise.status is not Status.PROVEN
        or promise.unit == VALUE
        or value("calibration") == "source"
    ):
        return None
    unit = promise.unit if kind.task == "ratings" else chosen_entry().unit
    return CLAIMS.get(unit, "")


def _meaning(claim: str | None, epsilon: float) -> str:
    if claim is None:
        return NOT_BY_EPSILON
    if not claim:
        return ""
    return f"Someone who is 50% sure {claim} {suspicion(epsilon)}."


def suspicion(epsilon: float) -> str:
    """What an even suspicion becomes, rounded up, so that "at most" holds: with one decimal, and
    where that would read as certainty with as many as tell it apart.
    """
    doubt = 100 * belief(0.5, -epsilon)  # percent
    if doubt < LEAST_DOUBT:
        return "may become almost certain"
    decimals = max(1, math.ceil(-math.log10(doubt)))
    at_most = math.ceil((100 - doubt) * 10**decimals) / 10**decimals
    figure = f"{at_most:.{decimals}f}%".replace(".0%", "%")
    return f"becomes at most {figure} sure, except in rare cases"


# ---- real deployments ----------------------------------------------------------------------------


def _list_deployments() -> None:
    st.caption(CAUTION)
    for it in DEPLOYMENTS.values():
        st.markdown(_description(it))


def _description(it: Deployment) -> str:
    text = (
        "**{name}: ε = {epsilon}** (δ = {delta}, {year})  \n*Protects* {unit}. *Neighbours*:"
        " {relation}. *For* {period}."
    ).format(
        name=it.name,
        epsilon=budget_text(it.epsilon),
        delta=delta_text(it.delta) if it.delta else "0",
        year=it.year,
        unit=it.unit,
        relation=it.relation,
        period=it.period,
    )
    return f"{text}  \n[{it.source}]({it.address})"
