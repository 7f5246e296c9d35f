"""The privacy card, what epsilon means, and who sees what: the same words on every page."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.glossary import TERMS, linked
from dpmf_core.privacy import VALUE, Event, Guarantee, Relation, Status, UnsupportedEvent, neighbours, noise_words, normal_form
from dpmf_core.privacy.accounting import every_epsilon, false_negatives, odds, rule_of
from dpmf_core.privacy.groups import group_epsilon
from dpmf_core.privacy.printed import budget_text, epsilon_text
from pages.kit import charts, links, said
from pages.kit.tied import tied

BADGES = {Status.PROVEN: "green", Status.CONDITIONAL: "orange", Status.UNPROVEN: "red", Status.NONE: "gray"}


def shown(epsilon: float) -> str:
    """A computed epsilon."""
    return epsilon_text(epsilon)


def loss(epsilon: float) -> str:
    """A chosen epsilon."""
    return budget_text(epsilon)


def small(delta: float) -> str:
    """1e-6, 1.5e-6."""
    return f"{delta:.1e}".replace(".0e", "e").replace("e-0", "e-")


def full(epsilon: float, delta: float, unit: str = "user", relation: str = Relation.ADD_REMOVE, rule: str = "exact") -> str:
    """Epsilon in full, as it is printed everywhere."""
    return f"ε = {shown(epsilon)} (δ = {small(delta)}, per {unit}, {neighbours(unit, relation)}, {rule})"


def ledger_table(event: Event) -> pd.DataFrame:
    """The releases of an event, one row each."""
    return pd.DataFrame(
        [
            {"released": leaf.statistic, "times": count, "noise": leaf.mechanism, "sensitivity": leaf.sensitivity,
             "noise multiplier": leaf.noise_multiplier, "noise scale": leaf.noise_multiplier * leaf.sensitivity}
            for leaf, count in normal_form(event)
        ]
    )  # fmt: skip


def _column(name: str) -> Any:
    """A number with its meaning from the glossary."""
    return st.column_config.NumberColumn(format="%.3g", help=linked(f"{TERMS[name].words} See {name}.") if name in TERMS else None)


def rules_table(event: Event, delta: float, unit: str = "user") -> pd.DataFrame:
    """Every rule's epsilon under the neighbouring relations that the unit has, as text."""
    relations = (Relation.ADD_REMOVE,) if unit == VALUE else tuple(Relation)
    columns = {f"ε, {neighbours(unit, relation)}": every_epsilon(event, delta, relation) for relation in relations}
    rows = next(iter(columns.values()))
    table = {"rule": [row.title for row in rows]}
    table |= {title: ["not valid here" if row.epsilon is None else shown(row.epsilon) for row in found] for title, found in columns.items()}
    reasons = [" / ".join(dict.fromkeys(row.reason for row in found if row.reason)) for found in zip(*columns.values(), strict=True)]
    return pd.DataFrame(table | {"why not": reasons})


PEOPLE = ("user", "person")  # units that nobody has two of
MOST_EACH = 100_000  # units of one person
EACH = 10  # units of one person, until the page or a person says how many


def several(event: Event, guarantee: Guarantee, delta: float, each: int) -> None:
    """That epsilon is for one unit, and what it is for a person who has more of them. each: how many, to begin with."""
    unit = guarantee.unit
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    key = f"card.each.{unit}.{each}"
    st.session_state.setdefault(key, _each_in_the_link(each))
    size = left.number_input(f"People have up to so many {plural(unit)} each", 1, MOST_EACH, **tied(key, emptiable=True))
    links.tell({"each": None if size in (None, each) else str(size)})
    if size is None:
        right.write(f"Give the largest number of {plural(unit)} that one person has.")
        return
    try:
        found = group_epsilon(event, delta, size=int(size))
    except UnsupportedEvent as why:
        right.write(f"This ε is for one {unit}. {why}")
        return
    terms = f"δ = {small(delta)}, per person, {neighbours(unit, Relation.ADD_REMOVE)}, {rule_of(event)}"
    right.markdown(linked(f"This ε is for one {unit}. For a person with {size:,} of them it is **ε = {shown(found)} ({terms})**: group privacy."))


def _each_in_the_link(usual: int) -> int:
    text = st.query_params.get("each", str(usual))
    if text.isdecimal() and len(text) <= 6 and 1 <= int(text) <= MOST_EACH:
        return int(text)
    st.warning(said.harmless(f"'each' in the link must be a whole number from 1 to {MOST_EACH:,}; got '{text[:40]}'. {usual} is used instead."))
    return usual


def plural(unit: str) -> str:
    """images; values of a rating."""
    first, _, rest = unit.partition(" ")
    return f"{first}s {rest}".strip()


def card(event: Event, guarantee: Guarantee, delta: float, title: str = "Privacy card", public: bool | None = None, each: int = EACH) -> None:
    """Status, epsilon in full, what was released and with which noise, every rule, what is taken as public.

    public: whether the data are, on which depends whether the noise can be drawn again; None where no run is meant.
    each: units that one person may have, where a person is no unit.
    """
    with st.container(border=True):
        st.markdown(f"## {title} :{BADGES[guarantee.status]}-badge[{guarantee.status}]")
        if guarantee.has_epsilon:
            exact = every_epsilon(event, delta)[0].epsilon
            st.markdown(linked(f"**{full(exact or 0.0, delta, guarantee.unit, rule=rule_of(event))}**"))
            if guarantee.unit not in PEOPLE:
                several(event, guarantee, delta, each)
        st.write(linked(guarantee.words))
        if public is not None and normal_form(event):
            st.caption(noise_words((leaf.mechanism for leaf, _ in normal_form(event)), reproducible=public))
        if guarantee.taken_as_public:
            st.caption("Taken as public: " + ", ".join(guarantee.taken_as_public) + ".")
        st.markdown(linked("**What is released: the ledger**"))
        said.table(ledger_table(event), column_config={name: _column(name) for name in ("noise multiplier", "noise scale", "sensitivity")})
        if guarantee.has_epsilon:
            st.markdown(linked("**The same releases by every rule of composition**"))
            said.table(rules_table(event, delta, guarantee.unit))
        links.to("glossary", "What these words mean", {})


def attack_link(algorithm: str) -> None:
    """To the Audit page, where the algorithm is attacked."""
    links.to("audit", "Attack it: what an audit finds", {"attack": algorithm})


def meaning(event: Event, delta: float, key: str) -> None:
    """The odds sentence and the exact trade-off curve."""
    try:
        st.write(linked(odds(event, delta).words))
    except UnsupportedEvent:
        st.write(linked("The odds sentence is exact for Gaussian noise only; the trade-off curve holds for any."))
    alarms = [step / 100 for step in range(101)]
    curve = pd.DataFrame({"fpr": alarms, "fnr": false_negatives(event, alarms)})
    fig = charts.trade_off(curve)
    at = curve.loc[curve["fpr"] == 0.05, "fnr"].iloc[0]
    charts.show(fig, key, f"Trade-off curve: an attack with 5% false alarms misses at least {at:.0%} of those who took part.", curve, leaves=True)
