"""Asking the engine for runs, showing how far they are, and cancelling them."""

import functools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.serving import limits
from pages.kit import odometer, polling, safe_text, time_estimate
from pages.kit.finished_runs import FinishedRun, from_package
from pages.server import sessions, turns, visitor
from pages.server.background_work import Runs

POLL, SLOWEST = 0.4, 2.0  # seconds between looks at unfinished runs
MOMENT = 0.2  # seconds for stored runs to be read
TOGETHER = 4  # so many runs, or an eighth of all, finish before the page is drawn again
ROUND, LAST = 8, -9  # so many runs of a page have one priority; the last priority
FIRST = 8  # runs that a page is begun with, unless it says which
# unfinished runs, sessions that wait for some: from there on pages look, and draw, less often
MANY, CROWD = 40, 5
OPEN = ("waiting", "running")


Handle = Job | FinishedRun
# by name: what is wanted, and the handle on it, None where it is not asked for yet
Handles = dict[str, tuple[Any, Handle | None]]


def _jobs(
    page: str,
    specs: Mapping[str, Any],
    first: Collection[str],
    whole: Collection[str] | None,
) -> tuple[dict[str, Handle], bool]:
    """This session's handles for the wanted runs, and whether they are wanted since just now. The
    first are asked for, and when these have ended the rest.

    Runs that are no longer wanted are let go; cancelled ones stay so until something else is
    wanted.
    """
    before = _still_requested(page)
    same = {name: spec for name, (spec, _) in before.items()} == dict(specs)
    stays = (*OPEN, "done")  # on private data the others stay too, until a button asks anew

    def is_current(name: str, spec: Any, job: Handle | None) -> bool:
        return specs.get(name) == spec and (
            job is None or same or job.state in stays or odometer.is_private(spec)
        )

    handles: Handles = {name: pair for name, pair in before.items() if is_current(name, *pair)}
    for name in before.keys() - handles.keys():
        if (old_job := before[name][1]) is not None:
            old_job.cancel()
    handles = {name: handles.get(name, (spec, None)) for name, spec in specs.items()}
    if any(handles[name][1] is None for name in first):
        _ask(handles, first, whole)
    if all(job is None or job.state in ("done", "failed") for _, job in handles.values()):
        _ask(handles, handles, whole)
    st.session_state[f"{page}.jobs"] = handles
    return {name: job for name, (_, job) in handles.items() if job is not None}, not same


def _still_requested(page: str) -> Handles:
    """What this session held at a page.

    What was called off because nobody looked is as if it had never been asked for.
    """
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    work: Runs | None = st.session_state.get(f"{page}.work")
    if work is not None and not work.open:
        work.leave_rest()
    if work is not None and work.called_off:
        handles = {
            name: (spec, None if job is not None and job.state == "cancelled" else job)
            for name, (spec, job) in handles.items()
        }
    return handles


def _ask(handles: Handles, names: Collection[str], whole: Collection[str] | None) -> None:
    """Ask the engine for what is not asked for yet.

    The run that a page is about goes before those that it is compared with, and the early ones of
    these before the late ones.
    """
    missing = [name for name, (_, job) in handles.items() if name in names and job is None]
    if missing:
        _submission(handles, missing, whole)()


