"""The two other roads: stochastic gradients on a count sketch, arrivals without retention, Slope
One beside Surprise's.

`python -m benchmarks.roads [SURPRISE_PYTHON]`: the interpreter of an environment with
scikit-surprise; without it Slope One is measured alone. MovieLens 1M where it is in the data
directory, else the simulated cinema. One thread for sketch and arrivals.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dpmf_datasets as datasets
from benchmarks.report import median_of, save
from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.algorithms.no_retention import Server
from dpmf_core.data.ratings import Ratings
from dpmf_core.kernels import sgd, sketch, slope
from dpmf_core.kernels.shuffle import shuffled_range

SIDE = Path(__file__).with_name("surprise_side.py")
ARRIVALS = 100_000


def sketch_speed(data: Ratings, k: int, d: int, together: bool) -> dict[str, Any]:
    """Ratings a second of one epoch in random order, shuffling included; a plain epoch of as
    many factors takes turns with it.
    """
    rng = np.random.default_rng(0)
    w = math.ceil((data.n_users + data.n_items) * d / k)
    keys = (hash_keys(rng, k), hash_keys(rng, k))
    C = (0.3 * math.sqrt(k / d) * rng.standard_normal(sketch.size(k, w, d, together))).astype(
        np.float32
    )
    values = ((data.values - data.shape.mid_range) / data.shape.half_range).astype(np.float32)
    P, Q = (0.1 * rng.standard_normal((size, d)) for size in (data.n_users, data.n_items))
    a, b = np.zeros(data.n_users), np.zeros(data.n_items)

    def one() -> None:
        order = shuffled_range(len(data), 1)
        sketch.epoch(
            C,
            keys,
            data.users[order],
            data.items[order],
            values[order],
            d,
            w,
            together,
            0.05,
            0.02,
            4.0,
        )

    ours = median_of(one)
    plain = median_of(
        lambda: sgd.epoch(
            data.users, data.items, values.astype(np.float64), 0.0, P, Q, a, b, 0.005, 0.02
        )
    )
    return {
        "k": k,
        "d": d,
        "hashing": "vector" if together else "component",
        "ratings_a_second": len(data) / ours,
        "times_a_plain_epoch": ours / plain,
    }


def arrivals(data: Ratings, to_rated: bool) -> dict[str, Any]:
    """Ratings a second that a server without retention takes in, d 10, each user's earlier
    ratings brought along.
    """
    rng = np.random.default_rng(0)
    server = Server(0.1 * rng.standard_normal((data.n_items, 10)), all_rated=to_rated)
    position = np.sort(rng.choice(len(data), min(ARRIVALS, len(data)), replace=False))
    took = median_of(
        lambda: server.arrive(data.items, data.values, data.by_user, position, data.users[position])
    )
    return {"variant": "rated" if to_rated else "new", "ratings_a_second": len(position) / took}


def slope_one(data: Ratings, surprise: str | None) -> dict[str, Any]:
    """Seconds of a fit, and Surprise's in the same run."""
    ours = median_of(
        lambda: slope.pairs(data.by_user, data.items, data.values, data.by_item, data.users)
    )
    row: dict[str, Any] = {"seconds": ours}
    if surprise:
        with tempfile.TemporaryDirectory() as aside:
            base = Path(aside) / "base"
            columns = (data.users, data.items, data.values.astype(int), np.zeros(len(data), int))
            np.savetxt(base, np.column_stack(columns), fmt="%d", delimiter="\t")
            (Path(aside) / "test").write_text("0\t0\t3\t0\n")
            process = subprocess.run(
                [surprise, str(SIDE), str(base), str(Path(aside) / "test"), "slope-one", "0"],
                check=True,
                capture_output=True,
                text=True,
            )
            theirs = json.loads(process.stdout)["seconds"]
        row |= {"surprise_seconds": theirs, "times_faster": theirs / ours}
    return row


def main() -> None:
    name = "ml-1m" if datasets.present("ml-1m") else "cinema"
    data: Any = datasets.load(name)
    result = {
        "data": name,
        "sketch": [
            sketch_speed(data, k, d, together)
            for k, d in ((4, 32), (4, 16), (1, 32))
            for together in (False, True)
        ],
        "arrivals": [arrivals(data, to_rated) for to_rated in (False, True)],
        "slope_one": slope_one(data, sys.argv[1] if len(sys.argv) > 1 else None),
    }
    print(json.dumps(result, indent=1))
    save("roads", result)


if __name__ == "__main__":
    main()
