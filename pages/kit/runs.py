"""Asking the engine for runs, showing how far they are, and cancelling them."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core import limits
from dpmf_core.engine import engine
from dpmf_core.experiment import Run, RunSpec
from dpmf_core.jobs import Job
from pages.kit import forecast, odometer, said, visitor
from pages.kit.presence import Runs, presence, session

POLL, SLOWEST = 0.4, 2.0  # seconds between looks at unfinished runs
MOMENT = 0.2  # seconds for stored runs to be read
TOGETHER = 4  # so many runs, or an eighth of all, finish before the page is drawn again
ROUND, LAST = 8, -9  # so many runs of a page have one priority; the last priority
FIRST = 8  # runs that a page is begun with, unless it says which
MANY, CROWD = 40, 5  # unfinished runs, sessions that wait for some: from there on pages look, and draw, less often
OPEN = ("waiting", "running")


class Kept:
    """A finished run of which a page needs the record alone: a handle without arrays."""

    state, error, bad_input, progress = "done", None, False, None

    def __init__(self, spec: RunSpec, run: Run) -> None:
        self.spec, self._run = spec, Run(run.record, {})

    def cancel(self) -> None:
        """It has ended."""

    def wait(self, timeout: float) -> bool:
        return True

    def result(self, timeout: float | None = None) -> Run:
        return self._run


Handle = Job | Kept
Held = dict[str, tuple[Any, Handle | None]]  # by name: what is wanted, and the handle on it, None where it is not asked for yet


def _jobs(page: str, specs: Mapping[str, Any], first: Collection[str], light: bool) -> tuple[dict[str, Handle], bool]:
    """This session's handles for the wanted runs, and whether they are wanted since just now. The first are asked for, and when these have ended the rest.

    Runs that are no longer wanted are let go; cancelled ones stay so until something else is wanted.
    """
    before = _still_wanted(page)
    same = {name: spec for name, (spec, _) in before.items()} == dict(specs)
    stays = (*OPEN, "done")  # on private data the others stay too, until a button asks anew

    def kept(name: str, spec: Any, job: Handle | None) -> bool:
        return specs.get(name) == spec and (job is None or same or job.state in stays or odometer.private(spec))

    held: Held = {name: pair for name, pair in before.items() if kept(name, *pair)}
    for name in before.keys() - held.keys():
        if (dropped := before[name][1]) is not None:
            dropped.cancel()
    held = {name: held.get(name, (spec, None)) for name, spec in specs.items()}
    if any(held[name][1] is None for name in first):
        _ask(held, first, light)
    if all(job is None or job.state in ("done", "failed") for _, job in held.values()):
        _ask(held, held, light)
    st.session_state[f"{page}.jobs"] = held
    return {name: job for name, (_, job) in held.items() if job is not None}, not same


def _still_wanted(page: str) -> Held:
    """What this session held at a page. What was called off because nobody looked is as if it had never been asked for."""
    held: Held = st.session_state.get(f"{page}.jobs", {})
    work: Runs | None = st.session_state.get(f"{page}.work")
    if work is not None and work.called_off:
        held = {name: (spec, None if job is not None and job.state == "cancelled" else job) for name, (spec, job) in held.items()}
    return held


def _ask(held: Held, names: Collection[str], light: bool) -> None:
    """Ask the engine for what is not asked for yet."""
    for place, (name, (spec, job)) in enumerate(list(held.items())):
        if name in names and job is None:
            held[name] = (spec, _asked(spec, place, light))


def _asked(spec: Any, place: int, light: bool) -> Job:
    """The run that a page is about goes before those that it is compared with, and the early ones of these before the late ones."""
    priority, asker, cost = -min(-LAST, -(-place // ROUND)), session(), forecast.cost(spec)
    here = visitor.Asked(visitor.asker())
    if isinstance(spec, RunSpec):
        return here.submit(spec, priority, asker, cost, light)
    return here.measure(spec, priority, asker, cost)


def again(page: str) -> None:
    """Forget what was cancelled or failed, so that the next look asks anew."""
    held: Held = st.session_state.get(f"{page}.jobs", {})
    for name in [name for name, (_, job) in held.items() if job is not None and job.state in ("cancelled", "failed")]:
        held[name] = (held[name][0], None)


def wanted(
    page: str, specs: Mapping[str, Any], patience: float = 1.5, first: Collection[str] | None = None, asked: bool = False, light: bool = False
) -> dict[str, Any]:
    """The finished ones of the wanted runs or measurements, by name. The rest shows its progress here and the page is drawn again as they finish.

    first: names of what the page's first view needs; the rest is asked for when these have ended. asked: whether a button asked for them, so that they go on
    when another page is opened. light: whether records suffice, without arrays. On data that are not public only what was asked for is computed; the rest
    has a button here, with its price. Raises BadInput on too many.
    """
    with visitor.here():
        limits.at_most("largest_sweep", len(specs), "runs of a page")
    held: Held = st.session_state.get(f"{page}.jobs", {})
    through, bought = odometer.let_through(specs, {name: spec for name, (spec, job) in held.items() if job is not None})
    withheld = {name: spec for name, spec in specs.items() if name not in through}
    st.session_state[f"{page}.withheld"] = next(iter(specs), None) in withheld
    early = set(list(through)[:FIRST] if first is None else first)
    secret = odometer.private_among(through)
    begin = [name for name in through if name in early or name in secret]
    jobs, new = _jobs(page, through, begin, light)
    _hold(page, jobs, asked or bool(secret))
    place = st.empty()
    if jobs and new:  # once, so that a widget's answer does not wait for runs that go on
        _answer(place, list(jobs.values()), len(through))
        _settle(list(jobs.values()), patience)
        jobs, _ = _jobs(page, through, begin, light)
    going = any(job.state in OPEN for job in jobs.values())
    place.empty()
    if bought and not going:
        st.rerun()  # what was drawn stands in the sidebar, which was drawn before
    if going:
        _follow(page, jobs, len(through))
    _troubles(page, jobs)
    odometer.offer(page, withheld, specs)
    engine().start()  # so that the next run need not wait for workers
    return _finished(page, jobs, light)


def _follow(page: str, jobs: Mapping[str, Handle], count: int) -> None:
    strain = _strain()
    watch = st.fragment(_watch, run_every=min(SLOWEST, POLL * strain))
    together = max(TOGETHER, count // 8) if strain <= 1 else count
    watch(page, sum(job.state == "done" for job in jobs.values()), next(iter(jobs.values())).state == "done", together)


def _finished(page: str, jobs: Mapping[str, Handle], light: bool) -> dict[str, Any]:
    """What has finished; of a light page's runs only the records are held on to."""
    found = {name: job.result(0) for name, job in jobs.items() if job.state == "done"}
    held: Held = st.session_state[f"{page}.jobs"]
    for name in found:
        forecast.learn(held[name][1])
        if light and isinstance(found[name], Run) and not isinstance(held[name][1], Kept):
            held[name] = (held[name][0], Kept(held[name][0], found[name]))
            found[name] = held[name][1].result()  # type: ignore[union-attr]
    return found


