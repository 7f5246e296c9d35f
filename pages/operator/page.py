"""What goes on here? For whoever runs the server: sessions, queue with a Stop for each run,
memory, store.
"""

import pandas as pd
import streamlit as st

from dpmf_core.administration.overview import Overview, Queued, lasting, presence, stop
from dpmf_core.engine.executor import engine
from dpmf_core.errors import BadInput
from pages.kit import polling, safe_text
from pages.server import lifespan, visitor

EVERY = 3.0  # seconds between looks
SHOWN = 50  # runs of the queue


def facts(found: Overview) -> None:
    first, second, third, fourth = st.columns(4)
    first.metric(
        "Sessions connected",
        f"{sum(visit.away is None for visit in found.sessions)} of {len(found.sessions)}",
    )
    second.metric("Runs in the queue", len(found.queue))
    third.metric("Memory, server + workers", f"{found.mb_server:,.0f} + {found.mb_workers:,.0f} MB")
    fourth.metric("Store", f"{found.mb_store:,.0f} MB")
    st.caption(
        f"{found.runs:,} runs and the answers of {found.lessons:,} lessons are stored; uploads take"
        f" {found.mb_uploads:,.1f} MB."
    )


def _stop(ticket: str) -> None:
    """Looks once more who asks: a page may have been open for long."""
    if not visitor.asker().operator:
        return
    try:
        st.session_state["operator.done"] = f"Stopped {stop(engine(), ticket)}."
    except BadInput:
        st.session_state["operator.done"] = "That run had ended before."


def line(queued: Queued, logins: dict[str, str]) -> None:
    what, state, owner, button = st.columns([5, 2, 2, 1], vertical_alignment="center")
    what.markdown(safe_text.escape_letters(queued.words))
    state.markdown(
        f"{queued.step or queued.state}" + (f", {queued.ahead} ahead" if queued.ahead else "")
    )
    whose = logins.get(queued.owner) or queued.owner.partition(":")[2][:8] or "nobody"
    owner.markdown(f"{safe_text.escape_letters(whose)}, {lasting(queued.age)} old")
    button.button(
        "Stop",
        key=f"operator.stop.{queued.ticket}",
        on_click=_stop,
        args=(queued.ticket,),
        width="stretch",
    )


def watched() -> None:
    """Draws itself again and again, for an operator alone."""
    if not visitor.asker().operator:
        return
    found = lifespan.now()
    facts(found)
    st.header("Queue", anchor=False)
    if done := st.session_state.pop("operator.done", ""):
        st.success(safe_text.escape(done))
    if not found.queue:
        st.write("Nothing waits and nothing is computed.")
    for queued in found.queue[:SHOWN]:
        line(queued, {visit.owner: visit.label for visit in found.sessions})
    if len(found.queue) > SHOWN:
        st.caption(f"And {len(found.queue) - SHOWN:,} more. `python -m dpmf_core admin` lists all.")
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
        for it in found.sessions
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
    polling.repeat(watched, EVERY)


main()
