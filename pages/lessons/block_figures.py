"""Demonstration of trust: one server, hospitals or phones, who can read what they send, and what
that costs at equal error.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core import first_views
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.needed_epsilon import first_reaching
from dpmf_core.runs.sweep import Summary, summaries
from dpmf_core.teaching import trust
from pages.kit import (
    charts,
    colours,
    line_labels,
    run_progress,
    safe_text,
    stored_results,
    who_sees_what,
)
from pages.kit.who_sees_what import Schematic
from pages.lessons.lines import DELTA_TEXT

PEOPLE, ABSENT = 2_000, 0.5
LABEL_POINTS = {"private-bias": 2, "local-bias": 3}  # points beside which a line's name stands
COUNTS = {"server": 1, "hospitals": 20, "phones": PEOPLE}
HOLDERS = {
    "server": "one server",
    "hospitals": "20 hospitals",
    "phones": "2,000 phones",
}
READS = {"parts": "every part", "sum": "the sum alone"}
EPSILONS = (0.5, 1.0, 2.0)
TRUSTED_PARTIES = {  # by who holds the rows and what the server can read
    ("server", "parts"): "the server, with your ratings",
    ("hospitals", "parts"): "your hospital, with your ratings and with adding its noise",
    (
        "hospitals",
        "sum",
    ): "your hospital, with your ratings; that parts cannot be opened; and other hospitals, with"
    " adding their noise",
    ("phones", "parts"): "nobody but your own phone",
    ("phones", "sum"): "that messages cannot be opened, and other people, with adding their noise",
}


def blocks() -> None:
    left, middle, right = st.columns(3)
    holder = _choice(left, "The ratings lie with", HOLDERS, "learn.blocks")
    reads = "parts"
    if holder != "server":
        reads = _choice(middle, "The server can read", READS, "learn.blocks.reads")
    epsilon = float(
        right.segmented_control(
            "ε of the sum",
            EPSILONS,
            default=1.0,
            key="learn.blocks.epsilon",
            required=True,
            format_func=lambda mark: f"{budget_text(mark)}",
        )
    )
    who_sees_what.draw(_schematic(holder, reads), unfolded=True)
    _say_who_learns(holder, reads, epsilon)
    _draw_measurements(epsilon)


def _choice(place: Any, label: str, options: Mapping[str, str], key: str) -> str:
    return str(
        place.segmented_control(
            label,
            list(options),
            default=next(iter(options)),
            key=key,
            required=True,
            format_func=lambda it: options[it],
        )
    )


# ---- who sends what ------------------------------------------------------------------------------

SUM = "Noisy sums of all\nfrom which everybody gets\nthe item offsets"
SEES_PARTS = "Server\nreads every part,\nadds them up"
SEES_SUM = "Server\ncan read the sum alone"
LIGHT, FULL = "its share of the noise", "adds all of the noise"
SEALED_EDGE = "sealed, a share of the noise"


def _schematic(holder: str, reads: str) -> Schematic:
    if holder == "server":
        return ONE_SERVER
    first, second, last = BOXES[holder]
    parts = {"first": first, "second": second, "last": last}
    sealed = reads == "sum"
    edge = SEALED_EDGE if sealed else LIGHT
    return Schematic(
        {**parts, "server": SEES_SUM if sealed else SEES_PARTS, "sum": SUM},
        (*((name, "server", edge) for name in parts), ("server", "sum", "")),
        WORDS[holder, reads],
        frozenset({"sum", "server"} if sealed else {"sum"}),
        frozenset() if sealed else frozenset({"server"}),
    )


ONE_SERVER = Schematic(
    {
        "you": "You\nyour ratings",
        "others": "1,999 others\ntheir ratings",
        "server": "Server\nreads all ratings,\nadds them up",
        "sum": SUM,
    },
    (
        ("you", "server", "~" + "no noise"),
        ("others", "server", "~" + "no noise"),
        ("server", "sum", FULL),
    ),
    "One server is the curator: it reads every rating and adds the noise once, to the sum."
    " Everybody else sees the noisy sum alone.",
    frozenset({"sum"}),
    frozenset({"server"}),
)
BOXES = {
    "hospitals": (
        "Your hospital\nadds up its 100 people",
        "Hospital 2\nadds up its 100 people",
        "Hospital 20\nadds up its 100 people",
    ),
    "phones": (
        "Your phone\nyour own message",
        "Phone 2\nits owner's message",
        "Phone 2,000\nits owner's message",
    ),
}
WORDS = {
    (
        "hospitals",
        "parts",
    ): "Each hospital sends one noisy sum of its people. The server reads 20 of them: in each a"
    " person hides behind a 20th of the noise's variance.",
    (
        "hospitals",
        "sum",
    ): "Each hospital sends its sum sealed: with a mask, and all masks cancel in the sum (Bonawitz"
    " et al. 2017). The server can open nothing but the sum, which carries all of the noise.",
    (
        "phones",
        "parts",
    ): "Each phone sends its owner's message with a 2,000th of the noise's variance. Local"
    " differential privacy is this drawing with enough noise for one message alone.",
    (
        "phones",
        "sum",
    ): "Each phone sends its message sealed: with a mask, and all masks cancel in the sum"
    " (Bonawitz et al. 2017). The server can open nothing but the sum, with the noise of 2,000"
    " phones.",
}


def _say_who_learns(holder: str, reads: str, epsilon: float) -> None:
    """A row for everybody who looks: what she sees of you, and its epsilon."""
    count = COUNTS[holder]
    rows = {"everybody else": ("the noisy sum", _text(epsilon))}
    if holder == "server":
        rows["the server"] = ("your ratings", "no limit")
    elif reads == "sum":
        rows["the server"] = ("the noisy sum", _text(epsilon))
        without = trust.epsilon_without(epsilon, ABSENT)
        rows["the server, where half of them add no noise"] = (
            "a sum with half of the variance",
            _text(without),
        )
    else:
        rows["the server"] = (
            "the part of your hospital" if holder == "hospitals" else "your message",
            _text(trust.part_epsilon(epsilon, count)),
        )
    if holder == "hospitals":
        rows["your hospital"] = ("your ratings", "no limit")
    safe_text.words_table(
        pd.DataFrame(
            [
                {"who looks": who, "sees of you": what, "ε for you": price}
                for who, (what, price) in rows.items()
            ]
        )
    )
    st.markdown(f"**You trust** {TRUSTED_PARTIES[holder, reads]}.")
    if holder != "server" and reads == "parts":
        st.markdown(
            f"For ε = {budget_text(epsilon)} towards the server too, every part needs"
            f" √{count:,} = **{math.sqrt(count):.3g} times as much noise**, and so has the"
            " sum."
        )


def _text(epsilon: float) -> str:
    return f"{epsilon_text(epsilon)}"


# ---- the price, measured -------------------------------------------------------------------------


def _draw_measurements(epsilon: float) -> None:
    """Errors over epsilon with a curator and with everybody's own noise, and which epsilon of the
    one is as good as which of the other.
    """
    sweeps = first_views.trust()
    points = [point for sweep in sweeps for point in sweep.points()]
    runs = run_progress.request(
        "learn.trust", {point.key: point.spec for point in points}, whole=()
    )
    if len(runs) < len(points):
        return
    results = summaries(points, runs, "rmse")
    central, local, alone = (
        [it for it in results if it.algorithm == name]
        for name in ("private-bias", "local-bias", "user-mean")
    )
    at = next(it.median for it in central if it.epsilon == epsilon)
    match = _equal_error(local, at)
    st.markdown("**Trusting nobody, measured**")
    _draw_prices(central, local, alone[0].median, epsilon, match)
    at_one = next(it.median for it in local if it.epsilon == 1.0)
    st.markdown(
        f"A curator's offsets at ε = {budget_text(epsilon)} err by **{at:.3f}**. Where"
        f" everybody adds the noise herself, **ε = {_two_digits(match)}** is as good,"
        f" measured; the rule says {_by_rule(epsilon)}. With ε = 1 for everybody's message"
        f" the error is {at_one:.3f}; each user's own mean, which needs nobody, has"
        f" {alone[0].median:.3f}."
    )
    _table_of_prices(central, local)
    st.caption(
        f"ε in total, δ = {DELTA_TEXT}, per user, replacing one row by any other. Item"
        " offsets by private and by local biases on the simulated cinema of 2,000 people,"
        f" median of {first_views.TRUST_DRAWS} draws; between the measured ε along a straight"
        " line over log ε. The rule: the noise of n messages is √n times that of one, so μ is"
        " √n times as large."
    )
    stored_results.note([point.spec for point in points])


def _equal_error(local: list[Summary], error: float) -> float | None:
    """The epsilon of everybody's own noise that is as good."""
    needed = first_reaching([(it.epsilon or 0.0, it.median) for it in local], error)
    return None if needed is None else needed.epsilon


