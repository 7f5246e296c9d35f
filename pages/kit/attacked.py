"""What the Audit page is asked: its controls, their values in the link, and what a lesson fixes of them."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.audit import FAULTS, AuditSpec
from dpmf_core.canaries import Unit, faults_of, protected
from dpmf_core.privacy.printed import budget_text
from pages.kit import lesson, links, said
from pages.kit.tied import tied

SECRET = "secret"
PLANTED = {**FAULTS, SECRET: "one of these, or none: find out"}
CANARIES = {"user": "one person (or sample) more", "rating": "one rating more", "value": "another value of one rating"}
MOST_RUNS = 100_000


def _within(kind: type, low: float, high: float) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def _among(names: list[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError
        return text

    return read


def _start(key: str, name: str, first: Any, read: Callable[[str], Any]) -> None:
    """A widget's value before it is drawn: the lesson's where that is fixed; else what it was; else the link's; else the first. Unreadable: the first."""
    told = lesson.page_says()
    if told is None and key in st.session_state:
        return
    text = (st.query_params if told is None else told).get(name)
    try:
        value = first if text is None else read(text)
    except (ValueError, OverflowError):
        value = first
        st.warning(said.harmless(f"'{name}' in the link cannot be used; got '{text[:40] if text else ''}'. {first} is used instead."))
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def controls() -> tuple[AuditSpec, bool]:
    """The audit that they describe, and whether its fault is a secret. Raises BadInput."""
    unseen, fixed = lesson.hidden("page"), lesson.page_says() is not None
    place = st.empty() if unseen else st.container()
    with place.container():
        first, second, third = st.columns([2, 1, 1])
        left, middle, right = st.columns([2, 1, 1])
    names = list(REGISTRY)
    _start("audit.algorithm", "attack", "private-svd", _among(names))
    name = first.selectbox(
        "Algorithm under attack", names, **tied("audit.algorithm", names), format_func=lambda it: f"{REGISTRY[it].title} ({it})",
        disabled=fixed,
    )  # fmt: skip
    kind = REGISTRY[name]
    budgeted = "small-noise" in faults_of(kind)
    _start("audit.epsilon", "at", 2.0, _within(float, 0.01, 100))
    epsilon = second.number_input("Its ε", 0.01, 100.0, step=0.5, format="%g", **tied("audit.epsilon"), disabled=fixed or not budgeted)
    _start("audit.runs", "runs", 1000, _within(int, 40, MOST_RUNS))
    count = third.number_input("Trainings", 40, MOST_RUNS, step=500, **tied("audit.runs"), disabled=fixed, help="Half of them with the canary.")
    faults = [*faults_of(kind), SECRET]
    _start(f"audit.fault.{name}", "fault", "none", _among(faults))
    fault = left.selectbox("Plant a fault", faults, **tied(f"audit.fault.{name}", faults), format_func=PLANTED.__getitem__, disabled=fixed)
    own = protected(kind())
    units: list[Unit] = [own, *(unit for unit in CANARIES if unit != own and kind.task == "ratings")]  # type: ignore[list-item]
    _start(f"audit.unit.{name}", "canary", own, _among(list(units)))
    unit = middle.selectbox("Canary", units, **tied(f"audit.unit.{name}", units), format_func=CANARIES.__getitem__, disabled=fixed)
    _start("audit.seed", "aseed", 0, _within(int, 0, 2**31))
    seed = right.number_input("Seed of the audit", 0, 2**31, **tied("audit.seed"), disabled=fixed)
    if unseen:
        place.empty()
    links.tell({"attack": name, "at": budget_text(epsilon), "runs": str(count), "fault": fault, "canary": unit, "aseed": str(seed)})
    planted = faults[:-1][(7 * seed + 3) % (len(faults) - 1)] if fault == SECRET else fault
    budget = epsilon if budgeted else None
    return AuditSpec.parse(algorithm=name, epsilon=budget, runs=count, seed=seed, fault=planted, unit=None if unit == own else unit), fault == SECRET
