"""Before a sweep is run: which of its runs are stored, and roughly how long the others take."""

import functools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

import datasets
from dpmf_core import experiment
from dpmf_core.audit import AuditSpec
from dpmf_core.engine import engine
from dpmf_core.experiment import DataSpec, RunSpec
from dpmf_core.selecting import SelectionSpec
from dpmf_core.session_limits import duration

LARGEST = 25_000_000  # ratings; opening more than that would hold up the page
AROUND = 0.4  # seconds of a run besides its training, where nothing else is known
UNKNOWN = 1.0  # seconds of training of a method that was never run, for each million of ratings
A_TRAINING = 0.005  # seconds of one training of an audit, where none was measured
STEPS = 10.0  # the usual number of them
A_ROW = 100  # ratings of a person, where their number is private
REFRESH = 60.0  # seconds until stored runs are looked at again
Work = Any  # a RunSpec or a Measurement


@dataclass(frozen=True)
class _Known:
    fingerprint: str


@functools.lru_cache(16)
def _known(data: DataSpec, stamp: float) -> _Known:
    return _Known(experiment.open_data(data).fingerprint)


@functools.cache
def _sizes() -> dict[str, int]:
    return {entry.id: entry.n_ratings for entry in datasets.ratings()}


def stored(specs: Mapping[str, RunSpec]) -> frozenset[str]:
    """The names of the runs that need not be made. Raises BadInput when the data cannot be opened."""
    sizes, catalogue, store = _sizes(), experiment.catalogue(), engine().store
    small = {name: spec for name, spec in specs.items() if sizes.get(spec.data.id, 0) <= LARGEST}
    known = {data: _known(data, catalogue.stamp(data.id)) for data in {spec.data for spec in small.values()}}
    return frozenset(name for name, spec in small.items() if store.has(experiment.run_key(spec, known[spec.data])))


def seconds(specs: Mapping[str, Work]) -> float:
    """Roughly how long this work takes together, by what earlier runs of the same methods took. From public figures alone: shape, algorithm, steps."""
    return sum(cost(spec) for spec in specs.values()) / max(1, engine().width)


def cost(work: Work) -> float:
    """Roughly how long a run or a measurement keeps a worker busy, in seconds."""
    if isinstance(work, RunSpec):
        return _training(work, _speeds(), _sizes() | _own_sizes()) + AROUND
    if isinstance(work, AuditSpec):
        return work.runs * _measured().get(work.algorithm, A_TRAINING)
    if isinstance(work, SelectionSpec):
        return float(work.trials) * cost(work.search.final({}))
    return UNKNOWN


def learn(handle: Any) -> None:
    """Remember how fast this machine did what has finished."""
    progress, spec = getattr(handle, "progress", None), handle.spec
    if isinstance(spec, AuditSpec) and progress is not None and progress.step:
        _measured()[spec.algorithm] = progress.seconds / progress.step


@st.cache_resource
def _measured() -> dict[str, float]:
    """Seconds of one training of an audit, by algorithm."""
    return {}


@st.cache_resource(ttl=REFRESH, show_spinner=False)
def _speeds() -> dict[tuple[str, str], float]:
    """Seconds of training on each data set, by (algorithm, data set): the median of stored runs, each as if it had the usual number of steps."""
    before: dict[tuple[str, str], list[float]] = {}
    for row in engine().store.rows():
        before.setdefault((row["algorithm"], row["dataset"]), []).append(row["fit_seconds"] / _share(row["parameters"]))
    return {place: statistics.median(found) for place, found in before.items()}


def _share(parameters: Mapping[str, Any]) -> float:
    """How much longer a run takes than one with the usual number of steps."""
    steps = parameters.get("steps")
    return max(1.0, float(steps)) / STEPS if isinstance(steps, int | float) else 1.0


def _own_sizes() -> dict[str, int]:
    """Of data that this session brought: how many ratings there are is not known to everybody, so people with a usual number of them are counted."""
    own = st.session_state.get("data.own", {}).values()
    return {entry.id: entry.n_users * min(entry.n_items, A_ROW) for entry in own if getattr(entry, "holds", "ratings") == "ratings"}


def _training(spec: RunSpec, took: Mapping[tuple[str, str], float], sizes: Mapping[str, int]) -> float:
    """Of one run: as on the same data, else as on other data in proportion to their ratings."""
    share, size = _share(spec.parameters), sizes.get(spec.data.id, 0)
    if (same := took.get((spec.algorithm, spec.data.id))) is not None:
        return same * share
    scaled = [at * size / sizes[data] for (algorithm, data), at in took.items() if algorithm == spec.algorithm and size and sizes.get(data)]
    return (statistics.median(scaled) if scaled else UNKNOWN * max(1.0, size / 1e6)) * share


words = duration
