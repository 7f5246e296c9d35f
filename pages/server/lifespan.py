"""What goes on as long as the server runs.

By the clock, uploads older than a day go, and what ended servers left. While nobody asks for
anything, workers compute what the pages show first: default runs, and the grids of epsilons that
sliders move along. All of that is on simulated data, and goes behind all that visitors want.
"""

import asyncio
import contextlib
import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator

import streamlit as st

# numba, which breaks where two threads import it at once, as a page and the caretaker would
import dpmf_core.kernels.compilation  # noqa: F401
from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import give_up_claims, workplace
from dpmf_core.base.settings import settings
from dpmf_core.jobs import first_views, machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.queue import IDLE
from dpmf_core.privacy import accounts
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets import session_files
from pages.server import sessions

QUIET = 15.0  # seconds after the start that belong to whoever comes first
EVERY = 600.0  # seconds between two rounds of the caretaker


def round_made() -> None:
    """One round. What cannot be removed is told in the server's log, and tried again next time."""
    try:
        session_files.sweep()
        accounts.sweep(session_files.origins)
    except (OSError, BadInput) as error:
        logging.getLogger(__name__).warning("Old uploads could not be removed: %s", error)


def warming_specs() -> list[RunSpec]:
    """What idle workers compute, cheapest page first: nothing where the operator does not want it,
    where there is little memory, or where older runs would have to go.
    """
    most = settings().most_runs
    if not settings().warm or machine.is_small():
        return []
    specs = [it for it in first_views.cheapest_first() if limits.allowed_here(it.data.id)]
    if most is not None and engine().store.count() + len(specs) > most:
        return []
    return specs


def warm() -> list[Job]:
    """Ask for it behind everything else. It is nobody's, so that no session's share is spent."""
    try:
        return [engine().submit(spec, IDLE) for spec in warming_specs()]
    except BadInput as error:
        logging.getLogger(__name__).warning("Nothing is computed beforehand: %s", error)
        return []


def _keep_house(over: threading.Event) -> None:
    """Make a round at once and every so often, and warm up once it is quiet, until it is over."""
    round_made()
    warming = [] if over.wait(QUIET) else warm()
    while not over.wait(EVERY):
        round_made()
    for job in warming:
        job.cancel()


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """While the server runs its caretaker is at work, and sessions that go are seen off.

    Temporary files of it and its workers, and uploads, lie in folders of its process, which go with
    it, also when SIGTERM ends it.
    """
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = str(workplace())
    except OSError as error:
        place = tempfile.gettempdir()
        logging.getLogger(__name__).warning("Temporary files stay in %s: %s", place, error)
    over = threading.Event()
    threading.Thread(target=_keep_house, args=(over,), name="dpmf-caretaker", daemon=True).start()
    watch = asyncio.create_task(sessions.watch())
    try:
        yield
    finally:
        over.set()
        watch.cancel()
        give_up_claims()
