"""Runs to be computed elsewhere, and workers that compute them in this process."""

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.progress import Progress
from dpmf_core.jobs import worker
from dpmf_core.jobs.engine import Engine
from dpmf_core.jobs.worker import Worker
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store

WAIT = (
    300.0  # seconds before a test that hangs fails: kernels may be compiled meanwhile
)
CATALOGUE = "tests.support.two_sets"
QUICK: dict[str, Any] = {
    "data": {"id": "small"},
    "algorithm": "private-bias",
    "budget": {"epsilon": 2.0, "delta": 1e-5},
}
LONG: dict[str, Any] = {
    "data": {"id": "medium"},
    "algorithm": "als",
    "parameters": {"rank": 32, "steps": 200},
}


def spec(parts: dict[str, Any], **more: Any) -> RunSpec:
    return RunSpec.parse(**{**parts, **more})


class ThreadWorker(Worker):
    """A worker in a thread of this process: it starts at once, and has what tests put in place."""

    memory = 0.0  # MB; tests set it

    def __init__(self, n_workers: int) -> None:
        self.connection, self._theirs = Pipe()
        self._sending = threading.Lock()
        self._is_alive = True
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        worker.serve(self._theirs)

    @property
    def is_alive(self) -> bool:
        return self._is_alive

    def kill(self) -> None:
        """Close the connection, as the end of a process does."""
        self._is_alive = False
        with socket.socket(fileno=self.connection.fileno()) as line:
            line.shutdown(socket.SHUT_RDWR)
            line.detach()


def thread_engine(folder: Path, **more: Any) -> Engine:
    """An engine with a store of its own in a folder, and workers in this process."""
    return Engine(Store(folder), **{"workers": 1, "start_worker": ThreadWorker, **more})


def in_threads(patch: pytest.MonkeyPatch) -> None:
    """Engines that nobody gave workers compute in this process."""
    patch.setattr(worker, "Worker", ThreadWorker)


@dataclass
class Gate:
    """What a test holds of a piece of work: it has begun; it may go on."""

    begun: threading.Event = field(default_factory=threading.Event)
    open: threading.Event = field(default_factory=threading.Event)
    times: int = 0
    heeds: bool = True  # whether the work stops where it is told to
    stopped: Callable[[], bool] = lambda: False

    def has_begun(self) -> bool:
        return self.begun.wait(WAIT)


gates: dict[str, Gate] = {}


@dataclass(frozen=True)
class Gated:
    """Work that waits at the gate of its name, then ends, or stops where it is told to."""

    name: str

    def check(self) -> None:
        if self.name == "bad":
            raise BadInput("This name is bad.")

    def model_dump_json(self) -> str:
        return self.name

    def measure(
        self, report: Callable[[Progress], None], stopped: Callable[[], bool]
    ) -> str:
        gate = gates[self.name]
        gate.times += 1
        gate.stopped = stopped
        report(Progress(1, 2, 0.0, ()))
        gate.begun.set()
        while not gate.open.wait(0.001):
            if gate.heeds and stopped():
                raise Cancelled
        return self.name


def gated(name: str, heeds: bool = True) -> Gated:
    gates[name] = Gate(heeds=heeds)
    return Gated(name)