def _two_digits(epsilon: float | None) -> str:
    """Two digits of an epsilon that was read off a line."""
    if epsilon is None:
        return f"more than {budget_text(first_views.OWN_NOISE_EPSILONS[-1])}"
    return budget_text(float(f"{epsilon:.2g}"))


def _by_rule(epsilon: float) -> str:
    return budget_text(float(f"{trust.part_epsilon(epsilon, PEOPLE):.3g}"))


def _draw_prices(
    central: list[Summary], local: list[Summary], alone: float, epsilon: float, match: float | None
) -> None:
    lines = (
        ("with a curator", "private-bias", central),
        ("without a curator", "local-bias", local),
    )
    fig = charts.figure("ε", "RMSE on held-out ratings", height=340)
    for name, method, line in lines:
        fig.add_scatter(
            x=[it.epsilon for it in line],
            y=[it.median for it in line],
            name=name,
            mode="lines+markers",
            marker={"symbol": colours.marker(method), "size": 9},
            line={"color": colours.of(method), "width": 2.5},
            showlegend=False,
        )
        point = line[LABEL_POINTS[method]]  # where one line is far from the other
        line_labels.note(fig, name, (math.log10(point.epsilon or 1.0), point.median), (10, 2))
    own = {"color": colours.of("user-mean"), "dash": "dash"}
    charts.level(fig, alone, "each user's own mean", own)
    if match is not None:
        height = next(it.median for it in central if it.epsilon == epsilon)
        fig.add_scatter(
            x=[epsilon, match],
            y=[height, height],
            mode="lines+markers",
            name="equal error",
            line={"color": colours.ink(), "dash": "dot"},
            marker={"symbol": "circle-open", "size": 13},
            showlegend=False,
        )
    fig.update_xaxes(type="log", dtick=1)
    table = pd.DataFrame(
        [
            {"name": name, "epsilon": it.epsilon, "rmse": it.median}
            for name, _, line in lines
            for it in line
        ]
    )
    charts.show(
        fig,
        "learn.blocks.figure",
        "Error over epsilon with a curator and with everybody's own noise, far to the right.",
        table,
        leaves=True,
    )


def _table_of_prices(central: list[Summary], local: list[Summary]) -> None:
    """Epsilon with a curator, and of everybody's own noise at equal error."""
    rows = [it for it in central if it.epsilon in EPSILONS]
    safe_text.words_table(
        pd.DataFrame(
            [
                {
                    "ε with a curator": f"{budget_text(it.epsilon or 0)}",
                    "error": f"{it.median:.3f}",
                    "ε of one's own noise, measured": _two_digits(_equal_error(local, it.median)),
                    "by the rule": _by_rule(it.epsilon or 0.0),
                }
                for it in rows
            ]
        )
    )
