"""Where DPALS spends its time, and how time and memory grow with the data: `python -m
benchmarks.private [--full]`.

Shares of one item step at the size of MovieLens 10M's catalogue; growth from 0.1 M to 20 M
simulated ratings (--full; else to 2 M), each size in a process of its own.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.report import save
from dpmf_core import kernels
from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.item_systems import GRAMS, RIGHT_SIDES
from dpmf_core.data.ratings import Ratings
from dpmf_core.kernels import usable_threads
from dpmf_core.kernels.readiness import ready
from dpmf_core.privacy import Budget, Gaussian, Noise, calibrate, sequence
from dpmf_core.runs.memory import peak_mb

SIZES = {
    100_000: (700, 3_700),
    1_000_000: (6_900, 9_000),
    2_000_000: (13_800, 12_000),
    5_000_000: (34_600, 16_000),
    20_000_000: (138_493, 26_744),
}


def skewed_ratings(count: int, n_users: int, n_items: int) -> Ratings:
    """About `count` distinct ratings with log-normal activity and a long tail of items, as on
    MovieLens 20M.
    """
    random = np.random.default_rng(0)
    draws = int(count * 1.25)
    activity = random.lognormal(0, 1.1, n_users)
    users = random.choice(n_users, draws, p=activity / activity.sum()).astype(np.int32)
    items = np.minimum(n_items * random.random(draws) ** 3.2, n_items - 1).astype(np.int32)
    return Ratings.of(
        users,
        items,
        random.integers(1, 11, draws) / 2,
        n_users=n_users,
        n_items=n_items,
        bounds=(0.5, 5.0),
        public=True,
    )


@contextmanager
def timer(into: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    into[name] = into.get(name, 0.0) + time.perf_counter() - start


def shares(rank: int) -> dict[str, float]:
    """Seconds of one item step over 10,677 items, part by part, at the noise of epsilon about 1."""
    data = skewed_ratings(1_000_000, 69_878, 10_677)
    starts, order = data.by_item
    U = np.random.default_rng(1).standard_normal((data.n_users, rank))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    noise = Noise(
        sequence(Gaussian(100.0, GRAMS), Gaussian(100.0, RIGHT_SIDES)),
        np.random.SeedSequence(0),
        usable_threads(),
    )
    parts: dict[str, float] = {}
    with timer(parts, "Grams"):
        raters = data.users[order]
        H = kernels.weighted_grams(starts, raters, U, 0, data.n_items)
        w = kernels.right_sides(starts, raters, data.values[order], U, 0, data.n_items)
    with timer(parts, "noise"):
        H, w = (
            noise.symmetric(GRAMS, H, sensitivity=1.0),
            noise.vector(RIGHT_SIDES, w, sensitivity=1.0),
        )
    with timer(parts, "projection and solve"):
        kernels.solve_psd(H.astype(np.float32), w.astype(np.float32), 10.0)
    return parts


def one_size(count: int) -> dict[str, float]:
    """Seconds and peak memory of DPALS, r 32, one step, on `count` ratings."""
    n_users, n_items = SIZES[count]
    data = skewed_ratings(count, n_users, n_items)
    budget = Budget(epsilon=1, delta=1e-7)
    algorithm = build(
        "dpals", {"rank": 32, "steps": 1, "frequent_fraction": 1.0}, data.shape, budget
    )
    level = calibrate(lambda at: algorithm.plan(data.shape, at), budget)
    memory_before, start = peak_mb(), time.perf_counter()
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(0), usable_threads())
    train(algorithm, data, noise, Streams(np.random.default_rng(0), 0))
    return {
        "ratings": len(data),
        "seconds": time.perf_counter() - start,
        "peak_mb": peak_mb(),
        "peak_mb_before_fit": memory_before,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="up to 20 M ratings")
    parser.add_argument("--size", type=int, help="one size, JSON on standard output")
    arguments = parser.parse_args()
    ready()
    if arguments.size:
        print(json.dumps(one_size(arguments.size)))
        return
    shares(8)
    steps = {f"r {rank}": shares(rank) for rank in (16, 32, 64)}
    sizes = [size for size in SIZES if arguments.full or size <= 2_000_000]
    command = [sys.executable, "-m", "benchmarks.private", "--size"]
    growth = [
        json.loads(
            subprocess.run([*command, str(size)], check=True, capture_output=True, text=True).stdout
        )
        for size in sizes
    ]
    save("private", {"item_step_seconds": steps, "growth": growth})
    print("| item step, 10,677 items | Grams | noise | projection and solve |\n|---|---|---|---|")
    for name, parts in steps.items():
        print(f"| {name} | " + " | ".join(f"{value:.2f} s" for value in parts.values()) + " |")
    print("\n| ratings | one step of DPALS, r 32 | µs a rating | peak memory |\n|---|---|---|---|")
    for row in growth:
        print(
            f"| {row['ratings']:,} | {row['seconds']:.2f} s |"
            f" {row['seconds'] / row['ratings'] * 1e6:.2f} | {row['peak_mb']:,.0f} MB |"
        )


if __name__ == "__main__":
    main()
