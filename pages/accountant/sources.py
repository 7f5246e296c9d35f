"""Where a ledger comes from: a table made by hand, the sidebar's plan, a stored run, or a paper."""

import streamlit as st

from dpmf_core.engine.executor import engine
from dpmf_core.errors import BadInput
from dpmf_core.language import phrase
from dpmf_core.papers.source_noise import SOURCE_NOISE
from dpmf_core.privacy import Event, Guarantee, Status
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.runs.planning import prepare
from pages.accountant import ledger_table
from pages.kit import links, privacy_card, safe_text, sidebar
from pages.kit.language import say

SOURCES = {
    "hand": phrase("By hand"),
    "plan": phrase("The sidebar's algorithm"),
    "run": phrase("A stored run"),
    "claim": phrase("A paper's claim"),
}
HERE = Guarantee(
    Status.CONDITIONAL,
    "unit",
    (phrase("every release of the run is listed here, with the noise multiplier it has"),),
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
                instead = say("An example is shown instead.")
                st.warning(safe_text.escape(f"{say(complaint)} {instead}"))
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
        say(
            "{name} on {data}, as it would be run now; move ε in the sidebar.",
            name=phrase(ready.algorithm.title),
            data=phrase(choice.entry.title),
        )
    )
    return ready.plan, choice.delta, ready.guarantee


def from_run() -> tuple[Event, float, privacy_card.Promise]:
    rows = {row["key"]: row for row in engine().store.rows() if row["epsilon"] and row["public"]}
    if not rows:
        raise BadInput(phrase("No private run is stored yet. Explore makes one."))
    names = {
        key: say(
            "{name} on {data}, ε = {epsilon}, seed {seed}",
            name=phrase(row["title"]),
            data=row["dataset"],
            epsilon=epsilon_text(row["epsilon"]),
            seed=row["seed"],
        )
        for key, row in rows.items()
    }
    run_key = st.selectbox(
        say("run").capitalize(), list(rows), format_func=names.__getitem__, key="accountant.run"
    )
    run = engine().store.get(run_key)
    if run is None:
        raise BadInput(phrase("This run was deleted meanwhile. Choose another."))
    return (
        run.record.event,
        run.record.delta or 0.0,
        run.record.guarantee,
    )


def from_claim() -> tuple[Event, float, privacy_card.Promise]:
    left, right = st.columns(2)
    which = left.selectbox(
        say("Source"),
        list(SOURCE_NOISE),
        key="accountant.claim",
        persist_state="session",
        format_func=lambda name: say(SOURCE_NOISE[name].id),
    )
    start = SOURCE_NOISE[which].usual_epsilon
    nominal = right.number_input(
        say("Its nominal ε"),
        0.01,
        50.0,
        start,
        0.5,
        "%g",
        f"accountant.nominal.{which}",
        persist_state="session",
    )
    if nominal is None:
        raise BadInput(phrase("Give the nominal ε of the claim."))
    main = SOURCE_NOISE[which].claims(nominal)[0]
    st.write(
        say(
            "**{title}** says: {words} (δ = {delta}). Its noise costs, over the whole run:",
            title=main.title,
            words=main.words,
            delta=delta_text(main.delta),
        )
    )
    safe_text.table(ledger_table.costs_of(SOURCE_NOISE[which].claims(nominal), nominal))
    return (
        main.event,
        main.delta,
        Guarantee(
            Status.CONDITIONAL,
            "unit",
            (phrase("the source's releases and sensitivities are as it states them"),),
        ),
    )
