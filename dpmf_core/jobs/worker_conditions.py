"""The workers of a scheduler elsewhere, each as it describes itself."""

from dataclasses import dataclass

from dpmf_core.data.catalogue import catalogue
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.workers import resident
from dpmf_core.runs.installation import Installation, current_installation


@dataclass(frozen=True)
class Condition:
    """What a worker has. memory: resident, in MB; data: ids of the sets that need no more than is
    there.
    """

    installed: Installation
    memory: float
    data: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Why it would refuse all work of this process; '' where it would not."""
        return self.installed.differs_from(current_installation())


def condition() -> Condition:
    """Of this process."""
    entries = (it.id for it in (*catalogue().catalogue(), *catalogue().in_parts()))
    return Condition(
        current_installation(), resident(), tuple(it for it in entries if catalogue().present(it))
    )


def conditions(scheduler: Scheduler) -> dict[str, Condition | Exception]:
    """Of every worker, by its address; what went wrong where it cannot say. Raises BadInput and
    ConnectionError as `Scheduler.client`.
    """
    with scheduler.client() as client:
        by_address: dict[str, Condition | Exception] = client.run(condition, on_error="return")
    return by_address
