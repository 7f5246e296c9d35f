"""Does an attack beat the claim? A measured lower bound on epsilon beside the proven one, for any algorithm."""

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.audit import FAULTS, Audit, AuditSpec, rates
from dpmf_core.canaries import COLUMNS, UNITS, rounded
from dpmf_core.engine import engine
from dpmf_core.errors import BadInput
from pages.kit import charts, forecast, guarantee, runs, said, seen
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
        f"The test that shows most: **{found.best.rule}**, on **{found.by}**. {lost(found)}"
    )
    if found.proven is not None and found.unit not in found.covered:
        st.info(f"What is proved is for one {found.covered[-1]}; this canary is a whole {found.unit}, of which the proof does not speak.")
    if secret:
        with st.expander("What had been planted?"):
            st.write(FAULTS[found.spec.fault].capitalize() + ".")
            st.caption(rule(found))


def rule(found: Audit) -> str:
    """Why bounds go through mu, or may not."""
    return found.rule.replace("mu ", "μ ").replace("epsilon", "ε")


def lost(found: Audit) -> str:
    """What the measurement leaves open."""
    if found.broken:
        return "A sum is outside the ledger, or its noise is too small."
    if found.lost is None or found.proven is None:
        return "An attack that finds little proves nothing: a better one may find more."
    return f"The canary itself lost {guarantee.shown(found.lost)}: no attack on these releases shows more, with however many trainings."


def figure(found: Audit) -> None:
    """The attack's errors beside what the proof leaves."""
    allowed = pd.DataFrame({"fpr": rates(), "fnr": found.allowed or [1 - rate for rate in rates()]})
    fig = charts.trade_off(allowed, "the proof" if found.allowed else "nothing proved")
    if not found.allowed:
        fig.data = fig.data[1:]
    fig.add_scatter(
        x=found.best.false_alarms, y=found.best.misses, mode="lines+markers", name="this attack", line={"color": charts.colour("spectral"), "width": 2.5},
        marker={"size": 4}, hovertemplate="%{x:.1%} false alarms, %{y:.1%} missed<extra></extra>",
    )  # fmt: skip
    table = pd.DataFrame({"false alarms": found.best.false_alarms, "misses": found.best.misses})
    middle = min(zip(found.best.false_alarms, found.best.misses, strict=True), key=sum)
    charts.show(fig, "audit.curve", f"The attack's errors: at best {middle[0]:.0%} false alarms with {middle[1]:.0%} missed.", table, leaves=True)
    where = "Where the orange line dips into the blue area by more than chance, the promise is broken. " if found.allowed else ""
    st.caption(where + "Rates are those of the trainings that judged, as they were counted.")


def measured(found: Audit) -> None:
    """Every epsilon with what it means."""
    rows = [{"ε": figure.words, "by": figure.name, "what it means": figure.meaning} for figure in found.figures]
    said.table(pd.DataFrame(rows), column_config={"ε": st.column_config.TextColumn(width=70), "by": st.column_config.TextColumn(width=140)})


def terms(found: Audit, secret: bool) -> None:
    """What the canary was, by which rule bounds were found, and the claim."""
    if found.proven is not None:
        st.caption(f"ε of the whole run; {found.terms.replace('delta', 'δ')}.")
    st.caption(f"The canary: {found.canary}." + ("" if secret else f" {rule(found)}"))  # a rule would name a secret fault
    if found.broken:
        st.markdown(":red-badge[BROKEN] The claim does not hold for what ran here. Without the fault it says:")
    st.markdown(f":{guarantee.BADGES[found.guarantee.status]}-badge[{found.guarantee.status}] {found.guarantee.words}")


def explained() -> None:
    with st.expander("How the attack works"):
        st.markdown(
            f"A small simulated world of {UNITS} people (or samples) and {COLUMNS} items (or features) is trained on again and again; every second time "
            "it holds a **canary**. The auditor may choose all data and knows the public start, so of a few worlds she takes the one whose canary moves the "
            "releases furthest. Two attackers must tell the two kinds of trainings apart. One sees **all that is shared** and learns on half of the trainings "
            "which direction gives the canary away. The other sees **every noisy release**, knows the rest of the data, and scores by the likelihood ratio: "
            "nothing does better on releases.\n\n"
            "- **Lost by this canary**: how far it moved the releases, in terms of the noise that was drawn. It is computed, and no attack on these releases "
            "shows more.\n"
            "- **Pair test**: one training without the canary and one with it, which is which? Where every release has Gaussian noise, a run of parameter μ "
            "is guessed right with probability at most Φ(μ/√2); surer answers count more.\n"
            "- **Error rates**: false alarms and misses at a threshold that is chosen on one half of the trainings and judged on the other. Their upper limits "
            "(Clopper & Pearson 1934) rule out every ε below the figure (Kairouz, Oh & Viswanath 2015), whatever the noise: the only rule where a sum left "
            "the ledger, a start was computed from the data, or the noise is not Gaussian.\n\n"
            "The 5% in which a bound may be wrong are shared beforehand: 2% for the pair test on the releases and 1% for each of the other three; where there "
            "is no pair test, in equal parts."
        )


def _measured(spec: AuditSpec) -> dict[str, Audit]:
    """The audit, once it has ended; a long one waits for its button."""
    long = forecast.cost(spec)
    if not engine().had(spec) and not runs.confirmed("audit", long, f"{spec.runs:,} trainings", spec.model_dump_json()):
        return {}
    return runs.wanted("audit", {"audit": spec}, asked=long > engine().limits.ask_seconds)


def main() -> None:
    head = st.container()
    spec, secret = controls()
    with head:
        done = _measured(spec)
        if "audit" not in done:
            st.title("Does an attack beat the claim?", anchor=False)
            st.write("Training again and again, with and without the canary.")
        else:
            finding(done["audit"], secret)
            measured(done["audit"])
            left, right = st.columns([3, 2], gap="large")
            with left:
                figure(done["audit"])
            with right:
                terms(done["audit"], secret)
    seen.draw(seen.AUDIT)
    explained()


try:
    main()
except BadInput as error:
    said.error(error)
