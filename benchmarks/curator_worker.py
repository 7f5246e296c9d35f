"""Fits private algorithms on request and says what each took: a process for `benchmarks.curator`.

Run by its path in a checkout that may be older than this file, so it looks for names in their
places of now and of before. A line of JSON in, a line of JSON out.
"""

import importlib
import json
import sys
import time
from typing import Any

import numpy as np

sys.path.insert(0, "")


def import_name(name: str, *modules: str) -> Any:
    """A name from the first of these modules that has it. Raises ImportError."""
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(f"No {name} in {', '.join(modules)}.")


def ratings(n_users: int, n_items: int, count: int) -> Any:
    """About `count` ratings of rank 3 with a long tail of items."""
    random = np.random.default_rng(0)
    users = random.integers(n_users, size=count)
    items = np.minimum(n_items * random.random(count) ** 2, n_items - 1).astype(int)
    U, V = random.standard_normal((n_users, 3)), random.standard_normal((n_items, 3))
    values = 3 + 0.6 * np.einsum("ij,ij->i", U[users], V[items]) + random.normal(0, 0.3, count)
    of = import_name("Ratings", "dpmf_core.data.ratings", "dpmf_core.data").of
    return of(users, items, values, n_users=n_users, n_items=n_items, bounds=(1, 5), public=True)


def samples(n: int, n_features: int) -> Any:
    """Rows made of six parts."""
    random = np.random.default_rng(0)
    X = random.gamma(0.3, 1.0, (n, 6)) @ random.gamma(0.3, 1.0, (6, n_features))
    of = import_name("Samples", "dpmf_core.data.samples", "dpmf_core.samples").of
    return of(X, public=True)


def fit(name: str, data: Any, seed: int) -> float:
    """Seconds of processor time of one fit at epsilon 1."""
    from dpmf_core import algorithms
    from dpmf_core.privacy import Budget, Noise, calibrate

    budget = Budget(epsilon=1.0, delta=1e-6)
    algorithm: Any = algorithms.build(name, {}, data.shape, budget)
    plan = algorithm.plan(
        data.shape, calibrate(lambda level: algorithm.plan(data.shape, level), budget)
    )
    noise = Noise(plan, np.random.SeedSequence(seed), 1)
    rng = algorithms.Streams(np.random.default_rng(seed), seed)
    blas = import_name("single_threaded_blas", "dpmf_core.kernels")
    with blas:
        start = time.process_time()
        if hasattr(algorithms, "train"):
            algorithms.train(algorithm, data, noise, rng)
        else:
            algorithm.fit(data, noise=noise, rng=rng)
        return time.process_time() - start


def main() -> None:
    data_sets: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        size = json.dumps(request["size"])
        if size not in data_sets:
            data_sets[size] = (
                ratings(*request["size"])
                if len(request["size"]) == 3
                else samples(*request["size"])
            )
        print(json.dumps(fit(request["algorithm"], data_sets[size], request["seed"])), flush=True)


if __name__ == "__main__":
    main()
