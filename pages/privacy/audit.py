"""Does an attack beat the claim? A measured lower bound on epsilon beside the proven one, for any algorithm."""

import pandas as pd
import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.audit import FAULTS, Audit, AuditSpec, rates
from dpmf_core.canaries import COLUMNS, UNITS, Unit, faults_of, protected, rounded
from dpmf_core.errors import BadInput
from pages.kit import charts, guarantee, runs, seen

SECRET = "secret"
PLANTED = {**FAULTS, SECRET: "one of these, or none: find out"}
CANARIES = {"user": "one person (or sample) more", "rating": "one rating more", "value": "another value of one rating"}


def asked() -> tuple[AuditSpec, bool]:
    """The audit that the controls describe, and whether its fault is a secret."""
    first, second, third = st.columns([2, 1, 1])
    linked = st.query_params.get("attack", "private-svd")
    names = list(REGISTRY)
    st.session_state.setdefault("audit.algorithm", linked if linked in names else "private-svd")
    name = first.selectbox(
        "Algorithm under attack", names, key="audit.algorithm", format_func=lambda it: f"{REGISTRY[it].title} ({it})", persist_state="session"
    )
    st.query_params["attack"] = name
    kind = REGISTRY[name]
    epsilon = second.number_input("Its ε", 0.01, 100.0, 2.0, 0.5, "%g", "audit.epsilon", persist_state="session", disabled="small-noise" not in faults_of(kind))
    count = third.number_input("Trainings", 40, 100_000, 1000, 500, key="audit.runs", persist_state="session", help="Half of them with the canary.")
    left, middle, right = st.columns([2, 1, 1])
    faults = [*faults_of(kind), SECRET]
    fault = left.selectbox("Plant a fault", faults, key=f"audit.fault.{name}", format_func=PLANTED.__getitem__, persist_state="session")
    own = protected(kind())
    units: list[Unit] = [own, *(unit for unit in CANARIES if unit != own and kind.task == "ratings")]  # type: ignore[list-item]
    unit = middle.selectbox("Canary", units, key=f"audit.unit.{name}", format_func=CANARIES.__getitem__, persist_state="session")
    seed = right.number_input("Seed of the audit", 0, 2**31, 0, key="audit.seed", persist_state="session")
    if epsilon is None or count is None or seed is None:
        raise BadInput("Give an ε, a number of trainings and a seed.")
    planted = faults[:-1][(7 * seed + 3) % (len(faults) - 1)] if fault == SECRET else fault
    budget = epsilon if "small-noise" in faults_of(kind) else None
    return AuditSpec.parse(algorithm=name, epsilon=budget, runs=count, seed=seed, fault=planted, unit=None if unit == own else unit), fault == SECRET


def finding(found: Audit, secret: bool) -> None:
    """The sentence first."""
    lower = f"{rounded(found.lower):.2f}"
    if found.proven is None:
        st.title(f"The attack shows ε ≥ {lower}; nothing is proved" if found.lower > 0 else "The attack finds nothing; nothing is proved either")
    elif found.broken:
        st.title(f"Caught: the attack shows ε ≥ {lower}, promised were at most {guarantee.shown(found.proven)}")
    elif found.lower > 0:
        st.title(f"The attack shows ε ≥ {lower}; proven are at most {guarantee.shown(found.proven)}")
    else:
        st.title(f"The attack finds nothing; proven are at most {guarantee.shown(found.proven)}")
    st.write(
        f"At 95% confidence and δ = {guarantee.small(found.spec.delta)}, from {found.spec.runs:,} trainings, half of them with the canary, "
        f"which could have shown {found.most:.1f} at most. "
        f"What gave most away: **{found.by}**. "
        + (
            "An attack that finds little proves nothing: a better one may find more."
            if not found.broken
            else "A sum is outside the ledger, or its noise is too small."
        )
    )
    if found.proven is not None and found.unit not in found.covered:
        st.info(f"What is proved is for one {found.covered[-1]}; this canary is a whole {found.unit}, of which the proof does not speak.")
    if secret:
        with st.expander("What had been planted?"):
            st.write(FAULTS[found.spec.fault].capitalize() + ".")


def figure(found: Audit) -> None:
    """The attack's errors beside what the proof leaves."""
    allowed = pd.DataFrame({"fpr": rates(), "fnr": found.allowed or [1 - rate for rate in rates()]})
    fig = charts.trade_off(allowed, "the proof" if found.allowed else "nothing proved")
    if not found.allowed:
        fig.data = fig.data[1:]
    fig.add_scatter(
        x=found.false_alarms, y=found.misses, mode="lines+markers", name="this attack", line={"color": charts.colour("spectral"), "width": 2.5},
        marker={"size": 4}, hovertemplate="%{x:.1%} false alarms, %{y:.1%} missed<extra></extra>",
    )  # fmt: skip
    table = pd.DataFrame({"false alarms": found.false_alarms, "misses": found.misses})
    middle = min(zip(found.false_alarms, found.misses, strict=True), key=sum)
    charts.show(fig, "audit.curve", f"The attack's errors: at best {middle[0]:.0%} false alarms with {middle[1]:.0%} missed.", table)
    where = "Where the orange line dips into the blue area by more than chance, the promise is broken. " if found.allowed else ""
    st.caption(where + "Rates are those of the half of the trainings that judged; the bound takes their upper 95% limits.")


def measured(found: Audit) -> None:
    """The claim, the proof, the measurement."""
    rows = [
        {"": "the promise", "ε": "none" if found.proven is None else f"at most {guarantee.shown(found.proven)}"},
        *({"": f"from {name}", "ε": f"at least {rounded(value):.2f}"} for name, value in found.each.items()),
        {"": "could be shown", "ε": f"{found.most:.1f}"},
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    if found.proven is not None:
        st.caption(f"ε of the whole run; {found.terms.replace('delta', 'δ')}.")
    st.markdown(f":{guarantee.BADGES[found.guarantee.status]}-badge[{found.guarantee.status}] {found.guarantee.words}")


def explained() -> None:
    with st.expander("How the attack works"):
        st.markdown(
            f"A small simulated world of {UNITS} people (or samples) and {COLUMNS} items (or features) is trained on again and again; every second time "
            "it holds a **canary**, as odd as the rules allow. Two attackers must tell the two kinds of trainings apart. One sees **all that is shared** and "
            "learns on half of the trainings which direction gives the canary away. The other sees **every noisy release**, knows the rest of the data, and "
            "scores by the likelihood ratio: nothing does better on releases. Thresholds are chosen on one half and judged on the other. The upper 95% "
            "limits of their error rates (Clopper & Pearson 1934) rule out every ε below the figure shown (Kairouz, Oh & Viswanath 2015; for Gaussian "
            "ledgers through μ: Dong, Roth & Su 2022)."
        )


def main() -> None:
    head = st.container()
    spec, secret = asked()
    with head:
        done = runs.wanted("audit", {"audit": spec})
        if "audit" not in done:
            st.title("Does an attack beat the claim?")
            st.write("Training again and again, with and without the canary.")
        else:
            finding(done["audit"], secret)
            left, right = st.columns([3, 2], gap="large")
            with left:
                figure(done["audit"])
            with right:
                measured(done["audit"])
    seen.draw(seen.AUDIT)
    explained()


try:
    main()
except BadInput as error:
    st.error(str(error))
    st.caption("Your settings are kept. Change the one named above.")
