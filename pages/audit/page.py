"""Does an attack beat the claim?

The attack as a game; and, for any method, a measured lower bound on epsilon next to the proven one.
"""

import functools
from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.audit.canaries import FAULTS, faults_of, rounded
from dpmf_core.evaluation.audit.canary_data import COLUMNS, UNITS, protected_unit
from dpmf_core.evaluation.audit.membership_inference import Audit, AuditSpec, rates
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import Relation, neighbours
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_text
from pages.audit import game
from pages.kit.base import lesson, links, safe_text
from pages.kit.controls import sidebar_values
from pages.kit.controls.session_widgets import (
    PageValue,
    bind,
    number_within,
    one_of,
    within,
)
from pages.kit.figures import charts, colours
from pages.kit.privacy import privacy_card
from pages.kit.running import time_estimate
from pages.kit.running.runs import ask, may_begin

FIRST = 2.0  # epsilon until it is moved
SECRET = "secret"
VIEWS = {"play": "Play the attacker", "measure": "Attack a method"}
FAULT_TITLES = {**FAULTS, SECRET: "a secret: one of these, or none"}
CANARIES = {
    "user": "one person (or sample) more",
    "rating": "one rating more",
    "value": "another value of one rating",
}
MOST_RUNS = 100_000
ROOM_FOR_WORDS = 1.35  # of the axis of the two bars, in the longer one
# parameters in the address
ADDRESS = (
    "attack",
    "epsilon",
    "runs",
    "fault",
    "canary",
    "aseed",
)
HOW = """
The method is trained many times on a small simulated data set of {units} people (or samples) and
{columns} items (or features). Half of the runs include a **canary**, for example one more
person. The auditor chooses all data and knows everyone but the canary: the strongest adversary that
the guarantee covers. No real data are used. Two attackers try to tell which runs include the
canary. The first sees **everything that is shared**, and learns on half of the runs which
direction reveals the canary. The second sees **every noisy release**, knows the rest of the data,
and uses the likelihood ratio, which is optimal on the releases.

- **Lost by this canary**: how far it moved the releases, in units of their noise. This is computed;
  no attack on these releases can show more.
- **Pair test**: given one run with the canary and one without, which is which? If all noise is
  Gaussian, the answer is right with probability at most Φ(μ/√2) for a run of parameter μ. Confident
  answers count more.
- **Error rates**: false alarms and misses at a threshold that is chosen on half of the runs
  and tested on the other half. Their upper limits (Clopper & Pearson 1934) exclude every ε below
  the figure (Kairouz, Oh & Viswanath 2015), for any noise. Only this rule works if a sum is missing
  from the ledger, the start was computed from the data, or the noise is not Gaussian.

All bounds hold together with 95% confidence: of the error probability of 5%, the pair test on the
releases gets 2 points and each of the other three 1. Without a pair test, all share it equally.
"""


# ---- controls ------------------------------------------------------------------------------------


def draw_controls() -> tuple[AuditSpec, bool]:
    """The described audit, and whether its fault is secret. Raises BadInput."""
    is_hidden = lesson.is_hidden("page")
    place = st.empty() if is_hidden else st.container()
    with place.container():
        spec, is_secret = _controls(disabled=lesson.page_values() is not None)
    if is_hidden:
        place.empty()
    return spec, is_secret


def _controls(disabled: bool) -> tuple[AuditSpec, bool]:
    first, second, third = st.columns([2, 1, 1])
    left, middle, right = st.columns([2, 1, 1])
    ask_one = functools.partial(_select, disabled)

    titles = {name: kind.title for name, kind in REGISTRY.items()}
    method = ask_one(
        first, "Method under attack", "audit.algorithm", "attack", "private-svd", titles
    )
    kind = REGISTRY[method]
    faults = faults_of(kind)
    takes_epsilon = "small-noise" in faults
    epsilon = _ask_epsilon(second.container(), disabled=disabled or not takes_epsilon)
    PageValue("audit.runs", "runs", 1000, within(int, 40, MOST_RUNS)).start()
    count: int = third.number_input(
        "Runs",
        40,
        MOST_RUNS,
        **bind("audit.runs"),
        step=500,
        disabled=disabled,
        help="Half of them with the canary.",
    )

    titles = {name: FAULT_TITLES[name] for name in (*faults, SECRET)}
    fault = ask_one(
        left, "Plant a fault", f"audit.fault.{kind.id}", "fault", "none", titles
    )
    own = protected_unit(kind())
    # how two neighbouring data sets differ
    titles = {own: CANARIES[own]}
    if kind.task == "ratings":
        titles |= CANARIES
    unit = ask_one(middle, "Canary", f"audit.unit.{kind.id}", "canary", own, titles)
    PageValue("audit.seed", "aseed", 0, within(int, 0, 2**31)).start()
    seed: int = right.number_input(
        "Seed of the audit", 0, 2**31, **bind("audit.seed"), disabled=disabled
    )

    links.put_in_address(
        {
            "attack": kind.id,
            "epsilon": budget_text(epsilon),
            "runs": str(count),
            "fault": fault,
            "canary": unit,
            "aseed": str(seed),
        }
    )
    is_secret = fault == SECRET
    if is_secret:  # the same for everyone who opens the link
        fault = faults[(7 * seed + 3) % len(faults)]
    spec = AuditSpec.parse(
        algorithm=kind.id,
        epsilon=epsilon if takes_epsilon else None,
        runs=count,
        seed=seed,
        fault=fault,
        unit=None if unit == own else unit,
    )
    return spec, is_secret


