"""What it takes to read a table of ten million ratings, beside pyarrow alone and an older checkout:
`python -m benchmarks.reading OLD_CHECKOUT`.

The table has the columns of MovieLens, from a seed: sorted by user and film, and in no order. Each
reading is a process of its own; processor seconds of the whole process, its imports among them, and
its peak memory. They take turns; figures are medians. pyarrow alone is `read_csv`, which makes
numbers of the columns, numbers no ids and looks for no duplicates.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks.checkouts import Worker
from benchmarks.report import save

WORKER = Path(__file__).with_name("reading_worker.py")
HERE = Path(__file__).parents[1]
N_USERS, N_FILMS = 70_000, 10_000
FIRST, LAST = 789_652_009, 1_231_131_736  # seconds since 1970 of the ratings
ORDERS = {"sorted by user and film": False, "in no order": True}


def make(path: Path, rows: int, *, in_no_order: bool) -> int:
    """Writes a table of about so many ratings of different pairs; how many they are."""
    rng = np.random.default_rng(1)
    activity = rng.lognormal(0, 1, N_USERS)
    users = rng.choice(N_USERS, rows * 11 // 10, p=activity / activity.sum())
    films = (N_FILMS * rng.random(len(users)) ** 2.5).astype(np.int64)
    pairs = np.unique(users * N_FILMS + films)
    if in_no_order:
        rng.shuffle(pairs)
    columns = {
        "userId": pairs // N_FILMS + 1,
        "movieId": pairs % N_FILMS + 1,
        "rating": rng.integers(1, 11, len(pairs)) / 2,
        "timestamp": rng.integers(FIRST, LAST, len(pairs)),
    }
    pyarrow.csv.write_csv(pa.table(columns), path)
    return len(pairs)


def once(checkout: Path, reader: str, path: Path) -> dict[str, Any]:
    """What one new process took."""
    worker = Worker(checkout, WORKER)
    answer: dict[str, Any] = worker.ask(reader=reader, path=str(path))
    worker.close()
    return answer


def comparison(path: Path, old: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Medians of each reader. Raises ValueError where both checkouts read different ratings."""
    readers = {"pyarrow": (HERE, "pyarrow"), "before": (old, "dpmf"), "dpmf": (HERE, "dpmf")}
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in readers}
    for number in range(rounds):
        names = list(readers) if number % 2 else list(readers)[::-1]
        for name in names:
            answers[name].append(once(*readers[name], path))
    if len({it["found"] for it in answers["before"] + answers["dpmf"]}) > 1:
        raise ValueError(f"Both checkouts read {path.name}, and not as the same ratings.")
    return {
        name: {it: statistics.median(one[it] for one in rows) for it in ("processor", "peak_mb")}
        for name, rows in answers.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    result: dict[str, Any] = {"rounds": arguments.rounds}
    with tempfile.TemporaryDirectory() as folder:
        for order, in_no_order in ORDERS.items():
            path = Path(folder, "ratings.csv")
            rows = make(path, arguments.rows, in_no_order=in_no_order)
            readers = comparison(path, arguments.old, arguments.rounds)
            result[order] = {"rows": rows, "megabytes": path.stat().st_size / 1e6, **readers}
            for name, it in readers.items():
                print(
                    f"{rows:,} rows {order}, {name}: {it['processor']:.2f} s,"
                    f" {it['peak_mb']:,.0f} MB",
                    flush=True,
                )
    save("reading", result)


if __name__ == "__main__":
    main()
