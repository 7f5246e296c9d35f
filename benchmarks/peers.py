"""Recommenders that predict ratings, each library at its own defaults, on MovieLens 1M: `python -m
benchmarks.peers BENCH_PYTHON SURPRISE_PYTHON`, the interpreters of environments with LensKit and
cmfrec, and with scikit-surprise.

One thread, processor seconds of training, a process of its own for each; in every round each has
its turn, on another split. dpmf is timed until its held-out RMSE is the peer's or less.
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

import dpmf_datasets as datasets
from benchmarks.private import skewed
from benchmarks.report import interval, save
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split

SIDE = Path(__file__).with_name("peers_side.py")
PEERS = {
    "lenskit": "LensKit, BiasedMFScorer",
    "cmfrec": "cmfrec, CMF",
    "surprise": "Surprise, SVD",
}


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


def measured(python: str, library: str, file: Path, seed: int) -> dict[str, Any]:
    command = [python, str(SIDE), library, str(file), str(seed)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def compared(rounds: list[dict[str, dict[str, Any]]], peer: str) -> dict[str, Any]:
    """A peer's medians, and how many times sooner dpmf has its error: an interval of the
    median over rounds, where it has it in each.
    """
    theirs = [it[peer]["points"][-1] for it in rounds]
    sooner: list[float | None] = []
    for found, target in zip(rounds, theirs, strict=True):
        enough = (it for it in found["dpmf"]["points"] if it["rmse"] <= target["rmse"])
        first = next(enough, None)
        sooner.append(None if first is None else target["seconds"] / first["seconds"])
    reached = [it for it in sooner if it is not None]
    return {
        "title": f"{PEERS[peer]} {rounds[0][peer]['version']}",
        "rmse": statistics.median(it["rmse"] for it in theirs),
        "seconds": statistics.median(it["seconds"] for it in theirs),
        "peak_mb": statistics.median(it[peer]["peak_mb"] for it in rounds),
        "dpmf_sooner": interval(reached) if len(reached) == len(rounds) else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bench_python")
    parser.add_argument("surprise_python")
    parser.add_argument("--repeats", type=int, default=5, help="rounds, two or more")
    asked = parser.parse_args()
    pythons = {
        "dpmf": sys.executable,
        "lenskit": asked.bench_python,
        "cmfrec": asked.bench_python,
        "surprise": asked.surprise_python,
    }
    data = datasets.load("ml-1m") if datasets.present("ml-1m") else skewed(1_000_000, 6_040, 3_706)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(asked.repeats):
            write(data, seed, file := Path(folder) / f"{seed}.npz")
            rounds.append({it: measured(pythons[it], it, file, seed) for it in pythons})
            print({it: found["points"][-1] for it, found in rounds[-1].items()})
    own = [it["dpmf"] for it in rounds]
    save(
        "peers",
        {
            "data": data.name,
            "rounds": asked.repeats,
            "dpmf": {
                "rmse": statistics.median(it["points"][-1]["rmse"] for it in own),
                "seconds": statistics.median(it["points"][-1]["seconds"] for it in own),
                "peak_mb": statistics.median(it["peak_mb"] for it in own),
            },
            "peers": {peer: compared(rounds, peer) for peer in PEERS},
        },
    )


if __name__ == "__main__":
    main()
