"""What the Audit page is asked: its controls, their values in the link, and what a lesson fixes
of them.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.audit.canaries import FAULTS, faults_of
from dpmf_core.audit.canary_data import Unit, protected_unit
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.privacy.formatting import budget_text
from pages.kit import lesson, links, safe_text
from pages.kit.session_widgets import bind

SECRET = "secret"
FAULT_TITLES = {**FAULTS, SECRET: "one of these, or none: find out"}
CANARIES = {
    "user": "one person (or sample) more",
    "rating": "one rating more",
    "value": "another value of one rating",
}
MOST_RUNS = 100_000


def _within(kind: type, low: float, high: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def _one_of(names: list[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError
        return text

    return read


def _start_value(key: str, name: str, first: Any, read: Callable[[str], Any]) -> None:
    """A widget's value before it is drawn: the lesson's where that is fixed; else what it was;
    else the link's; else the first. Unreadable: the first.
    """
    fixed_values = lesson.page_values()
    if fixed_values is None and key in st.session_state:
        return
    text = (st.query_params if fixed_values is None else fixed_values).get(name)
    try:
        value = first if text is None else read(text)
    except (ValueError, OverflowError):
        value = first
        st.warning(
            safe_text.escape(
                f"'{name}' in the link cannot be used; got '{(text or '')[:40]}'. {first} is"
                " used instead."
            )
        )
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def draw() -> tuple[AuditSpec, bool]:
    """The audit that they describe, and whether its fault is a secret. Raises BadInput."""
    invisible, fixed = lesson.is_hidden("page"), lesson.page_values() is not None
    place = st.empty() if invisible else st.container()
    with place.container():
        first, second, third = st.columns([2, 1, 1])
        left, middle, right = st.columns([2, 1, 1])
    kind = REGISTRY[_algorithm(first, fixed)]
    takes_epsilon = "small-noise" in faults_of(kind)
    epsilon = _epsilon(second, fixed or not takes_epsilon)
    count = _trainings(third, fixed)
    fault = _fault(left, kind, fixed)
    unit = _canary(middle, kind, fixed)
    seed = _seed(right, fixed)
    if invisible:
        place.empty()
    links.put_in_address(
        {
            "attack": kind.id,
            "at": budget_text(epsilon),
            "runs": str(count),
            "fault": fault,
            "canary": unit,
            "aseed": str(seed),
        }
    )
    faults = faults_of(kind)
    spec = AuditSpec.parse(
        algorithm=kind.id,
        epsilon=epsilon if takes_epsilon else None,
        runs=count,
        seed=seed,
        fault=faults[(7 * seed + 3) % len(faults)] if fault == SECRET else fault,
        unit=None if unit == protected_unit(kind()) else unit,
    )
    return spec, fault == SECRET


def _algorithm(place: DeltaGenerator, fixed: bool) -> str:
    """Which algorithm is attacked."""
    names = list(REGISTRY)
    _start_value("audit.algorithm", "attack", "private-svd", _one_of(names))
    algorithm: str = place.selectbox(
        "Algorithm under attack",
        names,
        **bind("audit.algorithm", names),
        format_func=lambda it: REGISTRY[it].title,
        disabled=fixed,
    )
    return algorithm


def _epsilon(place: DeltaGenerator, fixed: bool) -> float:
    _start_value("audit.epsilon", "at", 2.0, _within(float, 0.01, 100))
    epsilon: float = place.number_input(
        "Its ε",
        0.01,
        100.0,
        step=0.5,
        format="%g",
        **bind("audit.epsilon"),
        disabled=fixed,
    )
    return epsilon


def _trainings(place: DeltaGenerator, fixed: bool) -> int:
    _start_value("audit.runs", "runs", 1000, _within(int, 40, MOST_RUNS))
    count: int = place.number_input(
        "Trainings",
        40,
        MOST_RUNS,
        step=500,
        **bind("audit.runs"),
        disabled=fixed,
        help="Half of them with the canary.",
    )
    return count


def _fault(place: DeltaGenerator, kind: type[Algorithm], fixed: bool) -> str:
    """Which fault is planted, or that it is a secret."""
    faults, key = [*faults_of(kind), SECRET], f"audit.fault.{kind.id}"
    _start_value(key, "fault", "none", _one_of(faults))
    fault: str = place.selectbox(
        "Plant a fault",
        faults,
        **bind(key, faults),
        format_func=lambda it: FAULT_TITLES[it],
        disabled=fixed,
    )
    return fault


def _seed(place: DeltaGenerator, fixed: bool) -> int:
    _start_value("audit.seed", "aseed", 0, _within(int, 0, 2**31))
    seed: int = place.number_input(
        "Seed of the audit", 0, 2**31, **bind("audit.seed"), disabled=fixed
    )
    return seed


def _canary(place: DeltaGenerator, kind: type[Algorithm], fixed: bool) -> Unit:
    """In what two neighbouring data sets of the attack differ; unless chosen, what the algorithm
    protects.
    """
    own, key = protected_unit(kind()), f"audit.unit.{kind.id}"
    units: list[Unit] = [
        own,
        *(unit for unit in CANARIES if unit != own and kind.task == "ratings"),  # type: ignore[list-item]
    ]
    _start_value(key, "canary", own, _one_of(list(units)))
    canary: Unit = place.selectbox(
        "Canary",
        units,
        **bind(key, units),
        format_func=lambda it: CANARIES[it],
        disabled=fixed,
    )
    return canary
