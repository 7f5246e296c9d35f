"""Train one library's recommender for `benchmarks.peers`.

`python benchmarks/peers_side.py LIBRARY RATINGS.npz SEED` is run by an interpreter that has the
library. The file holds users, items and values of both parts. Prints JSON: held-out RMSE, processor
seconds of training from arrays in memory, and the process's peak memory; for dpmf after each step.
"""

import json
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = os.environ["DPMF_THREADS"] = os.environ["RAYON_NUM_THREADS"] = "1"

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Parts = dict[str, Any]
Points = list[dict[str, float]]


def point(parts: Parts, predictions: Any, seconds: float) -> dict[str, float]:
    within = np.clip(np.asarray(predictions, float), 1, 5)
    return {
        "rmse": float(np.sqrt(np.mean((within - parts["test_values"]) ** 2))),
        "seconds": seconds,
    }


def dpmf(parts: Parts, seed: int, algorithm_id: str = "als") -> Points:
    """The app's ALS, or another algorithm, at its defaults."""
    sys.path.insert(0, "")
    from dpmf_core import algorithms
    from dpmf_core.base.threads import single_threaded_blas
    from dpmf_core.data.ratings import Ratings
    from dpmf_core.privacy import NOTHING, Noise

    def train(users: Any, items: Any, values: Any) -> Iterator[Any]:
        data = Ratings.of(
            users,
            items,
            values,
            n_users=parts["n_users"],
            n_items=parts["n_items"],
            bounds=(1, 5),
            public=True,
        )
        algorithm = algorithms.build(algorithm_id, {}, data.shape, None)
        curator = algorithms.curator_for(algorithm, data, Noise(NOTHING))
        with single_threaded_blas:
            for model in algorithm.fit(
                curator, algorithms.Streams(np.random.default_rng(seed), seed)
            ):
                yield model, model.personal(data)

    few = parts["users"] < 50
    for _ in train(*(parts[name][few] for name in ("users", "items", "values"))):
        continue  # compiles
    points: Points = []
    began, seconds = time.process_time(), 0.0
    for model, personal in train(parts["users"], parts["items"], parts["values"]):
        seconds += time.process_time() - began
        predictions = model.predict(personal, parts["test_users"], parts["test_items"])
        points.append(point(parts, predictions, seconds))
        began = time.process_time()
    return points


def lenskit(parts: Parts, seed: int) -> Points:
    import pandas as pd
    import torch
    from lenskit.als import BiasedMFScorer
    from lenskit.batch import predict
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import predict_pipeline
    from lenskit.random import set_global_rng

    torch.set_num_threads(1)
    set_global_rng(seed)
    frame = pd.DataFrame(
        {
            "user_id": parts["users"],
            "item_id": parts["items"],
            "rating": parts["values"].astype(float),
        }
    )
    pipeline = predict_pipeline(BiasedMFScorer())
    began = time.process_time()
    pipeline.train(from_interactions_df(frame))
    seconds = time.process_time() - began
    pairs = pd.DataFrame({"user_id": parts["test_users"], "item_id": parts["test_items"]})
    predictions = predict(pipeline, pairs, n_jobs=1).to_df()
    scores = pairs.merge(predictions, on=["user_id", "item_id"], how="left")["score"]
    return [point(parts, scores.fillna(parts["values"].mean()), seconds)]


def cmfrec(parts: Parts, seed: int) -> Points:
    from cmfrec import CMF
    from scipy.sparse import coo_array

    matrix = coo_array(
        (parts["values"].astype(float), (parts["users"], parts["items"])),
        shape=(parts["n_users"], parts["n_items"]),
    )
    model = CMF(nthreads=1, verbose=False, random_state=seed)
    began = time.process_time()
    model.fit(matrix)
    seconds = time.process_time() - began
    return [point(parts, model.predict(parts["test_users"], parts["test_items"]), seconds)]


def surprise(parts: Parts, seed: int) -> Points:
    from surprise import SVD, Dataset, Reader

    columns = (parts[name].tolist() for name in ("users", "items", "values"))
    rows = [(*row, None) for row in zip(*columns, strict=True)]
    data = Dataset(Reader()).construct_trainset(rows)
    model = SVD(random_state=seed)
    began = time.process_time()
    model.fit(data)
    seconds = time.process_time() - began
    pairs = zip(parts["test_users"].tolist(), parts["test_items"].tolist(), strict=True)
    return [point(parts, [model.predict(user, item).est for user, item in pairs], seconds)]


def dpmf_bmf(parts: Parts, seed: int) -> Points:
    """The app's Bayesian factorisation at its defaults."""
    return dpmf(parts, seed, "bmf")


def myfm(parts: Parts, seed: int) -> Points:
    """A Bayesian factorisation machine of user, item and what the user rated.

    Rendle, Zhang & Koren 2019; rank 32, 150 sweeps, of which the last three quarters are kept.
    """
    from myfm import MyFMRegressor, RelationBlock
    from scipy import sparse

    users, items = parts["users"], parts["items"]
    n, m = parts["n_users"], parts["n_items"]
    counts = np.maximum(np.bincount(users, minlength=n), 1)
    rated = sparse.csr_matrix((counts[users] ** -0.5, (users, items)), shape=(n, m))
    sides = (
        sparse.hstack([sparse.identity(n), rated]).tocsr(),
        sparse.identity(m, format="csr"),
    )
    model = MyFMRegressor(rank=32, random_seed=seed)
    began = time.process_time()
    model.fit(
        None,
        parts["values"].astype(float),
        X_rel=[RelationBlock(*it) for it in zip((users, items), sides, strict=True)],
        n_iter=150,
        n_kept_samples=112,
        group_shapes=[n, m, m],
    )
    seconds = time.process_time() - began
    tested = parts["test_users"], parts["test_items"]
    predictions = model.predict(
        None, X_rel=[RelationBlock(*it) for it in zip(tested, sides, strict=True)]
    )
    return [point(parts, predictions, seconds)]


LIBRARIES: dict[str, Callable[[Parts, int], Points]] = {
    "dpmf": dpmf,
    "dpmf-bmf": dpmf_bmf,
    "myfm": myfm,
    "lenskit": lenskit,
    "cmfrec": cmfrec,
    "surprise": surprise,
}


DISTRIBUTIONS = {
    "lenskit": "lenskit",
    "cmfrec": "cmfrec",
    "surprise": "scikit-surprise",
    "myfm": "myfm",
}


def peak_mb() -> float:
    """Peak memory of this program; `ru_maxrss` would begin with its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    library, file, seed = sys.argv[1:]
    with np.load(file) as arrays:
        parts = {
            name: arrays[name] if arrays[name].ndim else int(arrays[name]) for name in arrays.files
        }
    points = LIBRARIES[library](parts, int(seed))
    name = DISTRIBUTIONS.get(library)
    print(
        json.dumps(
            {
                "points": points,
                "peak_mb": peak_mb(),
                "version": version(name) if name else "",
            }
        )
    )


if __name__ == "__main__":
    main()
