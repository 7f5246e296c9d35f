"""Does an attack beat the claim?

A measured lower bound on epsilon beside the proven one, for any algorithm.
"""

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.audit.bounds import TITLES
from dpmf_core.audit.canaries import FAULTS, rounded
from dpmf_core.audit.canary_data import COLUMNS, UNITS
from dpmf_core.audit.membership_inference import Audit, AuditSpec, rates
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import Relation, neighbours
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from pages.audit.controls import draw
from pages.audit.schematic import WHO_SEES_WHAT
from pages.kit import (
    charts,
    colours,
    line_labels,
    privacy_card,
    run_progress,
    safe_text,
    time_estimate,
    who_sees_what,
)

WORLD = (
    "A small simulated world of {units} people (or samples) and {columns} items (or features) is"
    " trained on again and again; every second time it holds a **canary**. The auditor may choose"
    " all data and knows the public start, so of a few worlds she takes the one whose canary moves"
    " the releases furthest. Two attackers must tell the two kinds of trainings apart. One sees"
    " **all that is shared** and learns on half of the trainings which direction gives the canary"
    " away. The other sees **every noisy release**, knows the rest of the data, and scores by the"
    " likelihood ratio: nothing does better on releases."
)
PRIVACY_LOSS = (
    "**Lost by this canary**: how far it moved the releases, in terms of the noise that was drawn."
    " It is computed, and no attack on these releases shows more."
)
PAIR_TEST = (
    "**Pair test**: one training without the canary and one with it, which is which? Where every"
    " release has Gaussian noise, a run of parameter μ is guessed right with probability at most"
    " Φ(μ/√2); surer answers count more."
)
ERROR_RATES = (
    "**Error rates**: false alarms and misses at a threshold that is chosen on one half of the"
    " trainings and judged on the other. Their upper limits (Clopper & Pearson 1934) rule out every"
    " ε below the figure (Kairouz, Oh & Viswanath 2015), whatever the noise: the only rule where a"
    " sum left the ledger, a start was computed from the data, or the noise is not Gaussian."
)
SHARES = (
    "The 5% in which a bound may be wrong are shared beforehand: 2% for the pair test on the"
    " releases and 1% for each of the other three; where there is no pair test, in equal parts."
)


def finding(audit: Audit, secret: bool) -> None:
    """The sentence first."""
    st.title(headline(audit), anchor=False)
    sentence = (
        f"At 95% confidence and δ = {delta_text(audit.spec.delta)}, from {audit.spec.runs:,}"
        " trainings, half of them with the canary. The test that shows most:"
        f" **{TITLES[audit.best.rule]}**, on **{TITLES[audit.by]}**."
    )
    st.write(f"{sentence} {canary_text(audit)}")
    if audit.proven is not None and audit.unit not in audit.covered_units:
        st.info(
            f"What is proved is for one {audit.covered_units[-1]}; this canary is a whole"
            f" {audit.unit}, of which the proof does not speak."
        )
    if secret:
        with st.expander("What had been planted?"):
            st.write(f"What was planted: {FAULTS[audit.spec.fault]}.")
            st.caption(audit.rule)


def headline(audit: Audit) -> str:
    """What was found, beside what is proved."""
    name = algorithms.REGISTRY[audit.spec.algorithm].title  # not what was planted in it
    lower, proven = f"{rounded(audit.lower):.2f}", epsilon_text(audit.proven)
    if audit.proven is None:
        if audit.lower > 0:
            return f"The attack on {name} shows ε ≥ {lower}; nothing is proved"
        return f"The attack on {name} finds nothing; nothing is proved"
    if audit.broken:
        return f"Caught. The attack on {name} shows ε ≥ {lower}, and at most {proven} was promised"
    if audit.lower > 0:
        return f"The attack on {name} shows ε ≥ {lower}; at most {proven} is proved"
    return f"The attack on {name} finds nothing; at most {proven} is proved"


def canary_text(audit: Audit) -> str:
    """What the measurement leaves open."""
    if audit.broken:
        return "A sum is outside the ledger, or its noise is too small."
    if audit.lost_epsilon is None or audit.proven is None:
        return "An attack that finds little proves nothing: a better one may find more."
    return (
        f"The canary itself lost {epsilon_text(audit.lost_epsilon)}: no attack on these releases"
        " shows more, with however many trainings."
    )


