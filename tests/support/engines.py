"""Runs to be computed elsewhere, short and long, and waiting for what becomes of them."""

import time
from collections.abc import Callable
from typing import Any

from dpmf_core.engine.jobs import Job
from dpmf_core.runs.specification import RunSpec

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


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first true answer; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return answer


def wait_for_start(job: Job) -> Job:
    """The job after its first step."""
    wait_for(lambda: job.progress)
    return job
