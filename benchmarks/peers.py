"""Compare recommenders that predict ratings, each library at its own defaults, on MovieLens 1M.

`python -m benchmarks.peers BENCH_PYTHON SURPRISE_PYTHON` takes the interpreters of two
environments: one with LensKit, cmfrec and myFM, one with scikit-surprise. myFM is compared with our
Bayesian factorisation, the others with ALS.

One thread, processor seconds of training from arrays in memory, one process for each training: this
file, run by the interpreter that has the library. In each round every library trains once, on a new
split. dpmf is timed until its held-out RMSE is the peer's or lower.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

THREADS = ("OPENBLAS_NUM", "OMP_NUM", "MKL_NUM", "DPMF", "RAYON_NUM")
ONE_THREAD = {f"{name}_THREADS": "1" for name in THREADS}
Parts = dict[str, Any]
Points = list[dict[str, float]]

# ---- one training, in an environment that may lack dpmf ------------------------------------------


def dpmf(parts: Parts, seed: int, algorithm_id: str) -> Points:
    """One of our algorithms at its defaults, after each step."""
    sys.path.insert(0, "")
    from dpmf_core import algorithms
    from dpmf_core.base.threads import single_threaded_blas
    from dpmf_core.data.ratings import Ratings
    from dpmf_core.privacy import NOTHING, Noise

    sizes = {name: parts[name] for name in ("n_users", "n_items")}

    def train(*columns: Any) -> Iterator[Any]:
        data = Ratings.of(*columns, **sizes, bounds=(1, 5), public=True)
        algorithm = algorithms.build(algorithm_id, {}, data.shape, None)
        curator = algorithms.curator_for(algorithm, data, Noise(NOTHING))
        rng = algorithms.Streams(np.random.default_rng(seed), seed)
        with single_threaded_blas:
            for model in algorithm.fit(curator, rng):
                yield model, model.personal(data)

    columns = [parts[name] for name in ("users", "items", "values")]
    for _ in train(*(column[columns[0] < 50] for column in columns)):
        continue  # compiles
    points: Points = []
    began = time.process_time()
    seconds = 0.0
    for model, personal in train(*columns):
        seconds += time.process_time() - began
        predictions = model.predict(personal, parts["test_users"], parts["test_items"])
        points.append(point(parts, predictions, seconds))
        began = time.process_time()
    return points


def point(parts: Parts, predictions: Any, seconds: float) -> dict[str, float]:
    within = np.clip(np.asarray(predictions, float), 1, 5)
    rmse = float(np.sqrt(np.mean((within - parts["test_values"]) ** 2)))
    return {"rmse": rmse, "seconds": seconds}


def one_point(
    parts: Parts, train: Callable[[], Any], predict: Callable[[], Any]
) -> Points:
    """The only point of a library that is measured at the end of its training."""
    began = time.process_time()
    train()
    seconds = time.process_time() - began
    return [point(parts, predict(), seconds)]


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
    frame = pd.DataFrame({"user_id": parts["users"], "item_id": parts["items"]})
    frame["rating"] = parts["values"].astype(float)
    pairs = pd.DataFrame(
        {"user_id": parts["test_users"], "item_id": parts["test_items"]}
    )
    pipeline = predict_pipeline(BiasedMFScorer())

    def scores() -> Any:
        found = predict(pipeline, pairs, n_jobs=1).to_df()
        in_order = pairs.merge(found, on=["user_id", "item_id"], how="left")["score"]
        return in_order.fillna(parts["values"].mean())

    return one_point(parts, lambda: pipeline.train(from_interactions_df(frame)), scores)


def cmfrec(parts: Parts, seed: int) -> Points:
    from cmfrec import CMF
    from scipy.sparse import coo_array

    matrix = coo_array(
        (parts["values"].astype(float), (parts["users"], parts["items"])),
        shape=(parts["n_users"], parts["n_items"]),
    )
    model = CMF(nthreads=1, verbose=False, random_state=seed)
    tested = parts["test_users"], parts["test_items"]
    return one_point(parts, lambda: model.fit(matrix), lambda: model.predict(*tested))


def surprise(parts: Parts, seed: int) -> Points:
    from surprise import SVD, Dataset, Reader

    columns = (parts[name].tolist() for name in ("users", "items", "values"))
    rows = [(*row, None) for row in zip(*columns, strict=True)]
    data = Dataset(Reader()).construct_trainset(rows)
    model = SVD(random_state=seed)
    pairs = list(
        zip(parts["test_users"].tolist(), parts["test_items"].tolist(), strict=True)
    )
    return one_point(
        parts,
        lambda: model.fit(data),
        lambda: [model.predict(*pair).est for pair in pairs],
    )


def myfm(parts: Parts, seed: int) -> Points:
    """A Bayesian factorisation machine of user, item and what the user rated.

    Rendle, Zhang & Koren 2019; rank 32, 150 sweeps, of which the last three quarters are kept.
    """
    from myfm import MyFMRegressor, RelationBlock
    from scipy import sparse

    users = parts["users"]
    items = parts["items"]
    n = parts["n_users"]
    m = parts["n_items"]
    counts = np.maximum(np.bincount(users, minlength=n), 1)
    rated = sparse.csr_matrix((counts[users] ** -0.5, (users, items)), shape=(n, m))
    sides = (
        sparse.hstack([sparse.identity(n), rated]).tocsr(),
        sparse.identity(m, format="csr"),
    )

    def relations(*pairs: Any) -> list[Any]:
        return [RelationBlock(*pair) for pair in zip(pairs, sides, strict=True)]

    model = MyFMRegressor(rank=32, random_seed=seed)
    values = parts["values"].astype(float)
    options = {"n_iter": 150, "n_kept_samples": 112, "group_shapes": [n, m, m]}
    trained = relations(users, items)
    tested = relations(parts["test_users"], parts["test_items"])
    return one_point(
        parts,
        lambda: model.fit(None, values, X_rel=trained, **options),
        lambda: model.predict(None, X_rel=tested),
    )


LIBRARIES: dict[str, Callable[[Parts, int], Points]] = {
    "dpmf": partial(dpmf, algorithm_id="als"),
    "dpmf-bmf": partial(dpmf, algorithm_id="bmf"),
    "lenskit": lenskit,
    "cmfrec": cmfrec,
    "surprise": surprise,
    "myfm": myfm,
}
OWN = {"dpmf": "dpmf, ALS", "dpmf-bmf": "dpmf, Bayesian MF"}
PEERS = {  # the distribution, the title, and which of ours it is compared with
    "lenskit": ("lenskit", "LensKit, BiasedMFScorer", "dpmf"),
    "cmfrec": ("cmfrec", "cmfrec, CMF", "dpmf"),
    "surprise": ("scikit-surprise", "Surprise, SVD", "dpmf"),
    "myfm": ("myfm", "myFM, rank 32, 150 sweeps", "dpmf-bmf"),
}


def peak_mb() -> float:
    """Peak memory of this program; `ru_maxrss` would begin with its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(
        int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")
    )


