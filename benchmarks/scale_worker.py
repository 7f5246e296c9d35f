"""One fit in a fresh process, for `benchmarks.scale`: `python -m benchmarks.scale_worker NAME
ALGORITHM memory|disk`. NAME: of ratings in parts. Prints one line of JSON.
"""

import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import dpmf_datasets as datasets
from dpmf_core import algorithms, kernels
from dpmf_core.curator import Blocks, NoisyCurator, in_memory, in_parts
from dpmf_core.privacy import Budget, Noise, calibrate
from dpmf_core.runs.memory import peak_mb
from dpmf_core.testing.worlds import low_rank

BUDGET = Budget(epsilon=1.0, delta=1e-8)


def fit(algorithm: str, people: Blocks) -> Any:
    """The model at epsilon 1."""
    made: Any = algorithms.build(algorithm, {}, people.shape, BUDGET)
    level = calibrate(lambda at: made.plan(people.shape, at), BUDGET)
    noise = Noise(
        made.plan(people.shape, level), np.random.SeedSequence(1), kernels.usable_threads()
    )
    curator = NoisyCurator(people, noise, made.guarantee().assumptions)
    rng = algorithms.Streams(np.random.default_rng(2), 3)
    with kernels.single_threaded_blas:
        *_, model = made.fit(curator, rng)
    return model


def main() -> None:
    name, algorithm, place = sys.argv[1:]
    fit(algorithm, in_memory(low_rank(n_users=50)))  # compiles
    began = time.perf_counter()
    found: Any = datasets.load(name)
    with tempfile.TemporaryDirectory() as folder:
        people = in_memory(found.together()) if place == "memory" else in_parts(found, Path(folder))
        loaded, processor = time.perf_counter(), time.process_time()
        model = fit(algorithm, people)
        ended = time.perf_counter()
    digest = hashlib.sha256()
    for array in model.arrays.values():
        digest.update(array.tobytes())
    print(
        json.dumps(
            {
                "load_seconds": loaded - began,
                "seconds": ended - loaded,
                "processor_seconds": time.process_time() - processor,
                "peak_mb": peak_mb(),
                "model": digest.hexdigest(),
            }
        )
    )


if __name__ == "__main__":
    main()
