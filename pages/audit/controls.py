"""What the Audit page is asked: its controls, their values in the link, and what a lesson fixes
of them.
"""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.audit.canaries import FAULTS, faults_of
from dpmf_core.audit.canary_data import protected_unit
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.privacy.formatting import budget_text
from pages.kit import lesson, links, page_controls
from pages.kit.page_controls import one_of, within
from pages.kit.session_widgets import bind

SECRET = "secret"
FAULT_TITLES = {**FAULTS, SECRET: "one of these or none: find out"}
CANARIES = {
    "user": "one person (or sample) more",
    "rating": "one rating more",
    "value": "another value of one rating",
}
MOST_RUNS = 100_000


def draw() -> tuple[AuditSpec, bool]:
    """The audit that they describe, and whether its fault is a secret. Raises BadInput."""
    invisible, fixed = lesson.is_hidden("page"), lesson.page_values() is not None
    place = st.empty() if invisible else st.container()
    with place.container():
        spec, is_secret = _controls({"disabled": fixed})
    if invisible:
        place.empty()
    return spec, is_secret


def _controls(common: dict[str, Any]) -> tuple[AuditSpec, bool]:
    first, second, third = st.columns([2, 1, 1])
    left, middle, right = st.columns([2, 1, 1])
    names = list(REGISTRY)
    page_controls.start("audit.algorithm", "attack", "private-svd", one_of(names))
    kind = REGISTRY[
        first.selectbox(
            "Algorithm under attack",
            names,
            **bind("audit.algorithm", names),
            format_func=lambda it: REGISTRY[it].title,
            **common,
        )
    ]
    faults = faults_of(kind)
    takes_epsilon = "small-noise" in faults
    page_controls.start("audit.epsilon", "at", 2.0, within(float, 0.01, 100))
    box = bind("audit.epsilon") | {"disabled": common["disabled"] or not takes_epsilon}
    epsilon: float = second.number_input("Its ε", 0.01, 100.0, step=0.5, format="%g", **box)
    page_controls.start("audit.runs", "runs", 1000, within(int, 40, MOST_RUNS))
    box = bind("audit.runs") | common | {"help": "Half of them with the canary."}
    count: int = third.number_input("Trainings", 40, MOST_RUNS, step=500, **box)
    fault = _fault(left, kind, common)
    unit = _canary(middle, kind, common)
    page_controls.start("audit.seed", "aseed", 0, within(int, 0, 2**31))
    seed: int = right.number_input("Seed of the audit", 0, 2**31, **bind("audit.seed"), **common)
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
    spec = AuditSpec.parse(
        algorithm=kind.id,
        epsilon=epsilon if takes_epsilon else None,
        runs=count,
        seed=seed,
        fault=faults[(7 * seed + 3) % len(faults)] if fault == SECRET else fault,
        unit=None if unit == protected_unit(kind()) else unit,
    )
    return spec, fault == SECRET


def _fault(place: DeltaGenerator, kind: type[Algorithm], common: dict[str, Any]) -> str:
    """Which fault is planted, or that it is a secret."""
    key, options = f"audit.fault.{kind.id}", [*faults_of(kind), SECRET]
    page_controls.start(key, "fault", "none", one_of(options))
    box = bind(key, options) | common | {"format_func": FAULT_TITLES.__getitem__}
    return str(place.selectbox("Plant a fault", options, **box))


def _canary(place: DeltaGenerator, kind: type[Algorithm], common: dict[str, Any]) -> Any:
    """In what two neighbouring data sets differ; at first, what the algorithm protects."""
    own, key = protected_unit(kind()), f"audit.unit.{kind.id}"
    units: list[str] = [own]
    units += [it for it in CANARIES if it != own and kind.task == "ratings"]
    page_controls.start(key, "canary", own, one_of(units))
    box = bind(key, units) | common | {"format_func": CANARIES.__getitem__}
    return place.selectbox("Canary", units, **box)
