"""The privacy card, what epsilon means, and who sees what: the same words on every page."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.experiment import Run
from dpmf_core.glossary import TERMS, linked
from dpmf_core.privacy import VALUE, Event, Guarantee, Relation, Status, UnsupportedEvent, neighbours, normal_form, sequence
from dpmf_core.privacy.accounting import every_epsilon, false_negatives, odds
from pages.kit import charts, ledgers, links, said

BADGES = {Status.PROVEN: "green", Status.CONDITIONAL: "orange", Status.UNPROVEN: "red", Status.NONE: "gray"}


def shown(epsilon: float) -> str:
    """Two decimals, or two digits where those would read as nothing."""
    return f"{epsilon:.2f}" if epsilon >= 0.01 or not epsilon else f"{epsilon:.2g}"


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


def card(event: Event, guarantee: Guarantee, delta: float, title: str = "Privacy card") -> None:
    """Status, epsilon in full, what was released, every rule, what is taken as public."""
    with st.container(border=True):
        st.markdown(f"## {title} :{BADGES[guarantee.status]}-badge[{guarantee.status}]")
        if guarantee.has_epsilon:
            exact = every_epsilon(event, delta)[0].epsilon
            st.markdown(linked(f"**{full(exact or 0.0, delta, guarantee.unit)}**"))
        st.write(linked(guarantee.words))
        if guarantee.taken_as_public:
            st.caption("Taken as public: " + ", ".join(guarantee.taken_as_public) + ".")
        st.markdown(linked("**What is released: the ledger**"))
        said.table(ledger_table(event), column_config={name: _column(name) for name in ("noise multiplier", "noise scale", "sensitivity")})
        st.markdown(linked("**The same releases by every rule of composition**"))
        said.table(rules_table(event, delta, guarantee.unit))
        links.to("glossary", "What these words mean", {})


def together(done: Iterable[Run], delta: float) -> None:
    """On private data: what all the runs behind a page release, and that nothing counts a choice among them."""
    private = [run.record for run in {run.key: run for run in done}.values() if not run.record["public"]]
    costing = [record for record in private if record["epsilon"]["exact"] and record["guarantee"]["unit"] not in (VALUE, "rating")]
    if not costing:
        return
    try:
        total = every_epsilon(sequence(*(ledgers.event_of_record(record) for record in costing)), delta)[0].epsilon or 0.0
        sum_ = f", together {full(total, delta, costing[0]['guarantee']['unit'])}"
    except UnsupportedEvent:
        sum_ = ""
    st.warning(
        f"Your data are private. Runs with noise on them behind this page: {len(costing)}{sum_}. Errors are raw: to choose by them, or to tell them, has no ε "
        "at all. Choose on public data, or by a private selection (Tune)."
    )


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
