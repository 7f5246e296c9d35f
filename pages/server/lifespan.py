"""Background work of the server: removing old uploads, and computing first views in advance.

Old uploads and files of ended servers are removed regularly. Idle workers compute what pages show
first: default runs and grids of epsilons. These are on simulated data and have the lowest priority.
"""

import asyncio
import contextlib
import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator

import numba  # noqa: F401  (it breaks if two threads import it at once, as page and caretaker would)
import streamlit as st

from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import give_up_claims, workplace
from dpmf_core.base.settings import settings
from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import checkpoint, engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.queue import IDLE
from dpmf_core.privacy import accounts
from dpmf_core.runs import first_views
from dpmf_datasets import session_files
from pages.server import sessions

QUIET = 15.0  # seconds after the start reserved for visitors
EVERY = 600.0  # seconds between rounds of the caretaker


def round_made() -> None:
    """Remove old files once; log what cannot be removed and try again next time."""
    try:
        session_files.sweep()
        accounts.sweep(session_files.origins)
    except (OSError, BadInput) as error:
        logging.getLogger(__name__).warning(
            "Old uploads could not be removed: %s", error
        )


def warm() -> list[Job]:
    """Submit runs for idle workers, cheapest page first.

    None if the operator disabled it, memory is small, or older runs would have to go.
    """
    most = settings().most_runs
    if not settings().warm or machine.is_small():
        return []
    specs = [
        spec
        for spec in first_views.cheapest_first()
        if limits.allowed_here(spec.data.id)
    ]
    if most is not None and engine().store.count() + len(specs) > most:
        return []
    try:
        return [engine().submit(spec, IDLE) for spec in specs]
    except BadInput as error:
        logging.getLogger(__name__).warning("Nothing is computed beforehand: %s", error)
        return []


def _keep_house(over: threading.Event) -> None:
    """Remove old files regularly, and warm up once it is quiet, until the server ends."""
    round_made()
    if over.wait(QUIET):
        return
    warming = warm()
    while not over.wait(EVERY):
        round_made()
    for job in warming:
        job.cancel()


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Run the background work and watch sessions while the server runs.

    Temporary files and uploads are in folders of this process, which are removed with it, also
    after SIGTERM.
    """
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = str(workplace())
    except OSError as error:
        logging.getLogger(__name__).warning(
            "Temporary files stay in %s: %s", tempfile.gettempdir(), error
        )
    over = threading.Event()
    threading.Thread(
        target=_keep_house,
        args=(over,),
        name="dpmf-caretaker",
        daemon=True,
    ).start()
    watch = asyncio.create_task(sessions.watch())
    try:
        yield
    finally:
        over.set()
        watch.cancel()
        give_up_claims()
        await asyncio.to_thread(checkpoint)
