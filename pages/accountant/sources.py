"""Where a ledger comes from: a table made by hand, the sidebar's plan, a stored run, or a paper."""

import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.papers.source_noise import SOURCE_NOISE
from dpmf_core.privacy import Event, Guarantee, Status
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.runs.planning import prepare
from pages.accountant import ledger_table
from pages.kit import links, privacy_card, safe_text, sidebar

SOURCES = {
    "hand": "By hand",
    "plan": "The sidebar's algorithm",
    "run": "A stored run",
    "claim": "A paper's claim",
}
HERE = Guarantee(
    Status.CONDITIONAL,
    "unit",
    ("every release of the run is listed here, with the noise multiplier it has",),
)


def by_hand() -> tuple[Event, float, privacy_card.Promise]:
    """The table that a person edits; the link holds it, and the session while the table is out
    of sight.
    """
    state = st.session_state
    if "accountant.editor" not in state:
        if "accountant.held" not in state:
            state["accountant.held"], complaint = ledger_table.from_link(
                st.query_params.get("ledger", ledger_table.START)
            )
            if complaint:
                instead = "An example is shown instead."
                st.warning(safe_text.escape(f"{complaint} {instead}"))
        state["accountant.rows"] = state["accountant.held"]
    rows = st.data_editor(
        state["accountant.rows"],
        num_rows="dynamic",
        hide_index=True,
        key="accountant.editor",
        column_config=ledger_table.columns(),
    )
    state["accountant.held"] = rows.reset_index(drop=True)
    event = ledger_table.event_of(rows)
    links.put_in_address({"from": "hand", "ledger": ledger_table.text_of(rows)})
    return event, sidebar.choice().delta, HERE


def from_plan() -> tuple[Event, float, privacy_card.Promise]:
    choice = sidebar.choice()
    ready = prepare(choice.spec(), choice.shape, choice.assumptions)
    st.caption(
        f"{ready.algorithm.title} on {choice.entry.title}, as it would be run now; move ε in"
        " the sidebar."
    )
    return ready.plan, choice.delta, ready.guarantee


def from_run() -> tuple[Event, float, privacy_card.Promise]:
    rows = {row["key"]: row for row in engine().store.rows() if row["epsilon"] and row["public"]}
    if not rows:
        raise BadInput("No private run is stored yet. Explore makes one.")
    names = {
        key: (
            f"{row['title']} on {row['dataset']}, ε = {epsilon_text(row['epsilon'])}, seed"
            f" {row['seed']}"
        )
        for key, row in rows.items()
    }
    run_key = st.selectbox(
        "run".capitalize(), list(rows), format_func=names.__getitem__, key="accountant.run"
    )
    run = engine().store.get(run_key)
    if run is None:
        raise BadInput("This run was deleted meanwhile. Choose another.")
    return (
        run.record.event,
        run.record.delta or 0.0,
        run.record.guarantee,
    )


def from_claim() -> tuple[Event, float, privacy_card.Promise]:
    left, right = st.columns(2)
    which = left.selectbox(
        "Source",
        list(SOURCE_NOISE),
        key="accountant.claim",
        persist_state="session",
        format_func=lambda name: SOURCE_NOISE[name].id,
    )
    start = SOURCE_NOISE[which].usual_epsilon
    nominal = right.number_input(
        "Its nominal ε",
        0.01,
        50.0,
        start,
        0.5,
        "%g",
        f"accountant.nominal.{which}",
        persist_state="session",
    )
    if nominal is None:
        raise BadInput("Give the nominal ε of the claim.")
    main = SOURCE_NOISE[which].claims(nominal)[0]
    st.write(
        f"**{main.title}** says: {main.words} (δ = {delta_text(main.delta)}). Its noise"
        " costs, over the whole run:"
    )
    safe_text.table(ledger_table.costs_of(SOURCE_NOISE[which].claims(nominal), nominal))
    return (
        main.event,
        main.delta,
        Guarantee(
            Status.CONDITIONAL,
            "unit",
            ("the source's releases and sensitivities are as it states them",),
        ),
    )