def train(library: str, file: str, seed: str) -> None:
    """Train on a file's users, items and values of both parts, and print JSON."""
    with np.load(file) as arrays:
        parts = {
            name: arrays[name] if arrays[name].ndim else int(arrays[name])
            for name in arrays.files
        }
    points = LIBRARIES[library](parts, int(seed))
    if library in PEERS:
        found = version(PEERS[library][0])
    else:
        found = ""
    print(json.dumps({"points": points, "peak_mb": peak_mb(), "version": found}))


# ---- all of them ---------------------------------------------------------------------------------


def write(data: Any, seed: int, file: Path) -> None:
    from dpmf_core.data.splits import SplitSpec, split

    parts = split(data, SplitSpec(), seed)
    columns = {
        f"{prefix}{name}": getattr(part, name)
        for prefix, part in (("", parts.train), ("test_", parts.test))
        for name in ("users", "items", "values")
    }
    np.savez(file, **columns, n_users=data.n_users, n_items=data.n_items)


def measurement(python: str, library: str, file: Path, seed: int) -> dict[str, Any]:
    command = [python, __file__, "--train", library, str(file), str(seed)]
    process = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD},
    )
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def cost(
    rounds: list[dict[str, dict[str, Any]]], library: str, title: str
) -> dict[str, Any]:
    """A library's medians."""
    last = [measured[library]["points"][-1] for measured in rounds]
    return {
        "title": title,
        "rmse": statistics.median(point["rmse"] for point in last),
        "seconds": statistics.median(point["seconds"] for point in last),
        "peak_mb": statistics.median(
            measured[library]["peak_mb"] for measured in rounds
        ),
    }


def comparison(rounds: list[dict[str, dict[str, Any]]], peer: str) -> dict[str, Any]:
    """A peer's medians, and how many times sooner dpmf reaches its error.

    The latter is an interval of the median over rounds, given if dpmf reaches it in each.
    """
    from benchmarks.report import interval

    _, title, rival = PEERS[peer]
    ratios = []
    for measured in rounds:
        target = measured[peer]["points"][-1]
        enough = (
            own["seconds"]
            for own in measured[rival]["points"]
            if own["rmse"] <= target["rmse"]
        )
        ratios += [target["seconds"] / seconds for seconds in list(enough)[:1]]
    if len(ratios) == len(rounds):
        sooner = interval(ratios)
    else:
        sooner = None
    whole_title = f"{title} {rounds[0][peer]['version']}"
    return {**cost(rounds, peer, whole_title), "dpmf_sooner": sooner}


def main() -> None:
    from benchmarks.report import movielens_or_simulated, save

    parser = argparse.ArgumentParser()
    parser.add_argument("bench_python")
    parser.add_argument("surprise_python")
    parser.add_argument("--repeats", type=int, default=3, help="rounds, two or more")
    arguments = parser.parse_args()
    pythons = dict.fromkeys(LIBRARIES, arguments.bench_python)
    pythons |= {
        **dict.fromkeys(OWN, sys.executable),
        "surprise": arguments.surprise_python,
    }
    data = movielens_or_simulated()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.repeats):
            write(data, seed, file := Path(folder) / f"{seed}.npz")
            rounds.append(
                {
                    library: measurement(pythons[library], library, file, seed)
                    for library in pythons
                }
            )
            print(
                {
                    library: result["points"][-1]
                    for library, result in rounds[-1].items()
                }
            )
    own = {library: cost(rounds, library, title) for library, title in OWN.items()}
    peers = {peer: comparison(rounds, peer) for peer in PEERS}
    save(
        "peers",
        {"data": data.name, "rounds": arguments.repeats, "own": own, "peers": peers},
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(*sys.argv[2:])
    else:
        main()
