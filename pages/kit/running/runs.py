"""The runs of a page: finished results, submission of the rest, and progress.

A page calls `ask` with all runs that it needs and gets the finished ones. Workers compute the rest
while the page is open, and the page is drawn again as they finish.
"""

import functools
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job, Works
from dpmf_core.jobs.machine import duration
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import drawing, safe_text
from pages.kit.privacy import purchases
from pages.kit.running import time_estimate
from pages.kit.running.run_request import WELL, RunRequest
from pages.server import sessions, visitor

POLL = 0.4  # seconds between updates of unfinished runs
SLOWEST = 2.0  # seconds between them at most, on a busy server
PATIENCE = 1.5  # seconds that a page waits, once, for the first run
MOMENT = 0.2  # seconds for reading stored runs
AT_ONCE = 24  # missing runs that start without a button
TOGETHER = 4  # finished runs, or an eighth of all, before the page is drawn again
# beyond these, pages update less often
MANY = 40  # waiting runs
CROWD = 5  # busy sessions
REQUESTS = "runs.asked"  # in the session: its requests by place
FOLLOWED = "runs.followed"  # in the session: what is drawn again after this drawing
DRAWN_PLACES = "runs.drawn"  # in the session: places of requests in this drawing


def request_at(place: str) -> RunRequest:
    places: dict[str, RunRequest] = st.session_state.setdefault(REQUESTS, {})
    return places.setdefault(place, RunRequest())


def ask(
    place: str,
    specs: Works,
    by_button: bool = False,
    whole: Collection[str] | None = None,
    first: Collection[str] = (),
    confirm: str = "",
) -> dict[str, Any]:
    """Take the finished ones of these runs or measurements, and have the rest computed.

    The rest shows its progress here, and the page is drawn again as it finishes. On private data
    only work that a button requested is computed. The rest gets a button with its price.

    Parameters
    ----------
    place
        A name on the page. Work that this place wanted before is released.
    specs
        The work by name, in the order of computation.
    by_button
        Whether a button requested the work, so that it continues when another page is opened.
    whole
        The names of runs whose arrays the page needs. The others come as records.
    first
        The names to compute before the others.
    confirm
        Identifies work that waits for a button with an estimate if it is long; '' for none.

    Returns
    -------
    dict
        The finished results by name.

    Raises
    ------
    BadInput
        If there are more runs than the server allows.
    """
    limits.at_most("largest_sweep", len(specs), "runs of a page")
    if confirm:
        specs = _confirmed(place, specs, confirm)
        by_button = by_button or st.session_state.get(f"{place}.confirmed") == confirm
    request = request_at(place)
    known = {name: request.specs[name] for name in (*request.results, *request.jobs)}
    admitted, has_purchases = purchases.admit(specs, known)
    withheld = {name: spec for name, spec in specs.items() if name not in admitted}
    st.session_state[f"{place}.withheld"] = next(iter(specs), None) in withheld
    is_new = request.specs != admitted
    request.submit(request.want(admitted), whole, first=first)
    hold(place, request, by_button or bool(purchases.names_of_private(admitted)))
    _collect(place, request, whole, is_new)
    if has_purchases and not request.busy:
        st.rerun()  # the sidebar, drawn earlier, shows the total
    _draw_troubles(place, request)
    purchases.offer(place, withheld, specs)
    engine().start()  # so that the next run does not wait for workers
    return {name: request.results[name] for name in admitted if name in request.results}


