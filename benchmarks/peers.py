"""Compare recommenders that predict ratings, each library at its own defaults, on MovieLens 1M.

`python -m benchmarks.peers BENCH_PYTHON SURPRISE_PYTHON` takes the interpreters of two
environments: one with LensKit, cmfrec and myFM, one with scikit-surprise. myFM is compared with our
Bayesian factorisation, the others with ALS.

One thread, processor seconds of training, one process for each training. In each round every
library trains once, on a new split. dpmf is timed until its held-out RMSE is the peer's or lower.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import interval, movielens_or_simulated, save
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split

SIDE = Path(__file__).with_name("peers_side.py")
PEERS = {
    "lenskit": "LensKit, BiasedMFScorer",
    "cmfrec": "cmfrec, CMF",
    "surprise": "Surprise, SVD",
    "myfm": "myFM, rank 32, 150 sweeps",
}
OWN = {"dpmf": "dpmf, ALS", "dpmf-bmf": "dpmf, Bayesian MF"}
RIVAL = {"myfm": "dpmf-bmf"}  # which of ours a peer is compared with, if not ALS


def write(data: Ratings, seed: int, file: Path) -> None:
    parts = split(data, SplitSpec(), seed)
    train, test = parts.train, parts.test
    np.savez(
        file,
        users=train.users,
        items=train.items,
        values=train.values,
        test_users=test.users,
        test_items=test.items,
        test_values=test.values,
        n_users=data.n_users,
        n_items=data.n_items,
    )


def measurement(python: str, library: str, file: Path, seed: int) -> dict[str, Any]:
    command = [python, str(SIDE), library, str(file), str(seed)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result


def comparison(rounds: list[dict[str, dict[str, Any]]], peer: str) -> dict[str, Any]:
    """A peer's medians, and how many times sooner dpmf reaches its error.

    The latter is an interval of the median over rounds, given if dpmf reaches it in each.
    """
    theirs = [it[peer]["points"][-1] for it in rounds]
    sooner: list[float | None] = []
    for round_results, target in zip(rounds, theirs, strict=True):
        enough = (
            it
            for it in round_results[RIVAL.get(peer, "dpmf")]["points"]
            if it["rmse"] <= target["rmse"]
        )
        first = next(enough, None)
        sooner.append(None if first is None else target["seconds"] / first["seconds"])
    ratios = [it for it in sooner if it is not None]
    return {
        "title": f"{PEERS[peer]} {rounds[0][peer]['version']}",
        "rmse": statistics.median(it["rmse"] for it in theirs),
        "seconds": statistics.median(it["seconds"] for it in theirs),
        "peak_mb": statistics.median(it[peer]["peak_mb"] for it in rounds),
        "dpmf_sooner": interval(ratios) if len(ratios) == len(rounds) else None,
    }


def own_cost(rounds: list[dict[str, dict[str, Any]]], name: str) -> dict[str, Any]:
    """Medians of one of our algorithms."""
    own = [it[name] for it in rounds]
    return {
        "title": OWN[name],
        "rmse": statistics.median(it["points"][-1]["rmse"] for it in own),
        "seconds": statistics.median(it["points"][-1]["seconds"] for it in own),
        "peak_mb": statistics.median(it["peak_mb"] for it in own),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bench_python")
    parser.add_argument("surprise_python")
    parser.add_argument("--repeats", type=int, default=3, help="rounds, two or more")
    arguments = parser.parse_args()
    pythons = {
        **dict.fromkeys(OWN, sys.executable),
        "lenskit": arguments.bench_python,
        "cmfrec": arguments.bench_python,
        "surprise": arguments.surprise_python,
        "myfm": arguments.bench_python,
    }
    data = movielens_or_simulated()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.repeats):
            write(data, seed, file := Path(folder) / f"{seed}.npz")
            rounds.append({it: measurement(pythons[it], it, file, seed) for it in pythons})
            print({it: result["points"][-1] for it, result in rounds[-1].items()})
    save(
        "peers",
        {
            "data": data.name,
            "rounds": arguments.repeats,
            "own": {it: own_cost(rounds, it) for it in OWN},
            "peers": {peer: comparison(rounds, peer) for peer in PEERS},
        },
    )


if __name__ == "__main__":
    main()
