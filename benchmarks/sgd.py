"""SGD-MF against Surprise's SVD on the official folds u1 to u5 of MovieLens 100K: same factors,
epochs, rates and penalties.

`python -m benchmarks.sgd SURPRISE_PYTHON [FOLDS]`: the interpreter of an environment with
scikit-surprise (it needs numpy 1), and the folder or archive with u1.base, u1.test, ...
(DPMF_REAL_DATA/ml-100k/folds.tar.xz). Both sides take turns; raw predictions of what descent has
learnt are compared.
"""

import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import save
from dpmf_core.algorithms import Streams
from dpmf_core.algorithms.sgd import SGDMF
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import rmse

FOLDS = range(1, 6)
SIDE = Path(__file__).with_name("surprise_side.py")
ROUNDS = 5


def ratings(file: Path) -> Ratings:
    users, items, stars, _ = np.loadtxt(file, dtype=int).T
    return Ratings.of(
        users - 1, items - 1, stars, n_users=943, n_items=1682, bounds=(1, 5), public=True
    )


def ours(folder: Path, fold: int, factors: int, seed: int) -> tuple[float, float]:
    train, test = (ratings(folder / f"u{fold}.{part}") for part in ("base", "test"))
    algorithm = SGDMF(rank=factors)
    began = time.perf_counter()
    *_, model = algorithm.descend(train, Streams(np.random.default_rng(seed), 1))
    seconds = time.perf_counter() - began
    return rmse(model.predict(test.users, test.items, test.bounds), test.values), seconds


def theirs(python: str, folder: Path, fold: int, factors: int, seed: int) -> tuple[float, float]:
    command = [
        python,
        str(SIDE),
        str(folder / f"u{fold}.base"),
        str(folder / f"u{fold}.test"),
        str(factors),
        str(seed),
    ]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer["rmse"], answer["seconds"]


def comparison(python: str, folder: Path, factors: int) -> dict[str, object]:
    """Mean RMSE over folds and seeds; median seconds and median ratio over rounds that take
    turns.
    """
    errors: dict[str, list[float]] = {"ours": [], "surprise": []}
    seconds: dict[str, list[float]] = {"ours": [], "surprise": []}
    ours(folder, 1, factors, 0)  # compiles
    for round_ in range(ROUNDS):
        for fold in FOLDS:
            for side, measure in (
                ("ours", ours),
                ("surprise", lambda *rest: theirs(python, *rest)),
            ):
                error, took = measure(folder, fold, factors, round_)
                errors[side].append(error)
                seconds[side].append(took)
    ratio = statistics.median(
        slow / quick for slow, quick in zip(seconds["surprise"], seconds["ours"], strict=True)
    )
    mean = {side: statistics.fmean(values) for side, values in errors.items()}
    return {
        "factors": factors,
        "rmse": mean,
        "rmse_gap": mean["ours"] - mean["surprise"],
        "seconds": {side: statistics.median(values) for side, values in seconds.items()},
        "times_faster": ratio,
    }


def main() -> None:
    python = sys.argv[1]
    source = Path(
        sys.argv[2]
        if len(sys.argv) > 2
        else Path(os.environ.get("DPMF_REAL_DATA", "../shared/data")) / "ml-100k/folds.tar.xz"
    )
    with tempfile.TemporaryDirectory() as aside:
        folder = source
        if source.is_file():
            with tarfile.open(source) as archive:
                archive.extractall(aside, filter="data")
            folder = next(Path(aside).rglob("u1.base")).parent
        results = [comparison(python, folder, factors) for factors in (10, 100)]
    for result in results:
        print(result)
    save("sgd", {"folds": "MovieLens 100K, u1 to u5", "rounds": ROUNDS, "results": results})


if __name__ == "__main__":
    main()
