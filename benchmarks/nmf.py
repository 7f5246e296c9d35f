"""Non-negative factorisation: a robust step, plain factorisation beside scikit-learn's in the same
run, and a whole corpus.

`python -m benchmarks.nmf`. Extended Yale B and TDT2 where they are in the data directory (`import
yaleb PATH`, `import tdt2 PATH`), else data of their size.
"""

import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import random as sparse_random

import dpmf_datasets as datasets
from benchmarks.report import machine, median_of
from dpmf_core.algorithms import Streams, train
from dpmf_core.algorithms.nmf import NMF
from dpmf_core.data.preparation import Preparation, prepared
from dpmf_core.data.samples import Samples
from dpmf_core.kernels.parts import robust_coefficients
from dpmf_core.privacy import NOTHING, Noise

OUT = Path(__file__).parent / "results" / "nmf.json"


def faces() -> Samples:
    if datasets.present("yaleb"):
        return datasets.load("yaleb")  # type: ignore[return-value]
    return Samples.of(np.random.default_rng(0).random((2414, 1024)), image=(32, 32), unit="image")


def corpus(n: int, d: int) -> Samples:
    return Samples.of(sparse_random(n, d, 0.01, "csr", random_state=0), unit="document")


def robust_step(samples: Samples) -> dict[str, float]:
    """Milliseconds of one update of coefficients and outliers, K 38, float32."""
    X = samples.scaled(samples.X)
    W = np.ascontiguousarray(X[np.random.default_rng(1).choice(len(X), 38, replace=False)])
    robust_coefficients(X, W, 0.02, 1.0, passes=2)
    few, many = (
        median_of(lambda passes=passes: robust_coefficients(X, W, 0.02, 1.0, passes=passes))
        for passes in (5, 25)
    )
    return {"ms_a_step": 1000 * (many - few) / 20}


def beside_scikit_learn(samples: Samples, K: int, iterations: int) -> dict[str, float]:
    """Seconds of ours and theirs for as many iterations, and both objectives."""
    from sklearn.decomposition import NMF as Theirs  # noqa: N811

    X = samples.scaled(samples.X)
    ours_model = NMF(n_components=K, iterations=iterations)

    def ours() -> Any:
        return train(ours_model, samples, Noise(NOTHING), Streams(np.random.default_rng(0), 1))

    def theirs() -> Any:
        return Theirs(K, init="nndsvda", max_iter=iterations, random_state=0).fit(X)

    from dpmf_core.evaluation.part_metrics import objective

    mine, other = objective(ours(), samples), 0.5 * theirs().reconstruction_err_ ** 2 / len(samples)
    return {
        "seconds": median_of(ours),
        "scikit_learn_seconds": median_of(theirs),
        "objective": mine,
        "scikit_learn_objective": float(other),
    }


def main() -> None:
    images = faces()
    results: dict[str, Any] = {
        "machine": machine(),
        "robust": robust_step(images),
        "dense 2414 x 1024, K 38": beside_scikit_learn(images, 38, 20),
    }
    results["sparse 10,000 x 4,500, K 8"] = beside_scikit_learn(corpus(10_000, 4_500), 8, 20)
    news = (
        prepared(datasets.load("tdt2"), Preparation())
        if datasets.present("tdt2")
        else corpus(9_394, 36_771)
    )  # type: ignore[arg-type]
    began = time.perf_counter()
    train(NMF(n_components=30), news, Noise(NOTHING), Streams(np.random.default_rng(0), 1))
    results["9,394 x 36,771, K 30"] = {
        "seconds": time.perf_counter() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    OUT.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
