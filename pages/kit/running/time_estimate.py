"""Estimates before a sweep: which runs are stored, and how long the others take."""

import functools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Computation, Job, Works
from dpmf_core.jobs.machine import duration
from dpmf_core.runs import data_access
from dpmf_core.runs.measured_fall import MeasuredTraining
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from pages.kit.base import data_sets

LARGEST = 25_000_000  # ratings; opening more would delay the page
AROUND = 0.4  # seconds of a run in addition to its training, by default
UNKNOWN = 1.0  # training seconds per million values of a method never run before
A_TRAINING = 0.005  # seconds of one training of an audit, by default
STEPS = 10.0  # typical number of steps
# seconds per million partitioned ratings to read, split and evaluate
PART_READING = 2.0
A_DOCUMENT = 300  # distinct words of a typical document
REFRESH = 60.0  # seconds until stored runs are read again
_training_seconds: dict[str, float] = {}  # of one training of an audit, by algorithm


def _size(data_id: str) -> int:
    """The public number of values of a data set; 0 if it is not on this machine.

    Values are ratings, pixels, or a typical number of words per document.
    """
    try:
        entry = data_sets.find(data_id)
    except BadInput:
        return 0
    if entry.holds == "ratings":
        return data_sets.n_ratings(entry)
    if entry.holds == "documents":
        most = A_DOCUMENT
    else:
        most = entry.n_features
    return int(entry.n_samples * min(entry.n_features, most))


def stored_names(specs: Mapping[str, Any]) -> frozenset[str]:
    """The names of stored runs. Raises BadInput if the data cannot be opened."""
    for data in {spec.data for spec in specs.values()}:
        if is_in_parts(data.id) or _size(data.id) <= LARGEST:
            # the store finds runs only on opened data
            data_access.identified_data(data)
    stored = engine().store.find_all(list(specs.values()))
    return frozenset(
        name for name, run in zip(specs, stored, strict=True) if run is not None
    )


def seconds(specs: Works) -> float:
    """The estimated duration of this work, from earlier runs of the same methods.

    It depends only on public figures: shape, algorithm, steps.
    """
    return sum(costs(specs.values())) / max(1, engine().width)


def cost(work: Computation) -> float:
    """The estimated seconds that a run or measurement keeps a worker busy."""
    return costs([work])[0]


def costs(works: Iterable[Computation]) -> list[float]:
    """The estimated seconds of each of these works."""
    speeds = _speeds()
    size_of = functools.cache(_size)

    def of(work: Computation) -> float:
        if isinstance(work, RunSpec):
            seconds = _training(work, speeds, size_of) + AROUND
            if is_in_parts(work.data.id):
                seconds += PART_READING / 1e6 * size_of(work.data.id)
            return seconds
        if isinstance(work, AuditSpec):
            return work.runs * _training_seconds.get(work.algorithm, A_TRAINING)
        if isinstance(work, PrivateSelection):
            return float(work.trials) * of(work.typical)
        if isinstance(work, MeasuredTraining):
            return of(work.spec) + AROUND
        return UNKNOWN

    return [of(work) for work in works]


def learn(handle: Any) -> None:
    """Record the speed of a finished measurement."""
    progress = getattr(handle, "progress", None)
    spec = handle.spec
    if isinstance(spec, AuditSpec) and progress is not None and progress.step:
        _training_seconds[spec.algorithm] = progress.seconds / progress.step


@st.cache_resource(ttl=REFRESH, show_spinner=False)
def _speeds() -> dict[tuple[str, str], float]:
    """Median training seconds of stored runs by (algorithm, data set).

    Each run is scaled to the typical number of steps.
    """
    seconds_by_place: dict[tuple[str, str], list[float]] = {}
    for row in engine().store.rows():
        place = (row["algorithm"], row["dataset"])
        seconds = row["fit_seconds"] / _share(row["parameters"])
        seconds_by_place.setdefault(place, []).append(seconds)
    return {
        place: statistics.median(times) for place, times in seconds_by_place.items()
    }


def _share(parameters: Mapping[str, Any]) -> float:
    """A run's number of steps, relative to the typical number."""
    steps = parameters.get("steps")
    if not isinstance(steps, int | float):
        return 1.0
    return max(1.0, float(steps)) / STEPS


def _training(
    spec: RunSpec,
    speeds: Mapping[tuple[str, str], float],
    size_of: Callable[[str], int],
) -> float:
    """Estimate training seconds from the same data, or in proportion from others."""
    share = _share(spec.parameters)
    same = speeds.get((spec.algorithm, spec.data.id))
    if same is not None:
        return same * share
    size = size_of(spec.data.id)
    estimates = []
    for (algorithm, data_id), seconds in speeds.items():
        if size and algorithm == spec.algorithm:
            other_size = size_of(data_id)
            if other_size:
                estimates.append(seconds * size / other_size)
    if not estimates:
        return UNKNOWN * max(1.0, size / 1e6) * share
    return statistics.median(estimates) * share


def progress(
    open_jobs: Sequence[Job], done_count: int, count: int
) -> tuple[float, str]:
    """How much of `count` runs is done, as a share and in words."""
    if not open_jobs:
        return 1.0, f"{done_count} of {count} runs finished"
    ended_count = count - len(open_jobs)
    running = next((job for job in open_jobs if job.progress), None)
    share = ended_count / count
    sentences = [f"{done_count} of {count} runs finished"]
    if ended_count > done_count:
        sentences.append(f"{ended_count - done_count:,} refused, failed or cancelled")
    rests = [engine().seconds_until(open_jobs), *(job.cost for job in open_jobs)]
    now = running.progress if running else None
    if now and now.steps:
        share += now.step / now.steps / count
        rests.append(now.seconds / max(now.step, 1) * (now.steps - now.step))
        sentences.append(f"one run at step {now.step} of {now.steps}")
    if now and now.part:
        sentences.append(f"reading part {now.part[0]:,} of {now.part[1]:,}")
    if (now is None or not (now.steps or now.part)) and open_jobs[0].state == "waiting":
        place = open_jobs[0].ahead + 1
        sentences.append(
            f"place {place:,} of {max(open_jobs[0].waiting, place):,} in the queue"
        )
    if max(rests) >= 1:
        sentences.append(f"about {duration(max(rests))}")
    return min(share, 1.0), "; ".join(sentences)