def figure(audit: Audit) -> None:
    """The attack's errors beside what the proof leaves."""
    curve = (
        pd.DataFrame({"fpr": rates(), "fnr": audit.allowed_misses})
        if audit.allowed_misses
        else None
    )
    fig = charts.trade_off(curve)
    fig.add_scatter(
        x=audit.best.false_alarms,
        y=audit.best.misses,
        mode="lines+markers",
        line={"color": colours.of("spectral"), "width": 2.5},
        marker={"size": 4},
        hovertemplate="%{x:.1%} false alarms, %{y:.1%} missed" + "<extra></extra>",
    )
    table = pd.DataFrame({"false alarms": audit.best.false_alarms, "misses": audit.best.misses})
    middle = min(zip(audit.best.false_alarms, audit.best.misses, strict=True), key=sum)
    line_labels.note(fig, "this attack", middle, (90, 60), arrow=True)
    charts.show(
        fig,
        "audit.curve",
        f"The attack's errors: at best {middle[0]:.0%} false alarms with {middle[1]:.0%} missed.",
        table,
        leaves=True,
        caption=(
            (
                "Where the orange line dips into the blue area by more than chance, the promise is"
                " broken. Rates are those of the trainings that judged, as they were counted."
            )
            if audit.allowed_misses
            else "Rates are those of the trainings that judged, as they were counted."
        ),
    )


def bounds_table(audit: Audit) -> None:
    """Every epsilon with what it means."""
    rows = [
        {
            "ε": figure.words,
            "by": figure.name,
            "what it means": figure.meaning,
        }
        for figure in audit.figures
    ]
    safe_text.words_table(pd.DataFrame(rows))


def terms(audit: Audit, secret: bool) -> None:
    """What the canary was, by which rule bounds were found, and the claim."""
    if audit.proven is not None:
        st.caption(
            f"ε of the whole run; δ = {delta_text(audit.spec.delta)}, per {audit.protected_unit},"
            f" {neighbours(audit.protected_unit, Relation.ADD_REMOVE)}, exact."
        )
    canary = f"The canary: {audit.canary}."
    # a rule would name a secret fault
    st.caption(canary if secret else f"{canary} {audit.rule}")
    if audit.broken:
        st.markdown(
            ":red-badge[BROKEN] The claim does not hold for what ran here. Without the fault"
            " it says:"
        )
    badge = privacy_card.badge(audit.guarantee.status)
    st.markdown(f"{badge} {audit.guarantee.words}")


def explain_attack() -> None:
    with st.expander("How the attack works"):
        st.markdown(WORLD.format(units=UNITS, columns=COLUMNS))
        st.markdown("\n".join(f"- {it}" for it in (PRIVACY_LOSS, PAIR_TEST, ERROR_RATES)))
        st.markdown(SHARES)


def request_audit(spec: AuditSpec) -> dict[str, Audit]:
    """The audit, once it has ended; a long one waits for its button."""
    long = time_estimate.cost(spec)
    if not engine().had(spec) and not run_progress.may_begin(
        "audit", long, f"{spec.runs:,} trainings", spec.model_dump_json()
    ):
        return {}
    return run_progress.request(
        "audit", {"audit": spec}, by_button=long > engine().limits.ask_seconds
    )


def main() -> None:
    head = st.container()
    spec, secret = draw()
    with head:
        words, work = st.container(), st.container()
        with work:
            audits = request_audit(spec)
        if "audit" not in audits:
            words.title("Does an attack beat the claim?", anchor=False)
            words.write("Training again and again, with and without the canary.")
        else:
            with words:
                finding(audits["audit"], secret)
            bounds_table(audits["audit"])
            left, right = st.columns([3, 2], gap="large")
            with left:
                figure(audits["audit"])
            with right:
                terms(audits["audit"], secret)
    who_sees_what.draw(WHO_SEES_WHAT)
    explain_attack()


try:
    main()
except BadInput as error:
    safe_text.error(error)