# ---- whose they are ---------------------------------------------------------------------------------------------------


def _hold(page: str, jobs: Mapping[str, Handle], asked: bool) -> None:
    st.session_state.setdefault("runs.drawn", set()).add(page)
    work = st.session_state[f"{page}.work"] = Runs(list(jobs.values()))
    presence().hold(session(), page, work, asked)


def begin() -> None:
    """Before a page is drawn: nothing of it is wanted yet."""
    st.session_state["runs.drawn"] = set()


def leave() -> None:
    """After a page is drawn: what other pages began by themselves is called off, for it is not looked at any more."""
    drawn = st.session_state.get("runs.drawn", set())
    for page, (_, asked) in presence().going(session()).items():
        if not asked and page not in drawn:
            stop(page)


def stop(page: str) -> None:
    """Call off what this session has going on at a page; what has finished is kept, the rest is asked for when the page wants it again."""
    presence().let_go(session(), page)


# ---- how far they are -------------------------------------------------------------------------------------------------


@st.cache_resource
def _watchers() -> dict[str, float]:
    """When each session that waits for runs was last drawn."""
    return {}


def _strain() -> float:
    """1 on a quiet server; more, the more sessions wait and runs are unfinished."""
    watchers, now = _watchers(), time.monotonic()
    watchers[session()] = now
    for name in [name for name, seen in list(watchers.items()) if now - seen > 3 * SLOWEST]:
        watchers.pop(name, None)
    return max(1.0, len(watchers) / CROWD, engine().unfinished() / MANY)


