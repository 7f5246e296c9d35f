"""What the Audit page is asked: its controls, their values in the link, and what a lesson fixes
of them.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.audit.canaries import FAULTS, faults_of
from dpmf_core.audit.canary_data import Unit, protected
from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.language import phrase
from dpmf_core.privacy.formatting import budget_text
from pages.kit import lesson, links, safe_text
from pages.kit.language import say
from pages.kit.session_widgets import bind

SECRET = "secret"
PLANTED = {**FAULTS, SECRET: phrase("one of these, or none: find out")}
CANARIES = {
    "user": phrase("one person (or sample) more"),
    "rating": phrase("one rating more"),
    "value": phrase("another value of one rating"),
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
                say(
                    "'{name}' in the link cannot be used; got '{got}'. {first} is used instead.",
                    name=name,
                    got=(text or "")[:40],
                    first=first,
                )
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
    names = list(REGISTRY)
    _start_value("audit.algorithm", "attack", "private-svd", _one_of(names))
    name = first.selectbox(
        say("Algorithm under attack"),
        names,
        **bind("audit.algorithm", names),
        format_func=lambda it: say(REGISTRY[it].title),
        disabled=fixed,
    )
    kind = REGISTRY[name]
    budgeted = "small-noise" in faults_of(kind)
    _start_value("audit.epsilon", "at", 2.0, _within(float, 0.01, 100))
    epsilon = second.number_input(
        say("Its ε"),
        0.01,
        100.0,
        step=0.5,
        format="%g",
        **bind("audit.epsilon"),
        disabled=fixed or not budgeted,
    )
    _start_value("audit.runs", "runs", 1000, _within(int, 40, MOST_RUNS))
    count = third.number_input(
        say("Trainings"),
        40,
        MOST_RUNS,
        step=500,
        **bind("audit.runs"),
        disabled=fixed,
        help=say("Half of them with the canary."),
    )
    faults = [*faults_of(kind), SECRET]
    _start_value(f"audit.fault.{name}", "fault", "none", _one_of(faults))
    fault = left.selectbox(
        say("Plant a fault"),
        faults,
        **bind(f"audit.fault.{name}", faults),
        format_func=lambda it: say(PLANTED[it]),
        disabled=fixed,
    )
    own = protected(kind())
    units: list[Unit] = [
        own,
        *(unit for unit in CANARIES if unit != own and kind.task == "ratings"),  # type: ignore[list-item]
    ]
    _start_value(f"audit.unit.{name}", "canary", own, _one_of(list(units)))
    unit = middle.selectbox(
        say("Canary"),
        units,
        **bind(f"audit.unit.{name}", units),
        format_func=lambda it: say(CANARIES[it]),
        disabled=fixed,
    )
    _start_value("audit.seed", "aseed", 0, _within(int, 0, 2**31))
    seed = right.number_input(
        say("Seed of the audit"), 0, 2**31, **bind("audit.seed"), disabled=fixed
    )
    if invisible:
        place.empty()
    links.put_in_address(
        {
            "attack": name,
            "at": budget_text(epsilon),
            "runs": str(count),
            "fault": fault,
            "canary": unit,
            "aseed": str(seed),
        }
    )
    planted = faults[:-1][(7 * seed + 3) % (len(faults) - 1)] if fault == SECRET else fault
    budget = epsilon if budgeted else None
    return (
        AuditSpec.parse(
            algorithm=name,
            epsilon=budget,
            runs=count,
            seed=seed,
            fault=planted,
            unit=None if unit == own else unit,
        ),
        fault == SECRET,
    )
