"""The privacy card: guarantee, ledger, composition rules, and what epsilon means."""

import functools

import pandas as pd
import streamlit as st

from dpmf_core.privacy import (
    VALUE,
    Event,
    Guarantee,
    Relation,
    Status,
    UnsupportedEvent,
    neighbours,
    noise_words,
    normal_form,
)
from dpmf_core.privacy.accounting import group_epsilon, rule_of
from dpmf_core.privacy.certainty import (
    WHAT_IS_AN_EXCEPTION,
    Certainty,
    certainty_of,
    success_text,
)
from dpmf_core.privacy.formatting import (
    budget_text,
    delta_text,
    epsilon_in_full,
    epsilon_text,
)
from dpmf_core.privacy.interpretation import false_negatives
from dpmf_core.privacy.rules import every_epsilon
from dpmf_core.runs.privacy_record import GuaranteeRecord
from dpmf_core.teaching.glossary import TERMS, linked
from pages.kit.base import links, safe_text
from pages.kit.controls.session_widgets import PageValue, bind, within, write_to_address
from pages.kit.figures import charts, colours

Promise = Guarantee | GuaranteeRecord
BADGES = {
    Status.PROVEN: "green",
    Status.CONDITIONAL: "orange",
    Status.UNPROVEN: "red",
    Status.NONE: "gray",
}


def badge(status: Status) -> str:
    return f":{BADGES[status]}-badge[{status}]"


@functools.lru_cache(maxsize=256)
def ledger_table(event: Event) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "released": leaf.title,
                "times": count,
                "noise": leaf.mechanism,
                "sensitivity": leaf.sensitivity,
                "noise multiplier": leaf.noise_multiplier,
                "noise scale": leaf.noise_multiplier * leaf.sensitivity,
            }
            for leaf, count in normal_form(event)
        ]
    )


@functools.lru_cache(maxsize=256)
def rules_table(event: Event, delta: float, unit: str = "user") -> pd.DataFrame:
    """Every rule's epsilon under the unit's neighbouring relations, as text."""
    relations = (Relation.ADD_REMOVE,) if unit == VALUE else tuple(Relation)
    columns = {
        f"ε, {neighbours(unit, relation)}": every_epsilon(event, delta, relation)
        for relation in relations
    }
    rows = next(iter(columns.values()))
    table = {"rule": [row.title for row in rows]}
    table |= {
        title: [
            "not valid here" if row.epsilon is None else f"{epsilon_text(row.epsilon)}"
            for row in column
        ]
        for title, column in columns.items()
    }
    reasons = [
        _join_reasons([row.reason for row in line if row.reason])
        for line in zip(*columns.values(), strict=True)
    ]
    return pd.DataFrame(table | ({"why not": reasons} if any(reasons) else {}))


def _join_reasons(reasons: list[str]) -> str:
    """Join distinct reasons; reasons that differ only in their last word share the rest."""
    different = list(dict.fromkeys(reasons))
    beginnings = {text.rpartition(" ")[0] for text in different}
    if len(beginnings) != 1:
        return " / ".join(different)
    last_words = " / ".join(text.rpartition(" ")[2] for text in different)
    return f"{beginnings.pop()} {last_words}".strip()


PEOPLE = ("user", "person")  # units that are one person each
MOST_EACH = 100_000  # units of one person
EACH = 10  # units of one person, by default


def _group_privacy(event: Event, guarantee: Promise, delta: float, each: int) -> None:
    """Draw epsilon for a person who may have several units, at first `each`."""
    unit = guarantee.unit
    if unit in PEOPLE:
        return
    size_value = PageValue(
        f"card.each.{unit}.{each}", "each", each, within(int, 1, MOST_EACH)
    )
    size_value.start()
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    size = left.number_input(
        f"{plural(unit)} per person, at most",
        1,
        MOST_EACH,
        **bind(size_value.key, emptiable=True),
    )
    write_to_address([size_value])
    if size is None:
        right.write("Enter the largest number per person.")
        return
    try:
        person_epsilon = group_epsilon(event, delta, size=int(size))
    except UnsupportedEvent as why:
        right.write(f"This ε is for one {unit}. {why.args[0]}")
        return
    right.markdown(
        linked(
            f"This ε is for one {unit}. For a person with {size:,} of them it is **ε ="
            f" {epsilon_text(person_epsilon)} (δ = {delta_text(delta)}, per person,"
            f" {neighbours(unit, Relation.ADD_REMOVE)}, {rule_of(event)})**: group privacy."
        )
    )


def plural(unit: str) -> str:
    """The plural of a unit, such as "images" or "values of a rating"."""
    if unit == VALUE:
        return "values of a rating"
    return f"{unit}s"


def draw(event: Event, guarantee: Promise, delta: float) -> None:
    """Draw the privacy card of releases that have an epsilon, without a run."""
    with st.container(border=True):
        st.markdown(f"## Privacy card {badge(guarantee.status)}")
        st.markdown(linked(f"**{_in_full(event, guarantee, delta)}**"))
        _say_made_for_replacement(event, guarantee)
        _group_privacy(event, guarantee, delta, EACH)
        _inside(event, guarantee, delta, None)