def _settle(jobs: Sequence[Handle], patience: float) -> None:
    """A stored or quick run needs no second drawing: the first has its time, and what is stored besides comes a moment later."""
    jobs[0].wait(patience)
    until = time.monotonic() + MOMENT
    for job in jobs:
        if not job.wait(max(0.0, until - time.monotonic())):
            return


def _answer(place: Any, jobs: list[Handle], count: int) -> None:
    """At once, where the runs are in the queue."""
    open_jobs = [job for job in jobs if isinstance(job, Job) and job.state in OPEN]
    if open_jobs:
        place.progress(*_progress(jobs, open_jobs, count))


def _watch(page: str, seen: int, first_seen: bool, together: int) -> None:
    """A fragment that draws itself while runs go on, and the page when the first has finished, or so many together, or all."""
    _strain()
    held: Held = st.session_state.get(f"{page}.jobs", {})
    jobs = [job for _, job in held.values() if job is not None]
    open_jobs = [job for job in jobs if isinstance(job, Job) and job.state in OPEN]
    news = sum(job.state == "done" for job in jobs) - seen
    if not open_jobs or news >= together or (news and not first_seen and jobs[0].state == "done"):
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(*_progress(jobs, open_jobs, len(held)))
    if button.button("Cancel", key=f"{page}.cancel", width="stretch"):
        for job in open_jobs:
            job.cancel()
        st.rerun()


def _progress(jobs: Sequence[Handle], open_jobs: Sequence[Job], count: int) -> tuple[float, str]:
    """How much of so many runs is done, and in words: what is finished, how long the rest takes, whose turn it is."""
    done = len(jobs) - len(open_jobs)
    running = next((job for job in open_jobs if job.progress), None)
    share, words = done / count, f"{done} of {count} runs finished"
    costs = [job.cost for job in open_jobs]
    left = max(sum(costs) / engine().width, *costs)
    if running and running.progress and running.progress.steps:
        now = running.progress
        share += now.step / now.steps / count
        left = max(left, now.seconds / max(now.step, 1) * (now.steps - now.step))
        words += f"; step {now.step} of {now.steps} of one"
    elif open_jobs[0].state == "waiting":
        place = open_jobs[0].ahead + 1
        words += f"; your turn: {ordinal(place)} of {max(open_jobs[0].waiting, place):,}"
    return min(share, 1.0), words + (f", about {forecast.words(left)}" if left >= 1 else "")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def queue() -> str:
    """How many runs wait on this server, in a sentence; nothing where none does."""
    waiting = engine().waiting()
    return f"{waiting:,} run{'s' if waiting > 1 else ''} wait here now; sessions take turns." if waiting else ""


def confirmed(page: str, seconds: float, what: str, signature: str) -> bool:
    """Whether work may begin: what is short may, what is long once a button says so, which is drawn here with an estimate. signature: of the work."""
    key = f"{page}.confirmed"
    if seconds <= engine().limits.ask_seconds or st.session_state.get(key) == signature:
        return True
    words, button = st.columns([3, 1], vertical_alignment="center")
    words.write(f"{what} would take about **{forecast.words(seconds)}** (an estimate). {queue()}")
    button.button("Start", key=f"{page}.confirm", type="primary", width="stretch", on_click=_confirm, args=(key, signature))
    return False


def _confirm(key: str, signature: str) -> None:
    st.session_state[key] = signature


def _troubles(page: str, jobs: Mapping[str, Handle]) -> None:
    """What failed or was cancelled, once each, and a way to ask again."""
    for message in dict.fromkeys(job.error for job in jobs.values() if job.state == "failed" and job.error):
        said.error(message, "")
    if any(job.state == "cancelled" for job in jobs.values()):
        private = any(job.state == "cancelled" and odometer.private(job.spec) for job in jobs.values())
        cost = " On private data what they had drawn by then is in the total." if private else ""
        st.info(f"Cancelled. What had finished is shown; nothing of the cancelled runs was kept.{cost}")
    if any(job.state in ("cancelled", "failed") for job in jobs.values()):
        st.button("Run again", key=f"{page}.again", on_click=again, args=(page,))
