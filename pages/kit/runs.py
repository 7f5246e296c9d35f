"""The runs of a page: what is there, asking for the rest, and how far it is.

A page calls `ask` with all that it wants and gets what has finished. Workers compute the rest while
the page is looked at; the page is drawn again as it finishes.
"""

import functools
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpmf_core.base import limits
from dpmf_core.data.catalogue import is_own
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.machine import duration
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit import drawing, odometer, safe_text, time_estimate
from pages.server import sessions, visitor

POLL, SLOWEST = 0.4, 2.0  # seconds between looks at unfinished runs
MOMENT = 0.2  # seconds for stored runs to be read
TOGETHER = 4  # so many runs, or an eighth of all, finish before the page is drawn again
ROUND, LAST = 8, -9  # so many runs of a page have one priority; the last priority
# waiting runs, sessions for which something is computed: from there on pages look, and draw, less
# often
MANY, CROWD = 40, 5
OPEN = ("waiting", "running")
REQUESTS, FOLLOWED, DRAWN_PLACES = "runs.asked", "runs.followed", "runs.drawn"  # in the session
Work = Any  # a RunSpec or a Measurement


@dataclass(eq=False)
class Request:
    """What a session wants at one place of a page, by name.

    results: results that are there. jobs: handles on the rest. called_off: whether it was cancelled
    because nobody looked any more.
    """

    specs: dict[str, Work] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    called_off: bool = False

    @property
    def open_jobs(self) -> list[Job]:
        return [job for job in list(self.jobs.values()) if job.state in OPEN]

    @property
    def busy(self) -> bool:
        return bool(self.open_jobs)

    def advance(self) -> None:
        """Workers advance it."""

    def cancel(self) -> None:
        self.called_off = True
        for job in self.open_jobs:
            job.cancel()

    def has_ended(self, name: str) -> bool:
        """Whether a result is there, collected or not."""
        return name in self.results or (name in self.jobs and self.jobs[name].state == "done")

    def progress(self) -> tuple[float, str]:
        """How much of it is done, and in words."""
        done_count = sum(map(self.has_ended, self.specs))
        return time_estimate.progress(self.open_jobs, done_count, len(self.specs))

    def collect(self, whole: Collection[str] | None) -> None:
        """Take the results of jobs that are done; records alone, but for the names in whole."""
        for name, job in [(name, job) for name, job in self.jobs.items() if job.state == "done"]:
            time_estimate.learn(job)
            result = job.result(0)
            light = whole is not None and name not in whole and isinstance(result, Run)
            self.results[name] = Run(result.record, {}) if light else result
            del self.jobs[name]

    def want(self, specs: Mapping[str, Work]) -> list[str]:
        """Want these from now on and let go of the rest; the names of what is to be asked for.

        What failed or was cancelled stays so until something else is wanted, or a button asks again
        (on private data always a button). What was called off is asked for anew.
        """
        same = self.specs == specs
        stays = {name for name, spec in specs.items() if self._stays(name, spec, same)}
        for name in self.jobs.keys() - stays:
            self.jobs.pop(name).cancel()
        self.results = {name: result for name, result in self.results.items() if name in stays}
        self.specs, self.called_off = dict(specs), False
        return [name for name in specs if name not in stays]

    def _stays(self, name: str, spec: Work, same: bool) -> bool:
        if self.specs.get(name) != spec:
            return False
        job = self.jobs.get(name)
        if job is None or job.state in (*OPEN, "done"):
            return name in self.results or job is not None
        if self.called_off and job.state == "cancelled":
            return False
        return same or odometer.is_private(spec)

    def submit(
        self,
        names: Sequence[str],
        whole: Collection[str] | None,
        priority: int | None = None,
        first: Collection[str] = (),
    ) -> None:
        """Ask the engine for these. priority: of all; else early ones go before late ones."""
        light = {name for name in names if whole is not None and name not in whole}
        with visitor.here():
            self.results |= _known_runs({name: self.specs[name] for name in names}, light)
        names = [name for name in names if name not in self.results]
        costs = time_estimate.costs(self.specs[name] for name in names) if names else []
        order = dict.fromkeys((*first, *self.specs))
        places = {name: place for place, name in enumerate(order)}
        with visitor.here():
            for name, cost in zip(names, costs, strict=True):
                work, late = self.specs[name], min(-LAST, -(-places[name] // ROUND))
                terms = -late if priority is None else priority, sessions.this(), cost
                self.jobs[name] = (
                    engine().submit(work, *terms)
                    if isinstance(work, RunSpec)
                    else engine().measure(work, *terms)
                )


def _known_runs(specs: Mapping[str, Work], light: Collection[str]) -> dict[str, Run]:
    """Runs that are there: records alone where these suffice, which may come with the package;
    none on data that the operator does not allow.
    """
    runs = {name: spec for name, spec in specs.items() if isinstance(spec, RunSpec)}
    ids = {spec.data.id for spec in runs.values()}
    allowed = {it for it in ids if is_own(it) or limits.allowed_here(it)}
    runs = {name: spec for name, spec in runs.items() if spec.data.id in allowed}
    known = engine().known_runs
    stored_runs = {
        name: known.find(spec) if name in light else known.whole(spec)
        for name, spec in runs.items()
    }
    return {
        name: Run(run.record, {}) if name in light else run
        for name, run in stored_runs.items()
        if run is not None
    }


def request_at(place: str) -> Request:
    """What this session wants at a place, by its name."""
    places: dict[str, Request] = st.session_state.setdefault(REQUESTS, {})
    return places.setdefault(place, Request())


def ask(
    place: str,
    specs: Mapping[str, Work],
    patience: float = 1.5,
    by_button: bool = False,
    whole: Collection[str] | None = None,
    first: Collection[str] = (),
    confirm: bool = False,
) -> dict[str, Any]:
    """Get the finished ones of the wanted runs or measurements, and have the rest computed.

    The rest shows its progress here, and the page is drawn again as it finishes. On data that are
    not public only what a button asked for is computed; the rest has a button here, with its price.

    Parameters
    ----------
    place
        Names the place of the page that wants them; what it wanted before is let go.
    specs
        By name, in the order in which they are computed.
    patience
        Seconds for which the page waits, once, for the first of them.
    by_button
        Whether a button asked for them, so that they go on when another page is opened.
    whole
        Names of the runs whose arrays the page needs; of the others it gets the records. None: all.
    first
        Names of those that are computed before the others.
    confirm
        Whether what takes long waits for a button, which says how long.

    Raises
    ------
    BadInput
        On more runs than the server's limits allow.
    """
    with visitor.here():
        limits.at_most("largest_sweep", len(specs), "runs of a page")
    if confirm:
        specs = _confirmed(place, specs)
    request = request_at(place)
    known = {name: request.specs[name] for name in (*request.results, *request.jobs)}
    admitted, has_purchases = odometer.admit(specs, known)
    withheld = {name: spec for name, spec in specs.items() if name not in admitted}
    st.session_state[f"{place}.withheld"] = next(iter(specs), None) in withheld
    is_new = request.specs != admitted
    request.submit(request.want(admitted), whole, first=first)
    hold(place, request, by_button or bool(odometer.names_of_private(admitted)))
    _collect(place, request, whole, patience if is_new else 0.0)
    if has_purchases and not request.busy:
        st.rerun()  # what was drawn stands in the sidebar, which was drawn before
    _draw_troubles(place, request)
    odometer.offer(place, withheld, specs)
    engine().start()  # so that the next run need not wait for workers
    return {name: request.results[name] for name in admitted if name in request.results}


def _collect(place: str, request: Request, whole: Collection[str] | None, patience: float) -> None:
    """Take what has finished, and draw how far the rest is; wait so many seconds for the first."""
    news = st.empty()
    if request.busy:
        news.progress(*request.progress())
    if patience and request.jobs:  # once: a widget's answer does not wait for runs that go on
        with drawing.waiting():
            _settle(list(request.jobs.values()), patience)
    request.collect(whole)
    if request.busy:
        _follow(news, place, request)
    else:
        news.empty()


def _confirmed(place: str, specs: Mapping[str, Work]) -> Mapping[str, Work]:
    """What may be asked for by now: what is there, and the rest if it takes no long time together
    or its button was pressed.
    """
    here = engine().known_runs.find_all(list(specs.values()))
    lacking = {name: specs[name] for name, it in zip(specs, here, strict=True) if it is None}
    signature = " ".join(spec.model_dump_json() for spec in specs.values())
    seconds = time_estimate.seconds(lacking) if lacking else 0.0
    if may_begin(place, seconds, f"The {len(lacking)} runs that are not there", signature):
        return specs
    return {name: spec for name, spec in specs.items() if name not in lacking}


def goes_on(place: str) -> bool:
    """Whether something that a place wants has not ended."""
    return request_at(place).busy


def _settle(jobs: Sequence[Job], patience: float) -> None:
    """A stored or quick run needs no second drawing: the first has its time, and what is stored
    besides comes a moment later. What has to be computed is not waited for.
    """
    jobs[0].wait(patience)
    until = time.monotonic() + MOMENT
    for job in [job for job in jobs if not job.is_queued]:
        if not job.wait(max(0.0, until - time.monotonic())):
            return


def _again(place: str) -> None:
    """Forget what was cancelled or failed, so that the next look asks anew."""
    request = request_at(place)
    request.jobs = {name: job for name, job in request.jobs.items() if job.state in (*OPEN, "done")}


# ---- whose they are ------------------------------------------------------------------------------


def hold(place: str, request: Request, by_button: bool) -> None:
    """Enter it as what this session has going on here; what a button asked for goes on when
    another page is opened.
    """
    st.session_state.setdefault(DRAWN_PLACES, set()).add(place)
    sessions.registry.hold(sessions.this(), place, request, by_button)


@contextmanager
def following() -> Iterator[None]:
    """A page is drawn here. Then its runs are followed, for a browser looks at runs again as soon
    as nothing of the page is still to be sent; and what other pages began by themselves is called
    off.
    """
    st.session_state[DRAWN_PLACES], st.session_state[FOLLOWED] = set(), []
    yield
    for place, watch, every in st.session_state.pop(FOLLOWED, []):
        with place.container():
            drawing.repeat(watch, every)
    session = sessions.this()
    for place, (_, by_button) in sessions.registry.going(session).items():
        if not by_button and place not in st.session_state[DRAWN_PLACES]:
            sessions.registry.let_go(session, place)


# ---- how far they are ----------------------------------------------------------------------------


def strain() -> float:
    """1 on a quiet server; more, the more sessions wait and runs wait."""
    return max(1.0, sessions.registry.count_busy() / CROWD, engine().waiting() / MANY)


def follow(watch: Callable[[], None], every: float, place: Any = None) -> None:
    """Have something looked at every so many seconds, as soon as the page is drawn."""
    where = st.empty() if place is None else place
    st.session_state.setdefault(FOLLOWED, []).append((where, watch, every))


def _follow(news: Any, place: str, request: Request) -> None:
    """How far the runs are stands here, and is looked at again as soon as the page is drawn."""
    count, now = len(request.specs), strain()
    together = max(TOGETHER, count // 8) if now <= 1 else count
    has_first = next(iter(request.specs)) in request.results
    watch = functools.partial(_watch, place, len(request.results), has_first, together)
    follow(watch, min(SLOWEST, POLL * now), news)


def _watch(place: str, result_count: int, has_first: bool, together: int) -> None:
    """A fragment that draws itself while runs go on, and the page when the first has finished,
    or so many together, or all.
    """
    request = request_at(place)
    ended = [name for name in request.specs if request.has_ended(name)]
    is_first_new = not has_first and ended[:1] == list(request.specs)[:1]
    if not request.busy or len(ended) - result_count >= together or is_first_new:
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(*request.progress())
    if button.button("Cancel", key=f"{place}.cancel", width="stretch"):
        for job in request.open_jobs:
            job.cancel()
        st.rerun()


def _draw_troubles(place: str, request: Request) -> None:
    """What failed or was cancelled, once each, and a way to ask again."""
    by_state: dict[str, list[Job]] = {}
    for job in request.jobs.values():
        by_state.setdefault(job.state, []).append(job)
    failed, cancelled = by_state.get("failed", []), by_state.get("cancelled", [])
    for message in dict.fromkeys(job.error for job in failed if job.error):
        safe_text.error(message, "")
    if cancelled:
        words = "Cancelled. What had finished is shown; nothing of the cancelled runs was kept."
        if any(odometer.is_private(job.spec) for job in cancelled):
            words += " On private data what they had drawn by then is in the total."
        st.info(words)
    if failed or cancelled:
        st.button("Run again", key=f"{place}.again", on_click=_again, args=(place,))


def queue() -> str:
    """How many runs wait on this server, in a sentence; nothing where none does."""
    waiting = engine().waiting()
    return f"Runs waiting here now: {waiting:,}; sessions take turns." * (waiting > 0)


def may_begin(place: str, seconds: float, what: str, signature: str) -> bool:
    """Whether work may begin: what is short may, what is long once a button says so, which is
    drawn here with an estimate. signature: of the work.
    """
    key = f"{place}.confirmed"
    if seconds <= engine().limits.ask_seconds or st.session_state.get(key) == signature:
        return True
    words, button = st.columns([3, 1], vertical_alignment="center")
    estimate = f"{what} would take about **{duration(seconds)}** (an estimate)."
    words.write(f"{estimate} {queue()}")
    confirm = functools.partial(st.session_state.__setitem__, key, signature)
    button.button("Start", f"{place}.confirm", type="primary", width="stretch", on_click=confirm)
    return False


# ---- what comes with the package ----------------------------------------------------------------


def note_shipped(specs: Sequence[RunSpec]) -> None:
    """Say so where some of these runs come with the package and the store has none of its own:
    algorithms with their versions, seeds, when and by which versions they were computed.
    """
    lacking = [spec for spec in specs if not engine().known_runs.is_stored(spec)]
    records = [it for it in map(shipped_runs.record, lacking) if it is not None]
    if not records:
        return
    titles = {it.title: it.version for it in records}
    versions = [f"{title} version {version}" for title, version in titles.items()]
    others = f" and {len(versions) - 1} more" * (len(versions) > 1)
    seeds, made_with = sorted({it.spec.seed for it in records}), records[0].versions
    last_seed = f"–{seeds[-1]}" * (len(seeds) > 1)
    st.caption(
        f"Stored results that come with dpmf: {versions[0]}{others}; seeds {seeds[0]}{last_seed}."
        " This machine has not computed them itself yet.",
        help=f"{', '.join(versions)}. {len(records)} runs of exactly these settings, made on"
        f" {max(it.created for it in records)[:10]} with dpmf {made_with.get('dpmf', '?')} and"
        f" numpy {made_with.get('numpy', '?')}. Results of another version of an algorithm are not"
        " shown.",
    )