def label(
    event: Event, guarantee: Promise, delta: float, public: bool, each: int = EACH
) -> None:
    """Draw the privacy card of a run with its details folded.

    Parameters
    ----------
    event
        The releases of the run.
    guarantee
        The guarantee of the run.
    delta
        The delta of its epsilon.
    public
        Whether the data are public, so that the noise can be drawn again.
    each
        The number of units per person, if a person is not the unit.
    """
    with st.container(border=True):
        if guarantee.has_epsilon:
            exact = every_epsilon(event, delta)[0].epsilon or 0.0
            relation = neighbours(guarantee.unit, Relation.ADD_REMOVE)
            total = f"ε = {epsilon_text(exact)} in total"
            st.markdown(f"## {total} {badge(guarantee.status)}")
            facts = f"δ = {delta_text(delta)} · per {guarantee.unit} · {relation}"
            st.markdown(linked(f"{facts} · {rule_of(event)} rule"))
            _say_made_for_replacement(event, guarantee)
            if guarantee.status is not Status.PROVEN:
                st.write(linked(guarantee.words))
            _group_privacy(event, guarantee, delta, each)
        else:
            st.markdown(f"## Privacy {badge(guarantee.status)}")
        opener = "Privacy card: ledger, composition rules, public facts"
        with st.popover(opener, width="stretch"):
            if guarantee.has_epsilon:
                st.markdown(linked(f"**{_in_full(event, guarantee, delta)}**"))
            _inside(event, guarantee, delta, public)


def _in_full(event: Event, guarantee: Promise, delta: float) -> str:
    exact = every_epsilon(event, delta)[0].epsilon or 0.0
    return epsilon_in_full(exact, delta, guarantee.unit, rule=rule_of(event))


def _say_made_for_replacement(event: Event, guarantee: Promise) -> None:
    releases = normal_form(event)
    same_both_ways = releases and all(
        leaf.replace_one_factor == 1 for leaf, _ in releases
    )
    if same_both_ways and guarantee.unit != VALUE:
        st.caption(
            "The noise covers replacing a row, so ε is the same under both relations."
        )


def _inside(
    event: Event, guarantee: Promise, delta: float, public: bool | None
) -> None:
    """Draw the guarantee in words, the ledger and every rule. Without a run `public` is None."""
    st.write(linked(guarantee.words))
    if public is not None and normal_form(event):
        st.caption(
            noise_words(
                (release.mechanism for release, _ in normal_form(event)),
                reproducible=public,
            )
        )
    if guarantee.taken_as_public:
        facts = safe_text.escape(", ".join(guarantee.taken_as_public))
        st.caption(f"Taken as public: {facts}.")
    st.markdown(linked("**Ledger of releases**"))
    names = ("noise multiplier", "noise scale", "sensitivity")
    columns = {
        name: st.column_config.NumberColumn(
            format="%.3g", help=linked(TERMS[name].words) if name in TERMS else None
        )
        for name in names
    }
    safe_text.table(ledger_table(event), column_config=columns)
    if guarantee.has_epsilon:
        st.markdown(linked("**ε by every composition rule**"))
        safe_text.words_table(rules_table(event, delta, guarantee.unit))
    links.to("glossary", "What these words mean")


def attack_link(algorithm: str) -> None:
    links.to("audit", "Attack this method", {"attack": algorithm})


@functools.lru_cache(maxsize=64)
def _trade_off(event: Event, is_dark: bool) -> charts.Ready:
    """The lowest false negative rate of any attack, in the colours of the theme."""
    alarms = [step / 100 for step in range(101)]
    curve = pd.DataFrame({"fpr": alarms, "fnr": false_negatives(event, alarms)})
    at = curve["fnr"][5]
    return charts.ready(
        charts.trade_off(curve),
        f"Trade-off curve: an attack with 5% false alarms misses at least {at:.0%} of members.",
        curve,
    )


def meaning(event: Event, delta: float, unit: str, key: str) -> None:
    st.write(linked(certainty_of(event, delta, unit).words()))
    st.caption(linked(WHAT_IS_AN_EXCEPTION))
    charts.show_ready(_trade_off(event, colours.is_dark()), key, leaves=True)


def in_hundred(
    epsilon: float, certainty: Certainty, success: float, nominal: str = ""
) -> dict[str, object]:
    """The meaning of an epsilon for one unit, as data for `draw_hundred`.

    Parameters
    ----------
    epsilon
        The epsilon that is named.
    certainty
        How certain an attacker can become.
    success
        How often the best attacker is right.
    nominal
        "nominal " if a source's rule does not keep the named epsilon.

    Returns
    -------
    dict
        The epsilon, a title, sentences and figures.
    """
    whom = "one person" if certainty.unit in PEOPLE else f"one {certainty.unit}"
    return {
        "epsilon": epsilon,
        "title": f"What {nominal}ε = {budget_text(epsilon)} means for {whom}",
        "certainty": certainty.words(),
        "guess": success_text(success),
        "figures": certainty.in_hundred,
    }
