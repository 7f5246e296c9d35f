"""What is happening here? Sessions, queue, memory, store and classes, for operators."""

import functools
import time
from typing import Any

import psutil
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_own
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy import accounts
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import data_sets, drawing, safe_text
from pages.operator import classes
from pages.server import sessions, upload_quota, visitor
from pages.server.sessions import Session

EVERY = 3.0  # seconds between looks
MOST_RUNS = 50  # runs of the queue
MB = 1e6


def draw_facts(visits: list[Session], jobs: list[Job]) -> None:
    store = engine().store
    server = psutil.Process().memory_info().rss
    workers = sum(engine().worker_memory())
    n_connected = sum(visit.left_at is None for visit in visits)
    facts: dict[str, Any] = {
        "Sessions connected": f"{n_connected} of {len(visits)}",
        "Runs in the queue": len(jobs),
        "Memory, server + workers": f"{server / MB:,.0f} + {workers / MB:,.0f} MB",
        "Store": f"{store.path.stat().st_size / MB:,.0f} MB",
    }
    for column, (label, value) in zip(st.columns(4), facts.items(), strict=True):
        column.metric(label, value)
    st.caption(
        f"{store.count():,} runs are stored; uploads take"
        f" {upload_quota.uploaded_in_all() / MB:,.1f} MB."
    )


def describe(spec: Any) -> str:
    """A run in one line, without the path of an uploaded file."""
    data = getattr(spec, "data", None)
    place = ""
    if data is not None:
        if is_own(data.id):
            name = "an uploaded file"
        else:
            name = data_sets.title_of(data.id)
        place = f" on {name}"
    if isinstance(spec, RunSpec):
        parts = [f"{spec.algorithm}{place}"]
        if spec.budget is not None:
            parts.append(f"epsilon {spec.budget.epsilon:g}")
        parts.append(f"seed {spec.seed}")
        parts += [f"{key} {value}" for key, value in spec.parameters.items()]
        return ", ".join(parts)
    kind = type(spec).__name__.removesuffix("Spec").lower()
    size = getattr(spec, "size", None)
    if size:
        kind += f" of {size:,g}"
    return kind + place


def _stop(ticket: str) -> None:
    """Stop a run for everyone, if the visitor still is an operator: the page may be old."""
    if not visitor.asker().operator:
        return
    for job in engine().jobs():
        if job.ticket == ticket:
            job.stop()
            st.session_state["operator.done"] = f"Stopped {describe(job.spec)}."
            return
    st.session_state["operator.done"] = "That run has already ended."


def draw_job(job: Job, place: int, logins: dict[str, str]) -> None:
    what, state, owner, button = st.columns([5, 2, 2, 1], vertical_alignment="center")
    what.markdown(safe_text.escape_letters(describe(job.spec)))
    progress = job.progress
    words: str = job.state
    if progress is not None:
        words = f"step {progress.step} of {progress.steps}"
    if place and job.state == "waiting":
        words += f", {place} ahead"
    state.markdown(words)
    name = classes.owner_name(job.owner, logins)
    owner.markdown(f"{safe_text.escape_letters(name)}, {duration(job.age)} old")
    button.button(
        safe_text.button_label("Stop", describe(job.spec)),
        f"operator.stop.{job.ticket}",
        on_click=_stop,
        args=(job.ticket,),
        width="stretch",
    )


def draw_overview() -> None:
    if not visitor.asker().operator:
        return
    visits = sessions.registry.all()
    logins = {visit.owner: visit.label for visit in visits}
    jobs = engine().jobs()
    draw_facts(visits, jobs)
    draw_queue(jobs, logins)
    draw_sessions(visits)
    for draw_part in (functools.partial(classes.draw, logins), _draw_shared_files):
        try:
            draw_part()
        except BadInput as error:  # the rest of the page stays of use
            safe_text.error(error)


def draw_queue(jobs: list[Job], logins: dict[str, str]) -> None:
    st.header("Queue", anchor=False)
    message = st.session_state.pop("operator.done", "")
    if message:
        st.success(safe_text.escape(message))
    if not jobs:
        st.write("The queue is empty.")
    n_running = sum(job.state == "running" for job in jobs)
    for place, job in enumerate(jobs[:MOST_RUNS]):
        draw_job(job, place - n_running, logins)
    if len(jobs) > MOST_RUNS:
        st.caption(f"And {len(jobs) - MOST_RUNS:,} more.")


def draw_sessions(visits: list[Session]) -> None:
    st.header("Sessions", anchor=False)
    now = time.monotonic()
    rows = []
    for visit in visits:
        if visit.left_at is None:
            connected = "yes"
        else:
            connected = f"gone for {duration(visit.away(now))}"
        rows.append(
            {
                "login": visit.label or "-",
                "owner": classes.owner_name(visit.owner, {}),
                "page": visit.page,
                "since": duration(now - visit.began),
                "connected": connected,
                "own data sets": len(visit.own_data),
            }
        )
    safe_text.table(rows)


def _draw_shared_files() -> None:
    files = accounts.shared_files()
    if not files:
        return
    st.header("Private files uploaded in several sessions", anchor=False)
    rows = [(file.fingerprint[:8], file.n_accounts, file.total.words) for file in files]
    safe_text.table(rows, ["file", "accounts", "together"])


def main() -> None:
    if not visitor.asker().operator:
        return
    st.title("What is happening here", anchor=False)
    st.write(
        "Stop ends a run after its current step, for everyone waiting for it. Finished runs stay."
    )
    drawing.repeat(draw_overview, EVERY)


main()
