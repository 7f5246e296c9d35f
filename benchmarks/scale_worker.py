"""One fit in a fresh process, for `benchmarks.scale`.

`python -m benchmarks.scale_worker NAME ALGORITHM memory|disk` takes the name of ratings in
partitions and prints one line of JSON.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import dpmf_datasets as datasets
from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import People, in_memory, in_parts
from dpmf_core.data.partitioned import PartitionedRatings, PartitionedTable
from dpmf_core.data.samples import of_ratings
from dpmf_core.privacy import NOTHING, Budget, Noise, calibrate
from dpmf_core.runs.memory import peak_mb
from dpmf_core.testing.worlds import low_rank

BUDGET = Budget(epsilon=1.0, delta=1e-8)


def fit(algorithm: str, people: People, tables: Mapping[str, Any]) -> Any:
    """The model; a private algorithm trains at epsilon 1.

    tables: what a non-private algorithm holds in memory.
    """
    private = issubclass(algorithms.find(algorithm), PrivateAlgorithm)
    method: Any = algorithms.build(algorithm, {}, people.shape, BUDGET if private else None)
    plan = NOTHING
    if private:
        plan = method.plan(
            people.shape, calibrate(lambda at: method.plan(people.shape, at), BUDGET)
        )
    noise = Noise(plan, np.random.SeedSequence(1))
    curator = algorithms.curator_of(method, people, noise, tables)
    rng = algorithms.Streams(np.random.default_rng(2), 3)
    with single_threaded_blas:
        *_, model = method.fit(curator, rng)
    return model


def warm(algorithm: str) -> None:
    """Compile what the algorithm needs."""
    few = low_rank(n_users=50)
    data = of_ratings(few) if of_samples(algorithm) else few
    fit(algorithm, in_memory(data), {"train": data})


def of_samples(algorithm: str) -> bool:
    """Whether the algorithm takes ratings as samples."""
    return algorithms.find(algorithm).task == "samples"


def in_place(data: PartitionedRatings, algorithm: str, folder: Path) -> People:
    """People of ratings in partitions, in the form that the algorithm takes."""
    return in_parts(PartitionedTable(data) if of_samples(algorithm) else data, folder)


def people_in(place: str, name: str, algorithm: str, folder: Path) -> tuple[People, dict[str, Any]]:
    """The people in memory or on disk, and their tables if these are in memory."""
    ratings: Any = datasets.load(name)
    if place == "disk":
        return in_place(ratings.kept_in(folder), algorithm, folder), {}
    whole = ratings.together()
    train = of_ratings(whole) if of_samples(algorithm) else whole
    return in_memory(train), {"train": train}


def main() -> None:
    name, algorithm, place = sys.argv[1:]
    warm(algorithm)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        people, tables = people_in(place, name, algorithm, Path(folder))
        load_time, before = time.perf_counter(), time.process_time()
        model = fit(algorithm, people, tables)
        end_time, after = time.perf_counter(), time.process_time()
    digest = hashlib.sha256()
    for array in model.arrays.values():
        digest.update(array.tobytes())
    print(
        json.dumps(
            {
                "load_seconds": load_time - began,
                "seconds": end_time - load_time,
                "processor_seconds": after - before,
                "peak_mb": peak_mb(),
                "model": digest.hexdigest(),
            }
        )
    )


if __name__ == "__main__":
    main()
