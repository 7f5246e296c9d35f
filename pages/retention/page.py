"""What if the server keeps nothing?

Factorisation without user data retention beside what keeps everything.
"""

from collections.abc import Collection

import pandas as pd
import streamlit as st

from dpmf_core import first_views
from dpmf_core.errors import BadInput
from dpmf_core.papers.registry import figures_of
from dpmf_core.papers.retention_excess import AXIS_TITLE
from dpmf_core.runs.record import Run
from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, MOMENTS, Moment, at_rest, stream
from pages.kit import (
    charts,
    odometer,
    published_figures,
    safe_text,
    sidebar,
    sweep_charts,
    who_sees_what,
)
from pages.kit.choice import Choice
from pages.kit.runs import ask, goes_on, note_shipped
from pages.retention import frames

ORDERS = {
    "random": "in random order",
    "time": "by time, the latest held out",
}


def finding(choice: Choice, names: Collection[str], runs: dict[str, Run]) -> None:
    """What keeping nothing costs; while runs go on, how many have finished and which are missing.
    names: of all that were asked for. runs: by name.
    """
    missing = frames.missing(names, runs)
    if goes_on("retention"):
        st.title(f"{len(runs)} of {len(names)} runs have finished", anchor=False)
        st.write(f"What it costs to keep nothing is said when all have. Missing: {missing}.")
        return
    not_there = f"Not there: {missing}." if missing else ""
    if not set(frames.FIRST) <= runs.keys():
        st.title("What does it cost to keep nothing?", anchor=False)
        st.write(odometer.opening_text("retention", not_there))
        return
    table = frames.shares(runs)
    middle = (table["variant"] == "rated") & (table["share"] == frames.MIDDLE)
    cost = float(table[middle]["excess"].iloc[0])
    if cost >= 0:
        title = (
            f"Keeping nothing of users costs {cost:.1%} in RMSE where half of the ratings arrive"
            " one by one"
        )
    else:
        title = (
            f"Keeping nothing of users lowers the RMSE by {-cost:.1%} where half of the ratings"
            " arrive one by one"
        )
    st.title(title, anchor=False)
    learns = (
        f"On {choice.entry.title}, held-out RMSE **{float(table['rmse'].iloc[0]):.3f}** with"
        " everything kept. A server that drops each user's ratings and vector after every"
        " interaction learns from them all the same, through the item factors, which stay."
    )
    st.write(f"{learns} {not_there}")


def by_share(runs: dict[str, Run]) -> None:
    table = frames.shares(runs)
    lines = frames.points(table[table["variant"] != "baseline"], "share")
    if lines["share"].nunique() < 2:  # one point makes no line
        return
    axis = "share of the ratings known from the start, Rₛ"
    fig = sweep_charts.against(lines, "share", AXIS_TITLE, axis)
    values = "; ".join(
        f"{frames.NAMES[variant]} at {share}: {excess:.1%}"
        for variant, share, excess in (
            table[["variant", "share", "excess"]].dropna().itertuples(index=False)
        )
    )
    alt = f"Excess RMSE over the baseline against the static share: {values}"
    words = (
        "**static**: frozen at the start. **online**: all is kept, vectors are fitted anew."
        " **new**, **rated**: nothing of users is kept; whoever comes brings her ratings, and the"
        " item she rates now, or all that she has rated, learns from them. **slope one** learns"
        " mean differences between pairs of items."
    )
    charts.show(fig, "retention.shares", alt, table, caption=words)


def memory() -> None:
    """The retention ledger, and a stream that is really run."""
    st.header("What is kept, where, for how long", anchor=False)
    draw_ledger()
    st.header("What would a subpoena get, and what a wiretap?", anchor=False)
    draw_exposure()
    number = st.slider("Moment", 1, MOMENTS, 1, key="retention.moment")
    draw_holdings(stream()[number - 1])


def draw_ledger() -> None:
    """The retention ledger."""
    rows = [
        {
            "variant": frames.NAMES[name],
            "what": entry.what,
            "where": entry.where,
            "how long": entry.how_long,
        }
        for name, entries in MEMORY.items()
        for entry in entries
    ]
    safe_text.words_table(pd.DataFrame(rows))


def draw_exposure() -> None:
    """Who could get what."""
    rows = [
        {
            "variant": frames.NAMES[name],
            "a subpoena gets, at rest": ", ".join(what for what in at_rest(name)),
            "a wiretap gets, of one interaction": message,
        }
        for name, message in IN_TRANSIT.items()
    ]
    safe_text.words_table(pd.DataFrame(rows))
    st.caption(
        "The source's claim is of storage: neither ratings nor users' vectors stay on the"
        " server (abstract). So a subpoena finds item factors alone. In return, whoever is"
        " served without a profile brings all her ratings each time, and one tapped interaction"
        " gives them away; a server that keeps ratings is sent the new one only. What is"
        " recommended crosses the wire in every variant."
    )


def draw_holdings(moment: Moment) -> None:
    """What the servers of every variant hold right after a rating of the stream."""
    st.write(
        f"**Person {moment.user} rates item {moment.item} with {moment.rating:g}.** Right"
        " after, the servers hold:"
    )
    rows = [
        {
            "variant": frames.NAMES[one.variant],
            "ratings": one.ratings,
            "numbers about users": one.user_numbers,
            "numbers about items": one.item_numbers,
            "there for a moment only": one.for_a_moment,
            "ratings sent": one.ratings_sent,
        }
        for one in moment.holdings
    ]
    safe_text.words_table(pd.DataFrame(rows))
    st.caption(
        "Four people, six items, three numbers each. In variant rated the item factors moved"
        f" by {moment.item_move:.3f} in this moment: they remember something."
    )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    left, right = st.columns(2)
    arrival = left.selectbox(
        "Ratings arrive",
        list(ORDERS),
        key="retention.arrival",
        format_func=lambda order: ORDERS[order],
    )
    epochs = (
        right.number_input(
            "Epochs over what is known from the start",
            1,
            2000,
            first_views.EPOCHS,
            key="retention.epochs",
            help="The source takes 200.",
        )
        or first_views.EPOCHS
    )
    specs = frames.by_share(choice, arrival, epochs)
    runs = ask("retention", specs, first=frames.FIRST, whole=())
    with head:
        finding(choice, specs, runs)
        st.info(
            "**No differential privacy, and no ε.** It limits what a thief, a court or a"
            " curious employee finds on the server. It does not limit what the item factors, or"
            " recommendations to others, reveal: they learn from every rating, exactly. Source:"
            " D. Vallet, A. Friedman & S. Berkovsky, *Matrix Factorization without User Data"
            " Retention*, PAKDD 2014.",
            icon=":material/info:",
        )
    if "baseline" in runs:
        by_share(runs)
        note_shipped(list(specs.values()))
    who_sees_what.draw(who_sees_what.RETENTION)
    published_figures.choice("retention", figures_of("retention"))
    memory()


try:
    main()
except BadInput as error:
    safe_text.error(error)
