"""What goes on here? For whoever runs the server: sessions, queue with a Stop for each run,
memory, store.
"""

import pandas as pd
import streamlit as st

from dpmf_core.administration.overview import Overview, QueueEntry, lasting, presence, stop
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import accounts
from pages.kit import drawing, safe_text
from pages.server import lifespan, visitor

EVERY = 3.0  # seconds between looks
MOST_RUNS = 50  # runs of the queue


def facts(overview: Overview) -> None:
    first, second, third, fourth = st.columns(4)
    first.metric(
        "Sessions connected",
        f"{sum(visit.away is None for visit in overview.sessions)} of {len(overview.sessions)}",
    )
    second.metric("Runs in the queue", len(overview.queue))
    third.metric(
        "Memory, server + workers", f"{overview.mb_server:,.0f} + {overview.mb_workers:,.0f} MB"
    )
    fourth.metric("Store", f"{overview.mb_store:,.0f} MB")
    st.caption(
        f"{overview.runs:,} runs and the answers of {overview.lessons:,} lessons are stored;"
        f" uploads take {overview.mb_uploads:,.1f} MB."
    )


def _stop(ticket: str) -> None:
    """Looks once more who asks: a page may have been open for long."""
    if not visitor.asker().operator:
        return
    try:
        st.session_state["operator.done"] = f"Stopped {stop(engine(), ticket)}."
    except BadInput:
        st.session_state["operator.done"] = "That run had ended before."


def line(run: QueueEntry, logins: dict[str, str]) -> None:
    what, state, owner, button = st.columns([5, 2, 2, 1], vertical_alignment="center")
    what.markdown(safe_text.escape_letters(run.words))
    state.markdown(f"{run.step or run.state}" + (f", {run.ahead} ahead" if run.ahead else ""))
    whose = logins.get(run.owner) or run.owner.partition(":")[2][:8] or "nobody"
    owner.markdown(f"{safe_text.escape_letters(whose)}, {lasting(run.age)} old")
    button.button(
        "Stop",
        key=f"operator.stop.{run.ticket}",
        on_click=_stop,
        args=(run.ticket,),
        width="stretch",
    )


def draw_overview() -> None:
    """Draws itself again and again, for an operator alone."""
    if not visitor.asker().operator:
        return
    overview = lifespan.now()
    facts(overview)
    st.header("Queue", anchor=False)
    if message := st.session_state.pop("operator.done", ""):
        st.success(safe_text.escape(message))
    if not overview.queue:
        st.write("Nothing waits and nothing is computed.")
    for run in overview.queue[:MOST_RUNS]:
        line(run, {visit.owner: visit.label for visit in overview.sessions})
    if len(overview.queue) > MOST_RUNS:
        st.caption(f"And {len(overview.queue) - MOST_RUNS:,} more.")
    st.header("Sessions", anchor=False)
    rows = [
        {
            "login": it.label or "-",
            "owner": it.owner.partition(":")[2][:8],
            "page": it.page,
            "since": lasting(it.seconds),
            "connected": presence(it.away),
            "own data sets": it.brought,
        }
        for it in overview.sessions
    ]
    safe_text.table(pd.DataFrame(rows))
    _draw_shared_files()


def _draw_shared_files() -> None:
    """What sessions drew together on files that several of them brought."""
    files = accounts.shared_files()
    if not files:
        return
    st.header("Private files that several brought", anchor=False)
    rows = [
        {
            "file": it.fingerprint[:8],
            "accounts": it.n_accounts,
            "together": accounts.in_full(it.total),
        }
        for it in files
    ]
    safe_text.table(pd.DataFrame(rows))


def main() -> None:
    if not visitor.asker().operator:
        return
    st.title("What goes on here", anchor=False)
    st.write(
        "A run that is stopped ends for everybody who waits for it, between two of its steps. What"
        " had finished stays."
    )
    drawing.repeat(draw_overview, EVERY)


main()
