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
from dpmf_core.engine.executor import engine
from dpmf_core.errors import BadInput
from dpmf_core.language import phrase
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
from pages.kit.language import say

WORLD = phrase(
    "A small simulated world of {units} people (or samples) and {columns} items (or features) is"
    " trained on again and again; every second time it holds a **canary**. The auditor may choose"
    " all data and knows the public start, so of a few worlds she takes the one whose canary moves"
    " the releases furthest. Two attackers must tell the two kinds of trainings apart. One sees"
    " **all that is shared** and learns on half of the trainings which direction gives the canary"
    " away. The other sees **every noisy release**, knows the rest of the data, and scores by the"
    " likelihood ratio: nothing does better on releases."
)
PRIVACY_LOSS = phrase(
    "**Lost by this canary**: how far it moved the releases, in terms of the noise that was drawn."
    " It is computed, and no attack on these releases shows more."
)
PAIR_TEST = phrase(
    "**Pair test**: one training without the canary and one with it, which is which? Where every"
    " release has Gaussian noise, a run of parameter μ is guessed right with probability at most"
    " Φ(μ/√2); surer answers count more."
)
ERROR_RATES = phrase(
    "**Error rates**: false alarms and misses at a threshold that is chosen on one half of the"
    " trainings and judged on the other. Their upper limits (Clopper & Pearson 1934) rule out every"
    " ε below the figure (Kairouz, Oh & Viswanath 2015), whatever the noise: the only rule where a"
    " sum left the ledger, a start was computed from the data, or the noise is not Gaussian."
)
SHARES = phrase(
    "The 5% in which a bound may be wrong are shared beforehand: 2% for the pair test on the"
    " releases and 1% for each of the other three; where there is no pair test, in equal parts."
)


def finding(audit: Audit, secret: bool) -> None:
    """The sentence first."""
    st.title(headline(audit), anchor=False)
    sentence = say(
        "At 95% confidence and δ = {delta}, from {runs:,} trainings, half of them with the canary."
        " The test that shows most: **{rule}**, on **{attack}**.",
        delta=delta_text(audit.spec.delta),
        runs=audit.spec.runs,
        rule=TITLES[audit.best.rule],
        attack=TITLES[audit.by],
    )
    st.write(f"{sentence} {canary_text(audit)}")
    if audit.proven is not None and audit.unit not in audit.covered_units:
        st.info(
            say(
                "What is proved is for one {covered}; this canary is a whole {unit}, of which the"
                " proof does not speak.",
                covered=phrase(audit.covered_units[-1]),
                unit=phrase(audit.unit),
            )
        )
    if secret:
        with st.expander(say("What had been planted?")):
            st.write(say("What was planted: {fault}.", fault=FAULTS[audit.spec.fault]))
            st.caption(say(audit.rule))


def headline(audit: Audit) -> str:
    """What was found, beside what is proved."""
    values = {
        "name": say(algorithms.REGISTRY[audit.spec.algorithm].title),  # not what was planted in it
        "lower": f"{rounded(audit.lower):.2f}",
        "proven": epsilon_text(audit.proven),
    }
    if audit.proven is None:
        if audit.lower > 0:
            return say("The attack on {name} shows ε ≥ {lower}; nothing is proved", **values)
        return say("The attack on {name} finds nothing; nothing is proved", **values)
    if audit.broken:
        return say(
            "Caught. The attack on {name} shows ε ≥ {lower}, and at most {proven} was promised",
            **values,
        )
    if audit.lower > 0:
        return say("The attack on {name} shows ε ≥ {lower}; at most {proven} is proved", **values)
    return say("The attack on {name} finds nothing; at most {proven} is proved", **values)


def canary_text(audit: Audit) -> str:
    """What the measurement leaves open."""
    if audit.broken:
        return say("A sum is outside the ledger, or its noise is too small.")
    if audit.lost_epsilon is None or audit.proven is None:
        return say("An attack that finds little proves nothing: a better one may find more.")
    return say(
        "The canary itself lost {lost}: no attack on these releases shows more, with however many"
        " trainings.",
        lost=epsilon_text(audit.lost_epsilon),
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
        hovertemplate=say("{x} false alarms, {y} missed", x="%{x:.1%}", y="%{y:.1%}")
        + "<extra></extra>",
    )
    table = pd.DataFrame({"false alarms": audit.best.false_alarms, "misses": audit.best.misses})
    middle = min(zip(audit.best.false_alarms, audit.best.misses, strict=True), key=sum)
    line_labels.note(fig, say("this attack"), middle, (90, 60), arrow=True)
    charts.show(
        fig,
        "audit.curve",
        say(
            "The attack's errors: at best {alarms:.0%} false alarms with {missed:.0%} missed.",
            alarms=middle[0],
            missed=middle[1],
        ),
        table,
        leaves=True,
        caption=(
            say(
                "Where the orange line dips into the blue area by more than chance, the promise is"
                " broken. Rates are those of the trainings that judged, as they were counted."
            )
            if audit.allowed_misses
            else say("Rates are those of the trainings that judged, as they were counted.")
        ),
    )


def bounds_table(audit: Audit) -> None:
    """Every epsilon with what it means."""
    rows = [
        {
            "ε": say(figure.words),
            say("by"): say(figure.name),
            say("what it means"): say(figure.meaning),
        }
        for figure in audit.figures
    ]
    safe_text.words_table(pd.DataFrame(rows))


def terms(audit: Audit, secret: bool) -> None:
    """What the canary was, by which rule bounds were found, and the claim."""
    if audit.proven is not None:
        st.caption(
            say(
                "ε of the whole run; δ = {delta}, per {unit}, {relation}, exact.",
                delta=delta_text(audit.spec.delta),
                unit=phrase(audit.protected_unit),
                relation=neighbours(audit.protected_unit, Relation.ADD_REMOVE),
            )
        )
    canary = say("The canary: {canary}.", canary=audit.canary)
    # a rule would name a secret fault
    st.caption(canary if secret else f"{canary} {say(audit.rule)}")
    if audit.broken:
        st.markdown(
            say(
                ":red-badge[BROKEN] The claim does not hold for what ran here. Without the fault"
                " it says:"
            )
        )
    badge = privacy_card.badge(audit.guarantee.status)
    st.markdown(f"{badge} {say(audit.guarantee.words)}")


def explain_attack() -> None:
    with st.expander(say("How the attack works")):
        st.markdown(say(WORLD, units=UNITS, columns=COLUMNS))
        st.markdown("\n".join(f"- {say(it)}" for it in (PRIVACY_LOSS, PAIR_TEST, ERROR_RATES)))
        st.markdown(say(SHARES))


def request_audit(spec: AuditSpec) -> dict[str, Audit]:
    """The audit, once it has ended; a long one waits for its button."""
    long = time_estimate.cost(spec)
    if not engine().had(spec) and not run_progress.may_begin(
        "audit", long, say("{count:,} trainings", count=spec.runs), spec.model_dump_json()
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
            words.title(say("Does an attack beat the claim?"), anchor=False)
            words.write(say("Training again and again, with and without the canary."))
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
