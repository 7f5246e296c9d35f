"""What if the server keeps nothing?

Factorisation without user data retention beside what keeps everything.
"""

from collections.abc import Collection

import pandas as pd
import streamlit as st

from dpmf_core import first_views
from dpmf_core.errors import BadInput
from dpmf_core.language import phrase
from dpmf_core.papers.registry import figures_of
from dpmf_core.papers.retention_excess import AXIS_TITLE
from dpmf_core.runs.record import Run
from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, MOMENTS, Moment, at_rest, stream
from pages.kit import (
    charts,
    odometer,
    published_figures,
    run_progress,
    safe_text,
    sidebar,
    stored_results,
    sweep_charts,
    who_sees_what,
)
from pages.kit.choice import Choice
from pages.kit.language import say
from pages.retention import frames

ORDERS = {
    "random": phrase("in random order"),
    "time": phrase("by time, the latest held out"),
}


def finding(choice: Choice, names: Collection[str], runs: dict[str, Run]) -> None:
    """What keeping nothing costs; while runs go on, how many have finished and which are missing.
    names: of all that were asked for. runs: by name.
    """
    missing = frames.missing(names, runs)
    if run_progress.goes_on("retention"):
        st.title(
            say("{done} of {all} runs have finished", done=len(runs), all=len(names)), anchor=False
        )
        st.write(
            say(
                "What it costs to keep nothing is said when all have. Missing: {missing}.",
                missing=missing,
            )
        )
        return
    not_there = say("Not there: {missing}.", missing=missing) if missing else ""
    if not set(frames.FIRST) <= runs.keys():
        st.title(say("What does it cost to keep nothing?"), anchor=False)
        st.write(odometer.opening_text("retention", not_there))
        return
    table = frames.shares(runs)
    middle = (table["variant"] == "rated") & (table["share"] == frames.MIDDLE)
    cost = float(table[middle]["excess"].iloc[0])
    if cost >= 0:
        title = say(
            "Keeping nothing of users costs {cost:.1%} in RMSE where half of the ratings arrive one"
            " by one",
            cost=cost,
        )
    else:
        title = say(
            "Keeping nothing of users lowers the RMSE by {gain:.1%} where half of the ratings"
            " arrive one by one",
            gain=-cost,
        )
    st.title(title, anchor=False)
    learns = say(
        "On {data}, held-out RMSE **{rmse:.3f}** with everything kept. A server that drops each"
        " user's ratings and vector after every interaction learns from them all the same, through"
        " the item factors, which stay.",
        data=phrase(choice.entry.title),
        rmse=float(table["rmse"].iloc[0]),
    )
    st.write(f"{learns} {not_there}")


def by_share(runs: dict[str, Run]) -> None:
    table = frames.shares(runs)
    lines = frames.points(table[table["variant"] != "baseline"], "share")
    if lines["share"].nunique() < 2:  # one point makes no line
        return
    axis = say("share of the ratings known from the start, Rₛ")
    fig = sweep_charts.against(lines, "share", say(AXIS_TITLE), axis)
    values = "; ".join(
        say(
            "{variant} at {share}: {excess:.1%}",
            variant=frames.NAMES[variant],
            share=share,
            excess=excess,
        )
        for variant, share, excess in (
            table[["variant", "share", "excess"]].dropna().itertuples(index=False)
        )
    )
    alt = say("Excess RMSE over the baseline against the static share: {values}", values=values)
    words = say(
        "**static**: frozen at the start. **online**: all is kept, vectors are fitted anew."
        " **new**, **rated**: nothing of users is kept; whoever comes brings her ratings, and the"
        " item she rates now, or all that she has rated, learns from them. **slope one** learns"
        " mean differences between pairs of items."
    )
    charts.show(fig, "retention.shares", alt, table, caption=words)


def memory() -> None:
    """The retention ledger, and a stream that is really run."""
    st.header(say("What is kept, where, for how long"), anchor=False)
    draw_ledger()
    st.header(say("What would a subpoena get, and what a wiretap?"), anchor=False)
    draw_exposure()
    number = st.slider(say("Moment"), 1, MOMENTS, 1, key="retention.moment")
    draw_holdings(stream()[number - 1])


def draw_ledger() -> None:
    """The retention ledger."""
    rows = [
        {
            say("variant"): say(frames.NAMES[name]),
            say("what"): say(entry.what),
            say("where"): say(entry.where),
            say("how long"): say(entry.how_long),
        }
        for name, entries in MEMORY.items()
        for entry in entries
    ]
    safe_text.words_table(pd.DataFrame(rows))


def draw_exposure() -> None:
    """Who could get what."""
    rows = [
        {
            say("variant"): say(frames.NAMES[name]),
            say("a subpoena gets, at rest"): ", ".join(say(what) for what in at_rest(name)),
            say("a wiretap gets, of one interaction"): say(message),
        }
        for name, message in IN_TRANSIT.items()
    ]
    safe_text.words_table(pd.DataFrame(rows))
    st.caption(
        say(
            "The source's claim is of storage: neither ratings nor users' vectors stay on the"
            " server (abstract). So a subpoena finds item factors alone. In return, whoever is"
            " served without a profile brings all her ratings each time, and one tapped interaction"
            " gives them away; a server that keeps ratings is sent the new one only. What is"
            " recommended crosses the wire in every variant."
        )
    )


def draw_holdings(moment: Moment) -> None:
    """What the servers of every variant hold right after a rating of the stream."""
    st.write(
        say(
            "**Person {user} rates item {item} with {rating:g}.** Right after, the servers hold:",
            user=moment.user,
            item=moment.item,
            rating=moment.rating,
        )
    )
    rows = [
        {
            say("variant"): say(frames.NAMES[one.variant]),
            say("ratings"): one.ratings,
            say("numbers about users"): one.user_numbers,
            say("numbers about items"): one.item_numbers,
            say("there for a moment only"): say(one.for_a_moment),
            say("ratings sent"): one.ratings_sent,
        }
        for one in moment.holdings
    ]
    safe_text.words_table(pd.DataFrame(rows))
    st.caption(
        say(
            "Four people, six items, three numbers each. In variant rated the item factors moved by"
            " {moved:.3f} in this moment: they remember something.",
            moved=moment.item_move,
        )
    )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    left, right = st.columns(2)
    arrival = left.selectbox(
        say("Ratings arrive"),
        list(ORDERS),
        key="retention.arrival",
        format_func=lambda order: say(ORDERS[order]),
    )
    epochs = (
        right.number_input(
            say("Epochs over what is known from the start"),
            1,
            2000,
            first_views.EPOCHS,
            key="retention.epochs",
            help=say("The source takes 200."),
        )
        or first_views.EPOCHS
    )
    specs = frames.by_share(choice, arrival, epochs)
    runs = run_progress.request("retention", specs, first=frames.FIRST, whole=())
    with head:
        finding(choice, specs, runs)
        st.info(
            say(
                "**No differential privacy, and no ε.** It limits what a thief, a court or a"
                " curious employee finds on the server. It does not limit what the item factors, or"
                " recommendations to others, reveal: they learn from every rating, exactly. Source:"
                " D. Vallet, A. Friedman & S. Berkovsky, *Matrix Factorization without User Data"
                " Retention*, PAKDD 2014."
            ),
            icon=":material/info:",
        )
    if "baseline" in runs:
        by_share(runs)
        stored_results.note(list(specs.values()))
    who_sees_what.draw(who_sees_what.RETENTION)
    published_figures.choice("retention", figures_of("retention"))
    memory()


try:
    main()
except BadInput as error:
    safe_text.error(error)
