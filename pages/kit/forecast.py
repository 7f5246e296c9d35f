"""Before a sweep is run: which of its runs are stored, and roughly how long the others take."""

import functools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import datasets
from dpmf_core import experiment
from dpmf_core.engine import engine
from dpmf_core.experiment import DataSpec, RunSpec

LARGEST = 25_000_000  # ratings; opening more than that would hold up the page
AROUND = 0.4  # seconds of a run besides its training, where nothing else is known
UNKNOWN = 1.0  # seconds of training of a method that was never run


@dataclass(frozen=True)
class _Known:
    fingerprint: str


@functools.lru_cache(16)
def _known(data: DataSpec, stamp: float) -> _Known:
    return _Known(experiment.open_data(data).fingerprint)


def _sizes() -> dict[str, int]:
    return {entry.id: entry.n_ratings for entry in datasets.ratings()}


def stored(specs: Mapping[str, RunSpec]) -> frozenset[str]:
    """The names of the runs that need not be made. Raises BadInput when the data cannot be opened."""
    sizes, catalogue, store = _sizes(), experiment.catalogue(), engine().store
    small = {name: spec for name, spec in specs.items() if sizes.get(spec.data.id, 0) <= LARGEST}
    known = {data: _known(data, catalogue.stamp(data.id)) for data in {spec.data for spec in small.values()}}
    return frozenset(name for name, spec in small.items() if store.has(experiment.run_key(spec, known[spec.data])))


def seconds(specs: Mapping[str, RunSpec]) -> float:
    """Roughly how long these runs take together, by what earlier runs of the same methods took."""
    sizes = _sizes()
    before: dict[tuple[str, str], list[float]] = {}
    for row in engine().store.rows():
        before.setdefault((row["algorithm"], row["dataset"]), []).append(row["fit_seconds"])
    took = {place: statistics.median(found) for place, found in before.items()}
    total = sum(_training(spec, took, sizes) + AROUND for spec in specs.values())
    return total / max(1, experiment.usable_threads())


def _training(spec: RunSpec, took: Mapping[tuple[str, str], float], sizes: Mapping[str, int]) -> float:
    """Of one run: as on the same data, else as on other data in proportion to their ratings."""
    if (same := took.get((spec.algorithm, spec.data.id))) is not None:
        return same
    size = sizes.get(spec.data.id, 0)
    scaled = [at * size / sizes[data] for (algorithm, data), at in took.items() if algorithm == spec.algorithm and size and sizes.get(data)]
    return statistics.median(scaled) if scaled else UNKNOWN


def words(amount: float) -> str:
    """Seconds as a person says them: a few seconds, 40 s, 3 min, 2 h."""
    if amount < 5:
        return "a few seconds"
    if amount < 90:
        return f"{round(amount, -1) if amount >= 10 else 5:.0f} s"
    return f"{amount / 60:.0f} min" if amount < 90 * 60 else f"{amount / 3600:.0f} h"
