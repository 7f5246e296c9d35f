"""Asking the engine for runs, showing how far they are, and cancelling them."""

import time
import uuid
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpmf_core import limits
from dpmf_core.engine import engine
from dpmf_core.experiment import RunSpec
from dpmf_core.jobs import Job
from pages.kit import odometer, said, visitor

POLL, SLOWEST = 0.4, 2.0  # seconds between looks at unfinished runs
MOMENT = 0.2  # seconds for stored runs to be read
TOGETHER = 4  # so many runs, or an eighth of all, finish before the page is drawn again
ROUND, LAST = 8, -9  # so many runs of a page have one priority; the last priority, still before those of a sweep in a terminal
MANY, CROWD = 40, 5  # unfinished runs, sessions that wait for some: from there on pages look, and draw, less often


def _jobs(page: str, specs: Mapping[str, Any]) -> tuple[dict[str, Job], bool]:
    """This session's handles for the wanted runs, and whether they are wanted since just now.

    Runs that are no longer wanted are let go; cancelled ones stay so until something else is wanted.
    """
    before: dict[str, tuple[Any, Job]] = st.session_state.get(f"{page}.jobs", {})
    same = {name: spec for name, (spec, _) in before.items()} == dict(specs)
    stays = ("waiting", "running", "done")  # on private data the others stay too, until a button asks anew
    kept = {name for name, (spec, job) in before.items() if specs.get(name) == spec and (same or job.state in stays or odometer.private(spec))}
    for name in before.keys() - kept:
        before[name][1].cancel()
    held = {name: before[name] if name in kept else (spec, _asked(spec, place)) for place, (name, spec) in enumerate(specs.items())}
    st.session_state[f"{page}.jobs"] = held
    return {name: job for name, (_, job) in held.items()}, not same


def _asked(spec: Any, place: int) -> Job:
    """The run that a page is about goes before those that it is compared with, of every session, and early ones of each before late ones of any."""
    here = visitor.Asked(visitor.asker())
    ask = here.submit if isinstance(spec, RunSpec) else here.measure
    return ask(spec, -min(-LAST, -(-place // ROUND)))


def again(page: str) -> None:
    """Forget what was cancelled or failed, so that the next look asks anew."""
    held = st.session_state.get(f"{page}.jobs", {})
    for name in [name for name, (_, job) in held.items() if job.state in ("cancelled", "failed")]:
        del held[name]


def wanted(page: str, specs: Mapping[str, Any], patience: float = 1.5) -> dict[str, Any]:
    """The finished ones of the wanted runs or measurements, by name. The rest shows its progress here and the page is drawn again as they finish.

    On data that are not public only what was asked for is computed; the rest has a button here, with its price. Raises BadInput on too many.
    """
    with visitor.here():
        limits.at_most("largest_sweep", len(specs), "runs of a page")
    held = {name: spec for name, (spec, _) in st.session_state.get(f"{page}.jobs", {}).items()}
    through, bought = odometer.let_through(specs, held)
    withheld = {name: spec for name, spec in specs.items() if name not in through}
    st.session_state[f"{page}.withheld"] = next(iter(specs), None) in withheld
    jobs, new = _jobs(page, through)
    first = next(iter(jobs.values()), None)
    if first is not None and new:  # once, so that a widget's answer does not wait for runs that go on
        _settle(list(jobs.values()), patience)
    going = any(job.state in ("waiting", "running") for job in jobs.values())
    if bought and not going:
        st.rerun()  # what was drawn stands in the sidebar, which was drawn before
    if going:
        strain = _strain()
        watch = st.fragment(_watch, run_every=min(SLOWEST, POLL * strain))
        together = max(TOGETHER, len(jobs) // 8) if strain <= 1 else len(jobs)
        watch(page, sum(job.state == "done" for job in jobs.values()), first is not None and first.state == "done", together)
    _troubles(page, jobs)
    odometer.offer(page, withheld, specs)
    engine().start()  # so that the next run need not wait for workers
    return {name: job.result(0) for name, job in jobs.items() if job.state == "done"}


@st.cache_resource
def _watchers() -> dict[str, float]:
    """When each session that waits for runs was last drawn."""
    return {}


def _strain() -> float:
    """1 on a quiet server; more, the more sessions wait and runs are unfinished."""
    watchers, now = _watchers(), time.monotonic()
    watchers[st.session_state.setdefault("runs.session", uuid.uuid4().hex)] = now
    for session in [session for session, seen in list(watchers.items()) if now - seen > 3 * SLOWEST]:
        watchers.pop(session, None)
    return max(1.0, len(watchers) / CROWD, len(engine().jobs()) / MANY)


def _settle(jobs: list[Job], patience: float) -> None:
    """A stored or quick run needs no second drawing: the first has its time, and what is stored besides comes a moment later."""
    jobs[0].wait(patience)
    until = time.monotonic() + MOMENT
    for job in jobs:
        if not job.wait(max(0.0, until - time.monotonic())):
            return


def _watch(page: str, seen: int, first_seen: bool, together: int) -> None:
    """A fragment that draws itself while runs go on, and the page when the first has finished, or so many together, or all."""
    _strain()
    jobs = [job for _, job in st.session_state.get(f"{page}.jobs", {}).values()]
    open_jobs = [job for job in jobs if job.state in ("waiting", "running")]
    news = sum(job.state == "done" for job in jobs) - seen
    if not open_jobs or news >= together or (news and not first_seen and jobs[0].state == "done"):
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(*_progress(jobs, open_jobs))
    if button.button("Cancel", key=f"{page}.cancel", width="stretch"):
        for job in open_jobs:
            job.cancel()
        st.rerun()


def _progress(jobs: list[Job], open_jobs: list[Job]) -> tuple[float, str]:
    done = len(jobs) - len(open_jobs)
    running = next((job for job in open_jobs if job.progress), None)
    share, words = done / len(jobs), f"{done} of {len(jobs)} runs finished"
    if running and running.progress and running.progress.steps:
        now = running.progress
        share += now.step / now.steps / len(jobs)
        left = now.seconds / max(now.step, 1) * (now.steps - now.step)
        words += f"; step {now.step} of {now.steps} of one" + (f", about {left:.0f} s to go" if left >= 1 else "")
    elif open_jobs[0].state == "waiting":
        ahead = open_jobs[0].ahead
        words += f"; {ahead} other run{'s' if ahead > 1 else ''} first" if ahead else "; starting"
    return min(share, 1.0), words


def _troubles(page: str, jobs: Mapping[str, Job]) -> None:
    """What failed or was cancelled, once each, and a way to ask again."""
    for message in dict.fromkeys(job.error for job in jobs.values() if job.state == "failed" and job.error):
        said.error(message, "")
    if any(job.state == "cancelled" for job in jobs.values()):
        private = any(job.state == "cancelled" and odometer.private(job.spec) for job in jobs.values())
        cost = " On private data what they had drawn by then is in the total." if private else ""
        st.info(f"Cancelled. What had finished is shown; nothing of the cancelled runs was kept.{cost}")
    if any(job.state in ("cancelled", "failed") for job in jobs.values()):
        st.button("Run again", key=f"{page}.again", on_click=again, args=(page,))