def _submission(
    handles: Handles, names: Sequence[str], whole: Collection[str] | None
) -> Callable[[], list[Handle]]:
    """What asks the engine for these on behalf of whoever is at the page, now or later, from any
    thread; it gives the handles.
    """
    places = {name: place for place, name in enumerate(handles)}
    costs = time_estimate.costs(handles[name][0] for name in names)
    here, asker = visitor.VisitorEngine(visitor.asker()), sessions.this()

    def submit() -> list[Handle]:
        light = {name for name in names if whole is not None and name not in whole}
        package_runs = from_package({name: handles[name][0] for name in names if name in light})
        for name, cost in zip(names, costs, strict=True):
            spec, priority = handles[name][0], -min(-LAST, -(-places[name] // ROUND))
            if name in package_runs:
                handles[name] = (spec, package_runs[name])
            elif isinstance(spec, RunSpec):
                handles[name] = (spec, here.submit(spec, priority, asker, cost, name in light))
            else:
                handles[name] = (spec, here.measure(spec, priority, asker, cost))
        return [job for name in names if (job := handles[name][1]) is not None]

    return submit


def again(page: str) -> None:
    """Forget what was cancelled or failed, so that the next look asks anew."""
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    for name in [
        name
        for name, (_, job) in handles.items()
        if job is not None and job.state in ("cancelled", "failed")
    ]:
        handles[name] = (handles[name][0], None)


def request(
    page: str,
    specs: Mapping[str, Any],
    patience: float = 1.5,
    first: Collection[str] | None = None,
    by_button: bool = False,
    whole: Collection[str] | None = None,
) -> dict[str, Any]:
    """The finished ones of the wanted runs or measurements, by name. The rest shows its progress
    here and the page is drawn again as they finish.

    first: names of what the page's first view needs; the rest is asked for when these have ended.
    by_button: whether a button asked for them, so that they go on when another page is opened.
    whole: names of the runs whose arrays the page needs; of the others the records suffice, None
    is all.
    On data that are not public only what was asked for is computed; the rest has a button here,
    with its price. Raises BadInput on too many.
    """
    with visitor.here():
        limits.at_most("largest_sweep", len(specs), "runs of a page")
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    through, has_purchases = odometer.admit(
        specs, {name: spec for name, (spec, job) in handles.items() if job is not None}
    )
    withheld = {name: spec for name, spec in specs.items() if name not in through}
    st.session_state[f"{page}.withheld"] = next(iter(specs), None) in withheld
    early = set(list(through)[:FIRST] if first is None else first)
    secret = odometer.names_of_private(through)
    begin = [name for name in through if name in early or name in secret]
    jobs, new = _jobs(page, through, begin, whole)
    _hold(page, jobs, by_button or bool(secret), whole)
    place = st.empty()
    _answer(place, page, list(jobs.values()))
    if jobs and new:  # once, so that a widget's answer does not wait for runs that go on
        with turns.waiting():
            _settle(list(jobs.values()), patience)
        jobs, _ = _jobs(page, through, begin, whole)
        _hold(page, jobs, by_button or bool(secret), whole)
    going = any(job.state in OPEN for job in jobs.values())
    if has_purchases and not going:
        st.rerun()  # what was drawn stands in the sidebar, which was drawn before
    if going:
        _follow(place, page, jobs, len(through))
    else:
        place.empty()
    _troubles(page, jobs)
    odometer.offer(page, withheld, specs)
    engine().start()  # so that the next run need not wait for workers
    return _finished_runs(page, jobs, whole)


def goes_on(page: str) -> bool:
    """Whether something that a page asked for has not ended, or is still to be asked for."""
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    return any(job is None or job.state in OPEN for _, job in handles.values())


def _follow(place: Any, page: str, jobs: Mapping[str, Handle], count: int) -> None:
    """How far the runs are stands here, and is looked at again as soon as the page is drawn."""
    now = strain()
    together = max(TOGETHER, count // 8) if now <= 1 else count
    finished_count = sum(job.state == "done" for job in jobs.values())
    first_finished = next(iter(jobs.values())).state == "done"
    watch = functools.partial(_watch, page, finished_count, first_finished, together)
    follow(watch, min(SLOWEST, POLL * now), place)


def follow(watch: Callable[[], None], every: float, place: Any = None) -> None:
    """Have something looked at every so many seconds, as soon as the page is drawn."""
    where = st.empty() if place is None else place
    st.session_state.setdefault("runs.followed", []).append((where, watch, every))


def _finished_runs(
    page: str, jobs: Mapping[str, Handle], whole: Collection[str] | None
) -> dict[str, Any]:
    """What has finished; of runs whose arrays are not needed only the records are held on to."""
    results = {name: job.result(0) for name, job in jobs.items() if job.state == "done"}
    handles: Handles = st.session_state[f"{page}.jobs"]
    for name, run in results.items():
        spec, job = handles[name]
        time_estimate.learn(job)
        light = whole is not None and name not in whole
        if light and isinstance(run, Run) and not isinstance(job, FinishedRun):
            finished_run = FinishedRun(spec, run)
            handles[name], results[name] = (spec, finished_run), finished_run.result()
    return results


# ---- whose they are ------------------------------------------------------------------------------


def _hold(
    page: str, jobs: Mapping[str, Handle], by_button: bool, whole: Collection[str] | None
) -> None:
    """Enter them as what this session has going on here; what a button asked for is asked for to
    the end, also when another page is opened. A second handle that the work before it has on one
    of them is let go.
    """
    st.session_state.setdefault("runs.drawn", set()).add(page)
    before: Runs | None = st.session_state.get(f"{page}.work")
    handles: Handles = st.session_state[f"{page}.jobs"]
    rest = [name for name, (_, job) in handles.items() if job is None]
    ask_rest = _submission(handles, rest, whole) if by_button and rest else None
    work = st.session_state[f"{page}.work"] = Runs(list(jobs.values()), ask_rest)
    sessions.registry.hold(sessions.this(), page, work, by_button)
    if before is not None:
        before.end(but=work.jobs)


def begin() -> None:
    """Before a page is drawn: nothing of it is wanted yet."""
    st.session_state["runs.drawn"] = set()
    st.session_state["runs.followed"] = []


def leave() -> None:
    """After a page is drawn: its runs are followed, and what other pages began by themselves is
    called off, for it is not looked at any more.

    A browser looks at runs again from here on, when nothing of the page is still to be sent.
    """
    for place, watch, every in st.session_state.pop("runs.followed", []):
        with place.container():
            polling.repeat(watch, every)
    drawn_pages = st.session_state.get("runs.drawn", set())
    for page, (_, by_button) in sessions.registry.going(sessions.this()).items():
        if not by_button and page not in drawn_pages:
            stop(page)


def stop(page: str) -> None:
    """Call off what this session has going on at a page; what has finished is kept, the rest is
    asked for when the page wants it again.
    """
    sessions.registry.let_go(sessions.this(), page)


# ---- how far they are ----------------------------------------------------------------------------


@st.cache_resource
def _watchers() -> dict[str, float]:
    """When each session that waits for runs was last drawn."""
    return {}


def strain() -> float:
    """1 on a quiet server; more, the more sessions wait and runs are unfinished."""
    watchers, now = _watchers(), time.monotonic()
    watchers[sessions.this()] = now
    for name in [
        name for name, last_drawn in list(watchers.items()) if now - last_drawn > 3 * SLOWEST
    ]:
        watchers.pop(name, None)
    return max(1.0, len(watchers) / CROWD, engine().n_unfinished() / MANY)


def _settle(jobs: Sequence[Handle], patience: float) -> None:
    """A stored or quick run needs no second drawing: the first has its time, and what is stored
    besides comes a moment later. What has to be computed is not waited for.
    """
    jobs[0].wait(patience)
    until = time.monotonic() + MOMENT
    for job in [job for job in jobs if not job.is_queued]:
        if not job.wait(max(0.0, until - time.monotonic())):
            return


def _answer(place: Any, page: str, jobs: list[Handle]) -> None:
    """At once, where the runs are in the queue."""
    open_jobs = [job for job in jobs if isinstance(job, Job) and job.state in OPEN]
    if open_jobs:
        place.progress(*time_estimate.progress(jobs, open_jobs, _rest(page)))


def _rest(page: str) -> list[Any]:
    """What a page wants and has not asked for yet."""
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    return [spec for spec, job in handles.values() if job is None]


def _watch(page: str, finished_count: int, first_finished: bool, together: int) -> None:
    """A fragment that draws itself while runs go on, and the page when the first has finished,
    or so many together, or all.
    """
    strain()
    handles: Handles = st.session_state.get(f"{page}.jobs", {})
    jobs = [job for _, job in handles.values() if job is not None]
    open_jobs = [job for job in jobs if isinstance(job, Job) and job.state in OPEN]
    news = sum(job.state == "done" for job in jobs) - finished_count
    if (
        not open_jobs
        or news >= together
        or (news and not first_finished and jobs[0].state == "done")
    ):
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(*time_estimate.progress(jobs, open_jobs, _rest(page)))
    if button.button("Cancel", key=f"{page}.cancel", width="stretch"):
        st.session_state[f"{page}.work"].end()
        st.rerun()


def queue() -> str:
    """How many runs wait on this server, in a sentence; nothing where none does."""
    waiting = engine().waiting()
    return f"Runs waiting here now: {waiting:,}; sessions take turns." * (waiting > 0)


def may_begin(page: str, seconds: float, what: str, signature: str) -> bool:
    """Whether work may begin: what is short may, what is long once a button says so, which is
    drawn here with an estimate. signature: of the work.
    """
    key = f"{page}.confirmed"
    if seconds <= engine().limits.ask_seconds or st.session_state.get(key) == signature:
        return True
    words, button = st.columns([3, 1], vertical_alignment="center")
    estimate = f"{what} would take about **{time_estimate.words(seconds)}** (an estimate)."
    words.write(f"{estimate} {queue()}")
    button.button(
        "Start",
        key=f"{page}.confirm",
        type="primary",
        width="stretch",
        on_click=_confirm,
        args=(key, signature),
    )
    return False


def _confirm(key: str, signature: str) -> None:
    st.session_state[key] = signature


def _troubles(page: str, jobs: Mapping[str, Handle]) -> None:
    """What failed or was cancelled, once each, and a way to ask again."""
    for message in dict.fromkeys(
        job.error for job in jobs.values() if job.state == "failed" and job.error
    ):
        safe_text.error(message, "")
    if any(job.state == "cancelled" for job in jobs.values()):
        private = any(
            job.state == "cancelled" and odometer.is_private(job.spec) for job in jobs.values()
        )
        words = ["Cancelled. What had finished is shown; nothing of the cancelled runs was kept."]
        if private:
            words.append("On private data what they had drawn by then is in the total.")
        st.info(" ".join(words))
    if any(job.state in ("cancelled", "failed") for job in jobs.values()):
        st.button("Run again", key=f"{page}.again", on_click=again, args=(page,))