def _collect(
    place: str, request: RunRequest, whole: Collection[str] | None, is_new: bool
) -> None:
    """Take finished results and draw the progress of the rest, repeated once the page is drawn."""
    news = st.empty()
    if request.busy:
        news.progress(*request.progress())
    if is_new and request.jobs:  # only once: widgets do not wait for unfinished runs
        with drawing.waiting():
            _wait_for_quick(list(request.jobs.values()))
    request.collect(whole)
    # a job that ends just now is collected by the next look
    if any(job.state in WELL for job in request.jobs.values()):
        load = strain()
        together = len(request.specs)
        if load <= 1:
            together = max(TOGETHER, together // 8)
        has_first = next(iter(request.specs)) in request.results
        watch = functools.partial(
            _watch, place, len(request.results), has_first, together
        )
        follow(watch, min(SLOWEST, POLL * load), news)
    else:
        news.empty()


def _wait_for_quick(jobs: Sequence[Job]) -> None:
    """Wait shortly for the first job, and for stored ones, to avoid a second drawing."""
    jobs[0].wait(PATIENCE)
    until = time.monotonic() + MOMENT
    for job in jobs:
        if not job.is_queued and not job.wait(max(0.0, until - time.monotonic())):
            return


def _confirmed(place: str, specs: Works, signature: str) -> Works:
    """The work that may be submitted: all of it, or what is stored before a button."""
    begun = f"{place}.begun"
    if st.session_state.get(begun) == signature:
        return specs
    stored = time_estimate.stored_names(specs)
    missing = {name: spec for name, spec in specs.items() if name not in stored}
    what = f"{len(missing):,} of {len(specs):,} runs are not stored. They"
    few = len(missing) <= AT_ONCE
    if may_begin(place, time_estimate.seconds(missing), what, signature, few):
        st.session_state[begun] = signature
        return specs
    return {name: specs[name] for name in specs if name in stored}


def _again(place: str) -> None:
    """Forget cancelled and failed jobs, so that the next drawing submits them again."""
    request = request_at(place)
    for name, job in list(request.jobs.items()):
        if job.state not in WELL:
            del request.jobs[name]


# ---- requests of the session ---------------------------------------------------------------------


def hold(place: str, request: RunRequest, by_button: bool) -> None:
    """Register a request of this session; one made by a button continues on other pages."""
    st.session_state.setdefault(DRAWN_PLACES, set()).add(place)
    sessions.registry.hold(sessions.this(), place, request, by_button)


@contextmanager
def following() -> Iterator[None]:
    """Draw a page, or its error; then follow its runs and call off the runs of other pages.

    Runs are followed afterwards, because a browser updates them only once the whole page is sent.
    """
    st.session_state[DRAWN_PLACES] = set()
    st.session_state[FOLLOWED] = []
    try:
        with visitor.here():
            yield
    except BadInput as error:
        safe_text.error(error, "Your settings are kept.")
    for place, watch, every in st.session_state.pop(FOLLOWED, []):
        with place.container():
            drawing.repeat(watch, every)
    session = sessions.this()
    for place, (_, by_button) in sessions.registry.going(session).items():
        if not by_button and place not in st.session_state[DRAWN_PLACES]:
            sessions.registry.let_go(session, place)


# ---- progress ------------------------------------------------------------------------------------


def strain() -> float:
    """The server's load: 1 if quiet, more with many sessions and runs waiting."""
    return max(1.0, sessions.registry.count_busy() / CROWD, engine().waiting() / MANY)


def follow(watch: Callable[[], None], every: float, place: Any = None) -> None:
    """Call `watch` every `every` seconds once the page is drawn."""
    where = st.empty() if place is None else place
    st.session_state.setdefault(FOLLOWED, []).append((where, watch, every))


def _watch(place: str, result_count: int, has_first: bool, together: int) -> None:
    """Draw the progress; draw the page again after the first run, `together` runs, or all."""
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


def _draw_troubles(place: str, request: RunRequest) -> None:
    jobs = request.jobs.values()
    errors = [job.error for job in jobs if job.state == "failed"]
    cancelled = [job for job in jobs if job.state == "cancelled"]
    for message in dict.fromkeys(filter(None, errors)):
        safe_text.error(message)
    if cancelled:
        words = "Cancelled. Finished runs are shown; cancelled runs were discarded."
        if any(purchases.is_private(job.spec) for job in cancelled):
            words += " Their releases from private data count in the total."
        st.info(words)
    if errors or cancelled:
        st.button(
            "Run again",
            key=f"{place}.again",
            on_click=_again,
            args=(place,),
        )


def queue() -> str:
    """How many runs wait on this server, in a sentence; '' for none."""
    waiting = engine().waiting()
    if not waiting:
        return ""
    return f"Runs waiting on this server: {waiting:,}. Visitors take turns."


def may_begin(
    place: str, seconds: float, what: str, signature: str, few: bool = True
) -> bool:
    """Whether work may begin; much or long work waits for a button with an estimate.

    Parameters
    ----------
    place
        A name on the page.
    seconds
        The estimated time of the work.
    what
        The work in words.
    signature
        Identifies the work.
    few
        Whether the work is little. Much work waits for the button even if it is short.
    """
    key = f"{place}.confirmed"
    is_short = seconds <= engine().limits.ask_seconds
    if (few and is_short) or st.session_state.get(key) == signature:
        return True
    words, button = st.columns([3, 1], vertical_alignment="center")
    estimate = f"{what} would take about **{duration(seconds)}** (an estimate)."
    words.write(f"{estimate} {queue()}")
    button.button(
        "Start",
        f"{place}.confirm",
        type="primary",
        width="stretch",
        on_click=st.session_state.update,
        args=({key: signature},),
    )
    return False


# ---- shipped runs --------------------------------------------------------------------------------


def note_shipped(specs: Sequence[RunSpec]) -> None:
    """Draw a note if some of these runs are shipped with dpmf and not stored here."""
    lacking = engine().known_runs.lacking(specs)
    records = [
        record for record in map(shipped_runs.record, lacking) if record is not None
    ]
    if not records:
        return
    methods = dict.fromkeys(
        f"{record.title} version {record.version}" for record in records
    )
    st.caption(
        f"{len(records)} results shown here are shipped with dpmf and were not computed on this"
        " machine.",
        help=f"Computed on {max(record.created for record in records)[:10]} with exactly these"
        f" settings, by {', '.join(methods)}.",
    )
