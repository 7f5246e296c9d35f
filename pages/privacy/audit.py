"""Does an attack beat the claim? A measured lower bound on epsilon beside the proven one, for any algorithm."""

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.audit import FAULTS, Audit, rates
from dpmf_core.canaries import COLUMNS, UNITS, rounded
from dpmf_core.errors import BadInput
from pages.kit import charts, guarantee, runs, said, seen
from pages.kit.attacked import controls


def finding(found: Audit, secret: bool) -> None:
    """The sentence first."""
    name = algorithms.REGISTRY[found.spec.algorithm].title  # and not what was planted in it
    attack = f"The attack on {name} " + (f"shows ε ≥ {rounded(found.lower):.2f}" if found.lower > 0 else "finds nothing")
    if found.proven is None:
        st.title(f"{attack}; nothing is proved", anchor=False)
    elif found.broken:
        st.title(f"Caught. {attack}, and at most {guarantee.shown(found.proven)} was promised", anchor=False)
    else:
        st.title(f"{attack}; at most {guarantee.shown(found.proven)} is proved", anchor=False)
    st.write(
        f"At 95% confidence and δ = {guarantee.small(found.spec.delta)}, from {found.spec.runs:,} trainings, half of them with the canary. "
        f"The most that so many could show, were nothing hidden: {rounded(found.most):.2f}. The stronger attack: **{found.by}**. "
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
    charts.show(fig, "audit.curve", f"The attack's errors: at best {middle[0]:.0%} false alarms with {middle[1]:.0%} missed.", table, leaves=True)
    where = "Where the orange line dips into the blue area by more than chance, the promise is broken. " if found.allowed else ""
    st.caption(where + "Rates are those of the half of the trainings that judged; the bound takes their upper 95% limits.")


def measured(found: Audit) -> None:
    """The claim, the proof, the measurement."""
    rows = [
        {"ε": "none" if found.proven is None else f"≤ {guarantee.shown(found.proven)}", "by": "the promise"},
        *({"ε": f"≥ {rounded(value):.2f}", "by": name} for name, value in found.each.items()),
        {"ε": f"≥ {rounded(found.most):.2f}", "by": "were nothing hidden"},
    ]
    said.table(pd.DataFrame(rows))
    if found.proven is not None:
        st.caption(f"ε of the whole run; {found.terms.replace('delta', 'δ')}.")
    if found.broken:
        st.markdown(":red-badge[BROKEN] The claim does not hold for what ran here. Without the fault it says:")
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
    spec, secret = controls()
    with head:
        done = runs.wanted("audit", {"audit": spec})
        if "audit" not in done:
            st.title("Does an attack beat the claim?", anchor=False)
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
    said.error(error)
