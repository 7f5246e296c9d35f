"""A process without rows, with only a pipe to a curator, in which algorithms fit.

Statistics and steps travel by module and name, so a closure cannot; stored states travel as keys.
"""

import gc
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import Cells, Curator, Held, NoisyCurator, Range, Statistic
from dpmf_core.curator.people import Step
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples


class Remote:
    """A curator at the other end of a pipe."""

    def __init__(self, shape: Any, pipe: Connection) -> None:
        self.shape = shape
        self._pipe = pipe

    def _ask(self, *question: Any) -> Any:
        self._pipe.send(question)
        return self._pipe.recv()

    def scale(self, statistic: Statistic) -> float:
        return float(self._ask("scale", statistic))

    def release(self, statistic: Statistic, *shared: Any) -> Any:
        return self._ask("release", statistic, shared)

    def release_parts(
        self, statistic: Statistic, ranges: Sequence[Range], *shared: Any
    ) -> Iterator[tuple[Range, Any]]:
        number = self._ask("open", statistic, tuple(ranges), shared)
        return (self._ask("next", number) for _ in ranges)

    def cells(self) -> Cells:
        cells = self._ask("cells")
        assert isinstance(cells, Cells)
        return cells

    def hold(self, step: Step, *shared: Any) -> Held:
        local_state = self._ask("hold", step, shared)
        assert isinstance(local_state, Held)
        return local_state


def _live(pipe: Connection) -> None:
    """Fit the algorithms that arrive; send models, and how many rows are here."""
    while (task := pipe.recv()) is not None:
        try:
            _fit(pipe, *task)
        except Exception as error:  # the process is used again
            pipe.send(("error", f"{type(error).__name__}: {error}"))
        else:
            gc.collect()
            rows = sum(isinstance(one, Ratings | Samples) for one in gc.get_objects())
            pipe.send(("done", rows))


def _fit(
    pipe: Connection, algorithm: Algorithm, shape: Any, start: Any, sampling: int
) -> None:
    rng = Streams(np.random.default_rng(start), sampling)
    with single_threaded_blas:
        for model in algorithm.fit(Remote(shape, pipe), rng):
            pipe.send(("yield", model))


@dataclass
class Room:
    """The process and its pipe. Closed by `close`."""

    rows_seen: int = 0
    _open_releases: list[Any] = field(default_factory=list)
    _local_states: list[Held] = field(default_factory=list)

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=_live, args=(there,), daemon=True)
        # a spawned process imports the script that started this one, or a test's replacement
        with patch.dict(sys.modules, __main__=ModuleType("__main__")):
            self._process.start()
        there.close()

    def fit(
        self, algorithm: Algorithm, curator: NoisyCurator, start: Any, sampling: int
    ) -> Any:
        """The models of a fit that has this curator's answers, and nothing else."""
        self._pipe.send((algorithm, curator.shape, start, sampling))
        models: list[Any] = []
        while True:
            kind, *rest = self._pipe.recv()
            if kind == "done":
                self.rows_seen = rest[0]
                self._local_states.clear()
                return models
            if kind == "error":
                raise RuntimeError(rest[0])
            if kind == "yield":
                models.append(rest[0])
            else:
                self._pipe.send(self._answer(curator, kind, rest))

    def _answer(self, curator: Curator, kind: str, rest: list[Any]) -> Any:
        if kind == "next":
            return next(self._open_releases[rest[0]])
        if kind == "scale":
            return curator.scale(rest[0])
        if kind == "cells":
            return curator.cells()
        if kind == "release":
            return curator.release(rest[0], *rest[1])
        if kind == "open":
            self._open_releases.append(
                curator.release_parts(rest[0], rest[1], *rest[2])
            )
            return len(self._open_releases) - 1
        self._local_states.append(curator.hold(rest[0], *rest[1]))
        return self._local_states[-1]

    def close(self) -> None:
        self._pipe.send(None)
        self._process.join()
