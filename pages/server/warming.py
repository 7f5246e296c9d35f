"""While nobody asks for anything, workers compute what the pages show first: their default runs,
and the grids of epsilons that sliders move along. All of it is on simulated data, and goes behind
everything that visitors want.
"""

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dpmf_core import first_views
from dpmf_core.errors import BadInput
from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.queue import IDLE
from dpmf_core.runs.specification import RunSpec
from dpmf_core.serving import limits
from dpmf_core.serving.settings import settings
from pages.server.background_work import Filling

QUIET = 15.0  # seconds after the start that belong to whoever comes first
EVERY = 0.5  # seconds between two looks at what workers have finished


def warming_specs() -> list[RunSpec]:
    """What is to be computed, cheapest page first: nothing where the operator does not want it,
    where there is little memory, or where older runs would have to go.
    """
    most = settings().most_runs
    if not settings().warm or machine.is_small():
        return []
    specs = [it for it in first_views.cheapest_first() if limits.allowed_here(it.data.id)]
    if most is not None and engine().store.count() + len(specs) > most:
        return []
    return specs


def ask(spec: RunSpec) -> Job:
    """A run behind everything else. It is nobody's, so that no session's share is spent."""
    return engine().submit(spec, IDLE, light=True)


class Warming(threading.Thread):
    """Has them computed, one after the other, until all are there or `stop`."""

    def __init__(self, quiet: float = QUIET, every: float = EVERY) -> None:
        super().__init__(name="dpmf-warming", daemon=True)
        self._quiet, self._every, self._over = quiet, every, threading.Event()

    def run(self) -> None:
        if self._over.wait(self._quiet):
            return
        try:
            filling = Filling(warming_specs(), ask)
        except BadInput as error:
            logging.getLogger(__name__).warning("Nothing is computed beforehand: %s", error)
            return
        while filling.busy and not self._over.is_set():
            filling.advance()
            self._over.wait(self._every)
        filling.cancel()

    def stop(self) -> None:
        self._over.set()


@asynccontextmanager
async def going() -> AsyncIterator[None]:
    """As long as the server runs."""
    warming = Warming()
    warming.start()
    try:
        yield
    finally:
        warming.stop()
