"""What does this composition cost? Compose releases by hand, or load a run's, an algorithm's or a paper's, and account them by every rule."""

import pandas as pd
import streamlit as st

from dpmf_core.engine import engine
from dpmf_core.errors import BadInput
from dpmf_core.experiment import prepare
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Relation, Repeat, Status, calibrate, normal_form
from dpmf_core.privacy.accounting import delta as delta_of
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.claims import CLAIMS
from pages.kit import charts, guarantee, ledgers, sidebar

SOURCES = {"hand": "By hand", "plan": "The sidebar's algorithm", "run": "A stored run", "claim": "A paper's claim"}


def by_hand() -> tuple[Event, float]:
    """The table that a person edits; the link holds it."""
    if "accountant.rows" not in st.session_state:
        try:
            st.session_state["accountant.rows"] = ledgers.table(st.query_params.get("ledger", ledgers.START))
        except BadInput as error:
            st.warning(f"{error} An example is shown instead.")
            st.session_state["accountant.rows"] = ledgers.table(ledgers.START)
    rows = st.data_editor(
        st.session_state["accountant.rows"], num_rows="dynamic", hide_index=True, key="accountant.editor", width="stretch",
        column_config={
            "noise": st.column_config.SelectboxColumn(options=["Gaussian", "Laplace"], required=True, default="Gaussian"),
            "noise multiplier": st.column_config.NumberColumn(help="Noise scale over sensitivity", format="%.4g", default=10.0, required=True),
            "times": st.column_config.NumberColumn(help="How often it is released", format="%d", default=1, required=True),
            "released": st.column_config.TextColumn(help="A name for the statistic"),
            "replace-one factor": st.column_config.NumberColumn(help="How much more replacing a unit moves it, 1 to 2", default=2.0, format="%.4g"),
        },
    )  # fmt: skip
    event = ledgers.event_of(rows)
    st.query_params["ledger"] = ledgers.text_of(rows)
    return event, sidebar.choice().delta


def from_plan() -> tuple[Event, float]:
    choice = sidebar.choice()
    ready = prepare(choice.spec(), choice.shape, choice.assumptions)
    st.caption(f"{ready.algorithm.title} on {choice.entry.title}, as it would be run now; move ε in the sidebar.")
    return ready.plan, choice.delta


def from_run() -> tuple[Event, float]:
    kept = {row["key"]: row for row in engine().store.rows() if row["epsilon"]}
    if not kept:
        raise BadInput("No private run is stored yet. Explore makes one.")
    key = st.selectbox(
        "Run", list(kept), format_func=lambda k: f"{kept[k]['title']} on {kept[k]['dataset']}, ε = {kept[k]['epsilon']:g}, seed {kept[k]['seed']}"
    )
    run = engine().store.get(key)
    if run is None:
        raise BadInput("This run was deleted meanwhile. Choose another.")
    return ledgers.event_of(ledgers.rows_of_record(run.record)), float(run.record["delta"])


def from_claim() -> tuple[Event, float]:
    left, right = st.columns(2)
    which = left.selectbox("Source", list(CLAIMS))
    nominal = right.number_input("Its nominal ε", 0.01, 50.0, 0.5 if "Saha" in which else 1.0, key=f"accountant.nominal.{which}", format="%g", step=0.5)
    if nominal is None:
        raise BadInput("Give the nominal ε of the claim.")
    claims = CLAIMS[which](nominal)
    main = claims[0]
    exact = [(claim.title, relation, epsilon_of(claim.event, claim.delta, relation)) for claim in claims for relation in Relation]
    st.write(f"**{main.title}** says: {main.words} (δ = {main.delta:g}). Its noise costs, exactly, over the whole run:")
    st.dataframe(
        pd.DataFrame([{"noise": title, "neighbours": str(relation), "nominal ε": nominal, "exact total ε": f"{eps:.3f}"} for title, relation, eps in exact]),
        hide_index=True,
    )  # fmt: skip
    return main.event, main.delta


