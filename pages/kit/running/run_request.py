"""What a page wants computed, by name: finished results, and jobs of the rest."""

import functools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpmf_core.base import limits
from dpmf_core.data.catalogue import is_own
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Computation, Job, Works
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.kit.privacy import purchases
from pages.kit.running import time_estimate
from pages.server import visitor

ROUND = 8  # runs of equal priority
LAST = -9  # the lowest priority
# states of jobs
OPEN = ("waiting", "running")
WELL = (*OPEN, "done")  # neither failed nor cancelled


@dataclass(eq=False)
class RunRequest:
    """The work that a session wants at one place of a page, by name.

    Attributes
    ----------
    specs
        The wanted computations.
    results
        The finished results.
    jobs
        The handles of the other computations.
    called_off
        Whether the work was cancelled because no one was looking.
    """

    specs: dict[str, Computation] = field(default_factory=dict)
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
        """Do nothing: workers advance the request."""

    def cancel(self) -> None:
        self.called_off = True
        for job in self.open_jobs:
            job.cancel()

    def has_ended(self, name: str) -> bool:
        """Whether a result is finished, collected or not."""
        if name in self.results:
            return True
        job = self.jobs.get(name)
        return job is not None and job.state == "done"

    def progress(self) -> tuple[float, str]:
        done_count = sum(map(self.has_ended, self.specs))
        return time_estimate.progress(self.open_jobs, done_count, len(self.specs))

    def collect(self, whole: Collection[str] | None) -> None:
        """Take finished results; only records, except for the names in `whole`."""
        for name, job in list(self.jobs.items()):
            if job.state != "done":
                continue
            time_estimate.learn(job)
            result = job.result(0)
            if isinstance(result, Run) and whole is not None and name not in whole:
                result = Run(result.record, {})
            self.results[name] = result
            del self.jobs[name]

    def want(self, specs: Works) -> list[str]:
        """Replace the wanted specifications and cancel the rest; return the names to submit.

        Failed or cancelled work stays so until something else is wanted or a button asks again; on
        private data only a button does. Work that was called off is submitted again.
        """
        same = self.specs == specs

        def stays(name: str, spec: Computation) -> bool:
            if self.specs.get(name) != spec:
                return False
            job = self.jobs.get(name)
            if job is None:
                return name in self.results
            if job.state in WELL:
                return True
            if self.called_off and job.state == "cancelled":
                return False
            return same or purchases.is_private(spec)

        kept = {name for name, spec in specs.items() if stays(name, spec)}
        for name in self.jobs.keys() - kept:
            self.jobs.pop(name).cancel()
        self.results = {
            name: result for name, result in self.results.items() if name in kept
        }
        self.specs = dict(specs)
        self.called_off = False
        return [name for name in specs if name not in kept]

    def take_known(
        self, names: Sequence[str], whole: Collection[str] | None
    ) -> list[str]:
        """Take known runs, only on data that the operator allows; return the names of the rest."""
        known = engine().known_runs
        is_allowed = functools.cache(
            lambda data: is_own(data) or limits.allowed_here(data)
        )
        with_arrays = names if whole is None else whole
        records = {}
        for name in names:
            work = self.specs[name]
            if not isinstance(work, RunSpec) or not is_allowed(work.data.id):
                continue
            if name not in with_arrays:
                records[name] = work
                continue
            whole_run = known.whole(work)
            if whole_run is not None:
                self.results[name] = whole_run
        # records may be shipped
        for name, run in zip(
            records, known.find_runs(list(records.values())), strict=True
        ):
            if run is not None:
                self.results[name] = Run(run.record, {})
        return [name for name in names if name not in self.results]

    def submit(
        self,
        names: Sequence[str],
        whole: Collection[str] | None,
        priority: int | None = None,
        first: Collection[str] = (),
    ) -> None:
        """Take known runs of these names; submit the rest to the engine.

        Parameters
        ----------
        names
            The names of the work.
        whole
            The names of runs whose arrays are needed; None for all.
        priority
            The priority of all work; by default, early names precede late ones.
        first
            The names to compute before the others.
        """
        names = self.take_known(names, whole)
        if not names:
            return
        costs = time_estimate.costs(self.specs[name] for name in names)
        person = visitor.person()
        order = dict.fromkeys((*first, *self.specs))
        places = {name: place for place, name in enumerate(order)}
        for name, cost in zip(names, costs, strict=True):
            work = self.specs[name]
            own_priority = priority
            if own_priority is None:
                own_priority = max(LAST, -math.ceil(places[name] / ROUND))
            self.jobs[name] = engine().submit(work, own_priority, person, cost)