def _ask_epsilon(place: DeltaGenerator, disabled: bool) -> float:
    sidebar_values.dial(FIRST)
    key = sidebar_values.EPSILON
    low, high = sidebar_values.CONTROLS["epsilon"].range
    PageValue(key, "epsilon", FIRST, within(float, low, high)).start()
    return number_within(place, "Its ε", key, low, high, disabled=disabled)


def _select(
    disabled: bool,
    place: DeltaGenerator,
    label: str,
    key: str,
    name: str,
    first: str,
    titles: Mapping[str, str],
) -> str:
    """Ask for one of some options, by their titles. `name` is the parameter in the address."""
    PageValue(key, name, first, one_of(titles)).start()
    option = place.selectbox(
        label,
        titles,
        **bind(key, titles),
        format_func=titles.__getitem__,
        disabled=disabled,
    )
    return str(option)


# ---- results -------------------------------------------------------------------------------------


def draw_finding(audit: Audit, secret: bool) -> None:
    st.title(attack_headline(audit), anchor=False)
    sentence = (
        f"95% confidence, δ = {delta_text(audit.spec.delta)}, {audit.spec.runs:,} runs, half"
        f" of them with the canary. Strongest test: **{audit.best.rule}** on **{audit.by}**."
    )
    st.write(f"{sentence} {canary_text(audit)}")
    if audit.proven is not None and audit.unit not in audit.covered_units:
        st.info(
            f"The proof covers one {audit.covered_units[-1]}. This canary is a whole {audit.unit},"
            " which it does not cover."
        )
    if secret:
        with st.expander("Which fault was planted?"):
            st.write(f"{FAULTS[audit.spec.fault].capitalize()}.")
            st.caption(audit.rule)


def attack_headline(audit: Audit) -> str:
    name = REGISTRY[audit.spec.algorithm].title  # without the planted fault
    shows = "finds nothing"
    if audit.lower > 0:
        shows = f"shows ε ≥ {rounded(audit.lower):.2f}"
    attack = f"The attack on {name} {shows}"
    if audit.proven is None:
        return f"{attack}; nothing is proved"
    proven = epsilon_text(audit.proven)
    if audit.broken:
        return f"Caught. {attack}; at most {proven} was promised"
    if audit.unit not in audit.covered_units:
        return f"{attack}; at most {proven} is proved, for one {audit.covered_units[-1]} only"
    return f"{attack}; at most {proven} is proved"


def canary_text(audit: Audit) -> str:
    if audit.broken:
        return "A release is missing from the ledger, or its noise is too small."
    if audit.lost_epsilon is None or audit.proven is None:
        return "An attack that finds little proves nothing: a better one may find more."
    return (
        f"This canary lost {epsilon_text(audit.lost_epsilon)}: no attack on these releases can show"
        " more, however many runs it uses."
    )


def draw_bars(audit: Audit) -> None:
    """Draw the promised epsilon and the epsilon that the attack shows as bars on one scale.

    Where nothing is proved for this canary, words say so in the place of the bar.
    """
    promised, promise, caption = promise_of(audit)
    shown_epsilon = rounded(audit.lower)
    finding = "nothing found"
    if audit.lower > 0:
        finding = f"≥ {shown_epsilon:.2f}"
    table = pd.DataFrame(
        {
            "bar": ["promised", "the attack shows"],
            "ε": [promised, shown_epsilon],
            "in words": [promise, finding],
        }
    )
    longest = max(promised or 0, shown_epsilon) or 1
    fig = charts.figure(
        "ε",
        "",
        height=150,
        xaxis={"range": [0, longest * ROOM_FOR_WORDS]},
        yaxis={"autorange": "reversed"},
        showlegend=False,
    )
    fig.add_bar(
        x=[promised or 0, shown_epsilon],
        y=["promised", "the attack<br>shows"],
        orientation="h",
        marker_color=[colours.of("dpals"), colours.of("spectral")],
        text=table["in words"],
        textposition="outside",
        textfont={"color": colours.text(), "size": 14},
        cliponaxis=False,
        hoverinfo="skip",
    )
    charts.show(
        fig,
        "audit.bars",
        f"Promised and shown ε: promised {promise}; the attack shows {finding}.",
        table,
        leaves=True,
        caption=caption,
    )


