"""What does this composition cost? Compose releases by hand, or load a run's, an algorithm's or a paper's, and account them by every rule."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.engine import engine
from dpmf_core.errors import BadInput
from dpmf_core.experiment import prepare
from dpmf_core.glossary import linked
from dpmf_core.privacy import VALUE, Budget, Event, Gaussian, Guarantee, Relation, Repeat, Status, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.claims import CLAIMS
from pages.kit import charts, guarantee, ledgers, links, said, seen, sidebar

SOURCES = {"hand": "By hand", "plan": "The sidebar's algorithm", "run": "A stored run", "claim": "A paper's claim"}
HERE = Guarantee(Status.CONDITIONAL, "unit", ("every release of the run is listed here, with the noise multiplier it has",))


def by_hand() -> tuple[Event, float, Guarantee]:
    """The table that a person edits; the link holds it, and the session while the table is out of sight."""
    state = st.session_state
    if "accountant.editor" not in state:
        if "accountant.held" not in state:
            state["accountant.held"], complaint = ledgers.linked(st.query_params.get("ledger", ledgers.START))
            if complaint:
                st.warning(said.harmless(f"{complaint} An example is shown instead."))
        state["accountant.rows"] = state["accountant.held"]
    rows = st.data_editor(state["accountant.rows"], num_rows="dynamic", hide_index=True, key="accountant.editor", column_config=ledgers.COLUMNS)
    state["accountant.held"] = rows.reset_index(drop=True)
    event = ledgers.event_of(rows)
    links.tell({"from": "hand", "ledger": ledgers.text_of(rows)})
    return event, sidebar.choice().delta, HERE


def from_plan() -> tuple[Event, float, Guarantee]:
    choice = sidebar.choice()
    ready = prepare(choice.spec(), choice.shape, choice.assumptions)
    st.caption(f"{ready.algorithm.title} on {choice.entry.title}, as it would be run now; move ε in the sidebar.")
    return ready.plan, choice.delta, ready.guarantee


def from_run() -> tuple[Event, float, Guarantee]:
    kept = {row["key"]: row for row in engine().store.rows() if row["epsilon"] and row["public"]}
    if not kept:
        raise BadInput("No private run is stored yet. Explore makes one.")
    names = {key: f"{row['title']} on {row['dataset']}, ε = {guarantee.shown(row['epsilon'])}, seed {row['seed']}" for key, row in kept.items()}
    run = engine().store.get(st.selectbox("Run", list(kept), format_func=names.__getitem__, key="accountant.run"))
    if run is None:
        raise BadInput("This run was deleted meanwhile. Choose another.")
    return ledgers.event_of_record(run.record), float(run.record["delta"]), ledgers.guarantee_of_record(run.record)


def from_claim() -> tuple[Event, float, Guarantee]:
    left, right = st.columns(2)
    which = left.selectbox("Source", list(CLAIMS), key="accountant.claim", persist_state="session")
    start = 0.5 if "Saha" in which else 1.0
    nominal = right.number_input("Its nominal ε", 0.01, 50.0, start, 0.5, "%g", f"accountant.nominal.{which}", persist_state="session")
    if nominal is None:
        raise BadInput("Give the nominal ε of the claim.")
    main = CLAIMS[which](nominal)[0]
    st.write(f"**{main.title}** says: {main.words} (δ = {guarantee.small(main.delta)}). Its noise costs, over the whole run:")
    said.table(ledgers.costs_of(CLAIMS[which](nominal), nominal))
    return main.event, main.delta, Guarantee(Status.CONDITIONAL, "unit", ("the source's releases and sensitivities are as it states them",))


def growth(event: Event, delta: float) -> None:
    """Total epsilon as the whole ledger is repeated, and delta over epsilon."""
    left, right = st.columns(2, gap="large")
    ours, grey = {"color": charts.colour("dpals")}, {"dash": "dash", "color": "#8b93a1"}
    totals = ledgers.totals(event, delta)
    last, once, total = int(totals["times"].iloc[-1]), totals["epsilon"].iloc[0], totals["epsilon"].iloc[-1]
    with left:
        st.markdown(f"**{last} times over it costs ε = {guarantee.shown(total)}, not {last} × {guarantee.shown(once)} = {guarantee.shown(last * once)}**")
        fig = charts.figure("the whole ledger, repeated", "total ε", height=300)
        fig.add_scatter(x=totals["times"], y=totals["epsilon"], mode="lines+markers", name="exact", line=ours)
        fig.add_scatter(x=totals["times"], y=totals["times"] * once, mode="lines", name="sum of ε", line=grey)
        fig.update_xaxes(type="log", tickvals=totals["times"])
        fig.update_yaxes(type="log")
        charts.show(fig, "accountant.growth", "Total epsilon as the ledger is repeated.", totals, leaves=True)
    curve = ledgers.deltas(event, once)
    with right:
        st.subheader("Every ε has its δ: a run has a curve, not a pair", anchor=False)
        fig = charts.figure("ε", "δ", height=300)
        fig.add_scatter(x=curve["epsilon"], y=curve["delta"], mode="lines", name="δ(ε)", line=ours)
        fig.add_hline(y=delta, line=grey, annotation={"text": f"δ = {guarantee.small(delta)}"})
        fig.update_yaxes(type="log", exponentformat="power")
        charts.show(fig, "accountant.delta", "Delta as a function of epsilon.", curve, leaves=True)


def calibration() -> None:
    """The other way: a total to spend, over so many releases."""
    st.header("How much noise does a total ε ask for?", anchor=False)
    left, middle, right = st.columns(3)
    total = left.number_input("Total ε", 1e-4, 1000.0, 1.0, 0.5, "%g", "accountant.total", persist_state="session")
    releases = middle.number_input("Releases", 1, ledgers.MOST, 10, key="accountant.releases", persist_state="session")
    delta = right.number_input("δ of the total", 1e-15, 0.49, sidebar.choice().delta, None, "%.1e", "accountant.delta_of_total", persist_state="session")
    if total is None or releases is None or delta is None:
        raise BadInput("Give a total ε, a number of releases and a δ.")
    level = calibrate(lambda z: Repeat(Gaussian(z), int(releases)), Budget(epsilon=total, delta=delta))
    each = guarantee.shown(epsilon_of(Gaussian(level), delta))
    st.write(f"**Noise multiplier {level:.4g} for each of {releases:,} Gaussian releases.** One of them alone would have ε = {each} at the same δ.")


def take(event: Event) -> None:
    st.session_state["accountant.held"] = ledgers.rows_of(normal_form(event))
    st.session_state["accountant.source"] = "hand"


def main() -> None:
    heading = st.container()
    try:
        told(heading)
    except BadInput:
        heading.title("An entry needs correcting", anchor=False)
        raise


def told(heading: DeltaGenerator) -> None:
    """The cost of the ledger that is looked at, above it its headline. Raises BadInput."""
    asked = st.query_params.get("from", "hand")
    st.session_state.setdefault("accountant.source", asked if asked in SOURCES else "hand")
    picked = st.segmented_control("Ledger", list(SOURCES), required=True, key="accountant.source", format_func=SOURCES.__getitem__, persist_state="session")
    source = picked or "hand"
    if source != "hand":
        links.tell({"from": source, "ledger": None})
    event, delta, given = {"hand": by_hand, "plan": from_plan, "run": from_run, "claim": from_claim}[source]()
    if not given.has_epsilon:
        st.info(given.words)
        return
    ledgers.check(event)
    releases, exact = sum(count for _, count in normal_form(event)), epsilon_of(event, delta)
    if source != "hand" and releases:
        st.button("Edit this ledger by hand", on_click=take, args=(event,), key="accountant.take")
    with heading:
        st.title(f"{f'These {releases:,} releases cost' if releases != 1 else 'This release costs'} ε = {guarantee.shown(exact)}", anchor=False)
        replaced = f" If a unit is replaced rather than removed: at most {guarantee.shown(epsilon_of(event, delta, Relation.REPLACE_ONE))}."
        full = linked(guarantee.full(exact, delta, given.unit))
        st.write(f"{full}, all together; not per release." + replaced * (given.unit != VALUE))
        seen.draw(seen.ACCOUNTANT)
    guarantee.card(event, given, delta)
    st.header("What this ε means", anchor=False)
    guarantee.meaning(event, delta, "accountant.meaning")
    growth(event, delta)


for part in (main, calibration):
    try:
        part()
    except BadInput as error:
        said.error(error, "Your entries are kept. Change the one named above.")