def growth(event: Event, delta: float) -> None:
    """Total epsilon as the whole ledger is repeated, and delta over epsilon."""
    left, right = st.columns(2, gap="large")
    times = (1, 2, 3, 5, 10, 20, 50, 100) if ledgers.all_gaussian(event) else (1, 2, 5, 10)
    totals = pd.DataFrame({"times": times, "epsilon": [epsilon_of(Repeat(event, n), delta) for n in times]})
    with left:
        st.markdown(f"**Repeated {times[-1]} times it costs ε = {totals['epsilon'].iloc[-1]:.3g}, not {times[-1]} × {totals['epsilon'].iloc[0]:.3g}**")
        fig = charts.figure("the whole ledger, repeated", "total ε", height=300)
        fig.add_scatter(x=totals["times"], y=totals["epsilon"], mode="lines+markers", name="exact", line={"color": charts.colour("dpals")})
        fig.add_scatter(
            x=totals["times"], y=totals["times"] * totals["epsilon"].iloc[0], mode="lines", name="sum of ε", line={"dash": "dash", "color": "#8b93a1"}
        )
        fig.update_xaxes(type="log")
        fig.update_yaxes(type="log")
        charts.show(fig, "accountant.growth", "Total epsilon as the ledger is repeated.", totals)
    top = max(1.0, 2.5 * float(totals["epsilon"].iloc[0]))
    curve = pd.DataFrame({"epsilon": [top * step / 40 for step in range(41)]})
    curve["delta"] = [max(delta_of(event, eps), 1e-18) for eps in curve["epsilon"]]
    with right:
        st.markdown("**Every ε has its δ: a run has a curve, not a pair**")
        fig = charts.figure("ε", "δ", height=300)
        fig.add_scatter(x=curve["epsilon"], y=curve["delta"], mode="lines", name="δ(ε)", line={"color": charts.colour("dpals")})
        fig.add_hline(y=delta, line={"dash": "dash", "color": "#8b93a1"}, annotation={"text": f"δ = {delta:g}"})
        fig.update_yaxes(type="log", exponentformat="power")
        charts.show(fig, "accountant.delta", "Delta as a function of epsilon.", curve)


def calibration() -> None:
    """The other way: a total to spend, over so many releases."""
    st.subheader("How much noise does a total ε ask for?")
    left, middle, right = st.columns(3)
    total = left.number_input("Total ε", 1e-4, 1000.0, 1.0, key="accountant.total", format="%g", step=0.5)
    releases = middle.number_input("Releases", 1, ledgers.MOST, 10, key="accountant.releases")
    delta = right.number_input("δ of the total", 1e-15, 0.49, sidebar.choice().delta, key="accountant.delta_of_total", format="%.0e", step=None)
    if None in (total, releases, delta):
        raise BadInput("Give a total ε, a number of releases and a δ.")
    level = calibrate(lambda z: Repeat(Gaussian(z), int(releases)), Budget(epsilon=total, delta=delta))
    each = epsilon_of(Gaussian(level), delta)
    st.write(f"**Noise multiplier {level:.4g} for each of {releases} releases.** One of them alone would have ε = {each:.3g} at the same δ.")


def main() -> None:
    heading = st.container()
    source = st.segmented_control("Ledger", list(SOURCES), default="hand", required=True, key="accountant.source", format_func=SOURCES.__getitem__)
    event, delta = {"hand": by_hand, "plan": from_plan, "run": from_run, "claim": from_claim}[source]()
    releases = sum(count for _, count in normal_form(event))
    with heading:
        st.title(
            f"These {releases:,} releases cost ε = {epsilon_of(event, delta):.2f}" if releases > 1 else f"This release costs ε = {epsilon_of(event, delta):.2f}"
        )
        st.write(f"{guarantee.full(epsilon_of(event, delta), delta, 'unit')}, all together; not per release.")
    guarantee.card(event, Guarantee(Status.CONDITIONAL, "unit", ("every release of the run is listed here, with the noise multiplier it has",)), delta)
    st.subheader("What this ε means")
    guarantee.meaning(event, delta, "accountant.meaning")
    growth(event, delta)


try:
    main()
except BadInput as error:
    st.error(str(error))
    st.caption("Your entries are kept. Change the one named above.")
try:
    calibration()
except BadInput as error:
    st.error(str(error))