def promise_of(audit: Audit) -> tuple[float | None, str, str]:
    """The epsilon that is proved for this canary, if any, in words, and a caption."""
    no_limit = "Without a proof there is no limit that the attack could break."
    if audit.proven is None:
        return None, "nothing is proved", no_limit
    if audit.unit not in audit.covered_units:
        return None, f"nothing is proved for one {audit.unit}", no_limit
    caption = "A second bar longer than the first would break the promise."
    if audit.broken:
        caption = "The second bar is longer than the first: the promise is broken."
    return audit.proven, f"≤ {epsilon_text(audit.proven)}", caption


def draw_error_rates(audit: Audit) -> None:
    best = audit.best
    curve = None
    if audit.allowed_misses:
        curve = pd.DataFrame({"fpr": rates(), "fnr": audit.allowed_misses})
    fig = charts.trade_off(curve)
    fig.add_scatter(
        x=best.false_alarms,
        y=best.misses,
        mode="lines+markers",
        line={"color": colours.of("spectral"), "width": 2.5},
        marker={"size": 4},
        hovertemplate="%{x:.1%} false alarms, %{y:.1%} missed<extra></extra>",
    )
    false_alarms, misses = min(
        zip(best.false_alarms, best.misses, strict=True), key=sum
    )
    charts.note(fig, "this attack", (false_alarms, misses), (90, 60), arrow=True)
    alt = f"The attack's errors: at best {false_alarms:.0%} false alarms with {misses:.0%} missed."
    words = "Rates come from the runs that did not choose the threshold."
    if curve is not None:
        words = (
            "If the orange line enters the blue area by more than chance, the guarantee is broken."
            f" {words}"
        )
    table = pd.DataFrame({"false alarms": best.false_alarms, "misses": best.misses})
    charts.show(fig, "audit.curve", alt, table, leaves=True, caption=words)


def draw_terms(audit: Audit, secret: bool) -> None:
    if audit.proven is not None:
        st.caption(
            f"ε of the whole run; δ = {delta_text(audit.spec.delta)}, per {audit.protected_unit},"
            f" {neighbours(audit.protected_unit, Relation.ADD_REMOVE)}, exact."
        )
    canary = f"The canary: {audit.canary}."
    if not secret:  # the rule would name the fault
        canary += f" {audit.rule}"
    st.caption(canary)
    if audit.broken:
        st.markdown(
            ":red-badge[BROKEN] The claim does not hold for this run. Without the fault it says:"
        )
    badge = privacy_card.badge(audit.guarantee.status)
    st.markdown(f"{badge} {audit.guarantee.words}")


def request_audit(spec: AuditSpec) -> dict[str, Audit]:
    """The audit once it has ended; a long one waits for its button."""
    seconds = time_estimate.cost(spec)
    may_run = engine().had(spec) or may_begin(
        "audit", seconds, f"{spec.runs:,} runs", spec.model_dump_json()
    )
    if not may_run:
        return {}
    return ask(
        "audit", {"audit": spec}, by_button=seconds > engine().limits.ask_seconds
    )


def draw_view() -> str:
    """The chosen view; the default is the game unless the address names an attack."""
    fixed_values = lesson.page_values()
    if fixed_values is not None:
        if "attack" in fixed_values:
            return "measure"
        return "play"
    first = "measure" if "attack" in st.query_params else "play"
    return st.segmented_control(
        "View",
        VIEWS,
        default=first,
        required=True,
        format_func=VIEWS.__getitem__,
        key="audit.view",
        label_visibility="collapsed",
    )


def main() -> None:
    if draw_view() == "play":
        links.put_in_address(dict.fromkeys(ADDRESS))
        game.draw()
    else:
        draw_attack()


def draw_attack() -> None:
    head = st.container()
    spec, is_secret = draw_controls()
    with head:
        words = st.container()
        with st.container():
            audit = request_audit(spec).get("audit")
        if audit is None:
            words.title("Does an attack beat the claim?", anchor=False)
            words.write("The method is trained many times, with and without a canary.")
        else:
            with words:
                draw_finding(audit, is_secret)
            draw_result(audit, is_secret)
    with st.expander("How the attack works"):
        st.markdown(HOW.format(units=UNITS, columns=COLUMNS))


def draw_result(audit: Audit, is_secret: bool) -> None:
    """Draw the figures of an audit, below its finding."""
    draw_bars(audit)
    rows = [(line.words, line.name, line.meaning) for line in audit.figures]
    safe_text.words_table(rows, ["ε", "by", "meaning"])
    left, right = st.columns([3, 2], gap="large")
    with left:
        draw_error_rates(audit)
    with right:
        draw_terms(audit, is_secret)


main()
