"""What does this composition cost?

Compose releases by hand, or load a run's, an algorithm's or a paper's, and account them by every
rule.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.errors import BadInput
from dpmf_core.privacy import (
    VALUE,
    Budget,
    Event,
    Gaussian,
    Relation,
    Repeat,
    calibrate,
    normal_form,
)
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.formatting import epsilon_in_full, epsilon_text
from dpmf_core.teaching.glossary import linked
from pages.accountant import growth, ledger_table, sources
from pages.accountant.schematic import WHO_SEES_WHAT
from pages.kit import links, privacy_card, safe_text, sidebar, who_sees_what

ENTRIES_KEPT = "Your entries are kept. Change the one named above."


def calibration() -> None:
    """The other way: a total to spend, over so many releases."""
    st.header("How much noise does a total ε ask for?", anchor=False)
    left, middle, right = st.columns(3)
    total = left.number_input(
        "Total ε", 1e-4, 1000.0, 1.0, 0.5, "%g", "accountant.total", persist_state="session"
    )
    releases = middle.number_input(
        "Releases",
        1,
        ledger_table.MOST,
        10,
        key="accountant.releases",
        persist_state="session",
    )
    delta = right.number_input(
        "δ of the total",
        1e-15,
        0.49,
        sidebar.choice().delta,
        None,
        "%.1e",
        "accountant.delta_of_total",
        persist_state="session",
    )
    if total is None or releases is None or delta is None:
        raise BadInput("Give a total ε, a number of releases and a δ.")
    level = calibrate(
        lambda z: Repeat(Gaussian(z), int(releases)), Budget(epsilon=total, delta=delta)
    )
    each = epsilon_text(epsilon_of(Gaussian(level), delta))
    st.write(
        f"**Noise multiplier {level:.4g} for each of {releases:,} Gaussian releases.** One of"
        f" them alone would have ε = {each} at the same δ."
    )


def edit_by_hand(event: Event) -> None:
    st.session_state["accountant.held"] = ledger_table.rows_of(normal_form(event))
    st.session_state["accountant.source"] = "hand"


def main() -> None:
    heading = st.container()
    try:
        draw_account(heading)
    except BadInput:
        heading.title("An entry needs correcting", anchor=False)
        raise


def draw_account(heading: DeltaGenerator) -> None:
    """The cost of the ledger that is looked at, above it its headline. Raises BadInput."""
    start = st.query_params.get("from", "hand")
    st.session_state.setdefault("accountant.source", start if start in sources.SOURCES else "hand")
    choice = st.segmented_control(
        "Ledger",
        list(sources.SOURCES),
        required=True,
        key="accountant.source",
        format_func=lambda name: sources.SOURCES[name],
        persist_state="session",
    )
    source = choice or "hand"
    if source != "hand":
        links.put_in_address({"from": source, "ledger": None})
    event, delta, promise = {
        "hand": sources.by_hand,
        "plan": sources.from_plan,
        "run": sources.from_run,
        "claim": sources.from_claim,
    }[source]()
    if not promise.has_epsilon:
        st.info(promise.words)
        return
    ledger_table.check(event)
    if source != "hand" and normal_form(event):
        st.button(
            "Edit this ledger by hand",
            on_click=edit_by_hand,
            args=(event,),
            key="accountant.take",
        )
    with heading:
        draw_headline(event, delta, promise)
        who_sees_what.draw(WHO_SEES_WHAT)
    privacy_card.draw(event, promise, delta)
    st.header("What this ε means", anchor=False)
    privacy_card.meaning(event, delta, "accountant.meaning")
    growth.draw(event, delta)


def draw_headline(event: Event, delta: float, promise: privacy_card.Promise) -> None:
    """What all releases cost together."""
    releases, exact = sum(count for _, count in normal_form(event)), epsilon_of(event, delta)
    cost = epsilon_text(exact)
    if releases == 1:
        title = f"This release costs ε = {cost}"
    else:
        title = f"These {releases:,} releases cost ε = {cost}"
    st.title(title, anchor=False)
    full = epsilon_in_full(exact, delta, promise.unit)
    words = [linked(f"{full}, all together; not per release.")]
    if promise.unit != VALUE:
        most = epsilon_text(epsilon_of(event, delta, Relation.REPLACE_ONE))
        words.append(f"If a unit is replaced rather than removed: at most {most}.")
    st.write(" ".join(words))


for part in (main, calibration):
    try:
        part()
    except BadInput as error:
        safe_text.error(error, ENTRIES_KEPT)
