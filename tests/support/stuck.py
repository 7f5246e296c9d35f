"""Work that never looks whether it has to stop, in a module of its own so that a worker can
import it.
"""

import time
from typing import Any

from pydantic import BaseModel


class StuckWork(BaseModel):
    """A measurement that sleeps for ten minutes."""

    def check(self) -> None:
        """It can start."""

    def measure(self, report: Any, stopped: Any) -> None:
        time.sleep(600)
