"""Demonstration of trust: who reads what a server, hospitals or phones send, and what it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs import first_views
from dpmf_core.runs.needed_epsilon import first_reaching
from dpmf_core.runs.sweep import summaries
from dpmf_core.teaching import demonstrations
from pages.kit import colours, safe_text, sweep_charts
from pages.kit.runs import ask, note_shipped
from pages.lessons.figures import DELTA_TEXT, show

PEOPLE, ABSENT = 2_000, 0.5
EPSILONS = (0.5, 1.0, 2.0)
READS = {"parts": "every part", "sum": "only the sum"}


@dataclass(frozen=True)
class Holder:
    """Who holds the ratings. words, trusted: texts, by what the server reads."""

    title: str
    count: int
    sends: str
    words: Mapping[str, str]
    trusted: Mapping[str, str]


MASKS = "and all masks cancel in the total (Bonawitz et al. 2017). The server can read only the"
HOLDERS = {
    "server": Holder(
        "one server",
        1,
        "",
        {
            "parts": "The server reads every rating and adds the noise once, to the sum. Everyone"
            " else sees only the noisy sum."
        },
        {"parts": "the server with your ratings"},
    ),
    "hospitals": Holder(
        "20 hospitals",
        20,
        "your hospital's part",
        {
            "parts": "Each hospital sends a noisy sum of its people's ratings. The server reads all"
            " 20 sums. Each has only a 20th of the noise's variance.",
            "sum": f"Each hospital masks its sum, {MASKS} total, which carries all of the noise.",
        },
        {
            "parts": "your hospital to protect your ratings and to add its noise",
            "sum": "your hospital to protect your ratings, the masks, and the other hospitals to"
            " add their noise",
        },
    ),
    "phones": Holder(
        "2,000 phones",
        PEOPLE,
        "your message",
        {
            "parts": "Each phone sends its owner's message with a 2,000th of the noise's variance."
            " In local differential privacy each message has enough noise of its own.",
            "sum": f"Each phone masks its message, {MASKS} total, with the noise of 2,000 phones.",
        },
        {"parts": "only your own phone", "sum": "the masks, and other people to add their noise"},
    ),
}


def _choice(place: Any, label: str, options: Mapping[Any, str], key: str, first: Any) -> Any:
    return place.segmented_control(
        label, list(options), default=first, key=key, required=True, format_func=options.__getitem__
    )


def blocks() -> None:
    left, middle, right = st.columns(3)
    titles = {name: it.title for name, it in HOLDERS.items()}
    holder = _choice(left, "The ratings are on", titles, "learn.blocks", "server")
    reads = "parts"
    if holder != "server":
        reads = _choice(middle, "The server can read", READS, "learn.blocks.reads", "parts")
    marks = {it: budget_text(it) for it in EPSILONS}
    epsilon = _choice(right, "ε of the sum", marks, "learn.blocks.epsilon", 1.0)
    st.write(HOLDERS[holder].words[reads])
    _draw_who_learns(holder, reads, epsilon)
    _draw_measurements(epsilon)


def _draw_who_learns(name: str, reads: str, epsilon: float) -> None:
    """Draw a row for each observer: what they see of you, and its epsilon."""
    holder = HOLDERS[name]
    rows = [("everyone else", "the noisy sum", epsilon_text(epsilon))]
    if name == "server":
        rows.append(("the server", "your ratings", "no limit"))
    elif reads == "sum":
        without = epsilon_text(demonstrations.epsilon_without(epsilon, ABSENT))
        rows.append(("the server", "the noisy sum", epsilon_text(epsilon)))
        who = "the server, if half of them add no noise"
        rows.append((who, "a sum with half of the variance", without))
    else:
        part = epsilon_text(demonstrations.part_epsilon(epsilon, holder.count))
        rows.append(("the server", holder.sends, part))
    if name == "hospitals":
        rows.append(("your hospital", "your ratings", "no limit"))
    safe_text.words_table(pd.DataFrame(rows, columns=["who looks", "sees of you", "ε for you"]))
    st.markdown(f"**You trust** {holder.trusted[reads]}.")
    if name != "server" and reads == "parts":
        st.markdown(
            f"For ε = {budget_text(epsilon)} against the server too, every part needs"
            f" √{holder.count:,} = **{math.sqrt(holder.count):.3g} times as much noise**, and so"
            " does the sum."
        )


# ---- the price, measured -------------------------------------------------------------------------


def _draw_measurements(epsilon: float) -> None:
    """Draw errors over epsilon with and without a curator, and equally good epsilons."""
    points = [point for sweep in first_views.trust() for point in sweep.points()]
    specs = {point.key: point.spec for point in points}
    runs = ask("learn.trust", specs, whole=())
    if len(runs) < len(specs):
        return
    errors = {(it.algorithm, it.epsilon): it.median for it in summaries(points, runs, "rmse")}
    at, alone = errors["private-bias", epsilon], errors["user-mean", None]
    local = [(own or 0.0, error) for (name, own), error in errors.items() if name == "local-bias"]
    needed = first_reaching(local, at)
    equal = f"more than {budget_text(first_views.OWN_NOISE_EPSILONS[-1])}"
    if needed is not None:
        equal = budget_text(needed.rounded)
    by_rule = budget_text(float(f"{demonstrations.part_epsilon(epsilon, PEOPLE):.3g}"))
    st.markdown("**Measured: the cost of trusting no one**")
    table = sweep_charts.frame(points, runs, "rmse")
    fig = sweep_charts.against(table, "epsilon", "RMSE on held-out ratings", "ε")
    if needed is not None:
        fig.add_scatter(
            x=[epsilon, needed.epsilon],
            y=[at, at],
            mode="lines+markers",
            name="equal error",
            line={"color": colours.ink(), "dash": "dot"},
            marker={"symbol": "circle-open", "size": 13},
        )
    show(fig, "blocks.figure", "Error over epsilon with a curator and without.", table)
    st.markdown(
        f"With a curator, item offsets at ε = {budget_text(epsilon)} have an error of"
        f" **{at:.3f}**. If each person adds noise, the same error needs **ε = {equal}** (measured;"
        f" the rule below predicts {by_rule}). With ε = 1 for each message the error is"
        f" {errors['local-bias', 1.0]:.3f}. Each person's own mean, which needs no one else's data,"
        f" has an error of {alone:.3f}."
    )
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per person, replacing one row by any other. Private biases"
        " have a curator, local biases do not. Simulated cinema of"
        f" {PEOPLE:,} people, median of {first_views.TRUST_DRAWS} draws; linear along log ε between"
        " measured points. The rule: the noise of n messages is √n times that of one, so μ is √n"
        " times as large."
    )
    note_shipped([point.spec for point in points])
