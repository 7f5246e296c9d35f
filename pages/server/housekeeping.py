"""What a server does by the clock, whoever visits: uploads older than a day go, what ended
servers left goes, and the accounts of what is gone.
"""

import contextlib
import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator

from dpmf_core.errors import BadInput
from dpmf_core.paths import workplace
from dpmf_core.privacy import accounts
from dpmf_datasets import session_files

EVERY = 600.0  # seconds between two rounds


class Caretaker(threading.Thread):
    """Makes a round at once, and one every so many seconds until `stop`."""

    def __init__(self, every: float = EVERY) -> None:
        super().__init__(name="dpmf-caretaker", daemon=True)
        self._every, self._over = every, threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            round_made()
            self._over.wait(self._every)

    def stop(self) -> None:
        self._over.set()


def round_made() -> None:
    """One round. What cannot be removed is told in the server's log, and tried again next time."""
    try:
        session_files.sweep()
        accounts.sweep(session_files.origins)
    except (OSError, BadInput) as error:
        logging.getLogger(__name__).warning("Old uploads could not be removed: %s", error)


@contextlib.asynccontextmanager
async def watching() -> AsyncIterator[None]:
    """As long as the server runs.

    Temporary files of it and its workers lie in a folder of its process, which goes with it.
    """
    try:
        os.environ["TMPDIR"] = tempfile.tempdir = str(workplace())
    except OSError as error:
        logging.getLogger(__name__).warning(
            "Temporary files stay in %s: %s", tempfile.gettempdir(), error
        )
    caretaker = Caretaker()
    caretaker.start()
    try:
        yield
    finally:
        caretaker.stop()
