"""What does this composition cost?

Compose releases by hand, or load those of a run, a method or a paper, and account them by every
rule.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.papers.source_noise import SOURCE_NOISE
from dpmf_core.privacy import (
    VALUE,
    Event,
    Guarantee,
    Relation,
    Status,
    neighbours,
    normal_form,
)
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.formatting import (
    budget_text,
    delta_text,
    epsilon_in_full,
    epsilon_text,
)
from dpmf_core.runs.planning import prepare
from dpmf_core.teaching.glossary import linked
from pages.accountant import ledger, own_accounts
from pages.kit import sidebar
from pages.kit.base import links, safe_text
from pages.kit.controls.session_widgets import PageValue, number_within
from pages.kit.privacy import privacy_card
from pages.kit.privacy.privacy_card import Promise

Loaded = tuple[Event, float, Promise]  # a ledger, its delta and its guarantee
HERE = Guarantee(
    Status.CONDITIONAL,
    "unit",
    ("the ledger lists every release of the run with its true noise multiplier",),
)
STATED = Guarantee(
    Status.CONDITIONAL,
    "unit",
    ("the source states its releases and sensitivities correctly",),
)


# ---- where a ledger comes from -------------------------------------------------------------------


def by_hand() -> Loaded:
    """Draw the editable table. The link holds it; so does the session while the table is hidden."""
    state = st.session_state
    if "accountant.editor" not in state:
        if "accountant.held" not in state:
            text = PageValue(
                "accountant.text", "ledger", ledger.START, ledger.checked_text
            )
            text.start()
            state["accountant.held"] = ledger.table(text.value)
        state["accountant.rows"] = state["accountant.held"]
    rows = st.data_editor(
        state["accountant.rows"],
        num_rows="dynamic",
        hide_index=True,
        key="accountant.editor",
        column_config=ledger.columns(),
    )
    state["accountant.held"] = rows.reset_index(drop=True)
    event = ledger.event_of(rows)
    links.put_in_address({"ledger": ledger.text_of(rows)})
    return event, sidebar.choice().delta, HERE


def from_plan() -> Loaded:
    choice = sidebar.choice()
    ready = prepare(choice.spec(), choice.shape, choice.assumptions)
    st.caption(
        f"{ready.algorithm.title} on {choice.entry.title} with the sidebar's settings."
    )
    return ready.plan, choice.delta, ready.guarantee


def from_run() -> Loaded:
    names = {
        row[
            "key"
        ]: f"{row['title']} on {row['dataset']}, ε = {epsilon_text(row['epsilon'])},"
        f" seed {row['seed']}"
        for row in engine().store.rows()
        if row["epsilon"] and row["public"]
    }
    if not names:
        raise BadInput("No private run is stored yet. Train one on Explore.")
    run_key = st.selectbox(
        "Run",
        names,
        format_func=names.__getitem__,
        key="accountant.run",
        persist_state="session",
    )
    run = engine().store.get(run_key)
    if run is None:
        raise BadInput("This run has been deleted. Choose another.")
    return run.record.event, run.record.delta or 0.0, run.record.guarantee


def from_claim() -> Loaded:
    left, right = st.columns(2)
    which = left.selectbox(
        "Source",
        SOURCE_NOISE,
        format_func=lambda name: SOURCE_NOISE[name].id,
        key="accountant.claim",
        persist_state="session",
    )
    source = SOURCE_NOISE[which]
    nominal = number_within(
        right.container(),
        "Nominal ε",
        f"accountant.nominal.{which}",
        0.01,
        50.0,
        first=source.usual_epsilon,
    )
    claims = source.claims(nominal)
    main = claims[0]
    st.write(
        f"**{main.title}** says: {main.words} (δ = {delta_text(main.delta)}). The noise of the"
        " whole run costs:"
    )
    rows = []
    for claim in claims:
        row = {"the same noise": claim.title, "nominal ε": budget_text(nominal)}
        for relation in Relation:
            exact = epsilon_of(claim.event, claim.delta, relation)
            row[f"exact total ε, {neighbours('unit', relation)}"] = epsilon_text(exact)
        rows.append(row)
    safe_text.table(rows)
    return main.event, main.delta, STATED


SOURCES = {
    "hand": ("By hand", by_hand),
    "plan": ("The sidebar's method", from_plan),
    "run": ("A stored run", from_run),
    "claim": ("A paper's claim", from_claim),
}


# ---- what it costs -------------------------------------------------------------------------------


def edit_by_hand(event: Event) -> None:
    st.session_state["accountant.held"] = ledger.rows_of(normal_form(event))
    st.session_state["accountant.source"] = "hand"


def choose_source() -> str:
    """Ask where the ledger comes from. A link that says so wins over the session."""
    state = st.session_state
    in_link = st.query_params.get("from")
    if in_link in SOURCES and in_link != state.get("accountant.address"):
        is_shown = state.get("accountant.source", in_link) == in_link
        state["accountant.source"] = state["accountant.address"] = in_link
        if not is_shown:
            st.rerun()  # the sidebar was drawn for another source
    state.setdefault("accountant.source", "hand")
    source = st.segmented_control(
        "Ledger",
        SOURCES,
        format_func=lambda name: SOURCES[name][0],
        key="accountant.source",
        persist_state="session",
        required=True,
    )
    links.put_in_address({"from": source})
    state["accountant.address"] = source
    return source or "hand"


def draw_account(heading: DeltaGenerator) -> None:
    source = choose_source()
    if source != "hand":
        links.put_in_address({"ledger": None})
    event, delta, promise = SOURCES[source][1]()
    if not promise.has_epsilon:
        st.info(promise.words)
        return
    ledger.check(event)
    if source != "hand" and normal_form(event):
        st.button(
            "Edit this ledger by hand",
            on_click=edit_by_hand,
            args=(event,),
            key="accountant.take",
        )
    with heading:
        draw_headline(event, delta, promise)
    privacy_card.draw(event, promise, delta)
    st.header("What this ε means", anchor=False)
    privacy_card.meaning(event, delta, promise.unit, "accountant.meaning")
    ledger.draw_figures(event, delta)


def draw_headline(event: Event, delta: float, promise: Promise) -> None:
    is_example = st.query_params.get("ledger") == ledger.START
    releases = sum(count for _, count in normal_form(event))
    exact = epsilon_of(event, delta)
    what = f"These {releases:,} releases cost"
    if is_example:
        what = f"Example: {releases} releases cost"
    elif releases == 1:
        what = "This release costs"
    own_accounts.draw_heading(f"{what} ε = {epsilon_text(exact)}")
    words = linked(
        f"{epsilon_in_full(exact, delta, promise.unit)}, in total, not per release."
    )
    if promise.unit != VALUE:
        most = epsilon_text(epsilon_of(event, delta, Relation.REPLACE_ONE))
        words += f" If a unit is replaced rather than removed: at most {most}."
    if is_example:
        words += " To account for your own releases, choose or edit the ledger below."
    st.write(words)


own_accounts.draw_with(draw_account)
