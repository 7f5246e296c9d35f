"""Whole private runs by one command, `fit`.

`python -m benchmarks.one_command [csv|billion] [ALGORITHM ...]`

csv      from a table of ten million ratings to a saved model, in memory; one table has three
         columns and is sorted by user, the other is unsorted and has times
billion  the simulated cinemas of 10 million and of a billion ratings, generated partition by
         partition as they are read

Each command is a process with its own data folder. It trains at epsilon 1 and measures the error on
the ratings held out. Kernels are compiled beforehand. A recorded row is replaced.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks import scale
from benchmarks.report import RESULTS, save
from dpmf_core.base.paths import cache_folder, data_folder

PRIVATE = ("private-bias", "spectral", "dpals", "ada-dpals", "dp-sgd", "dpfw-oja", "private-svd")
ALGORITHMS = {"csv": (*PRIVATE, "als"), "billion": ("private-bias", "spectral")}
ROOT = Path(__file__).parents[1]
MILLIONS = 10
N_USERS, N_FILMS = 70_000, 10_000
FIRST, LAST = 789_652_009, 1_231_131_736  # seconds since 1970 of the ratings


def tables() -> dict[str, Path]:
    """Both tables, made once in the data folder."""
    in_no_order = data_folder() / "scale" / f"{MILLIONS}m-shuffled.csv"
    if not in_no_order.exists():
        in_no_order.parent.mkdir(parents=True, exist_ok=True)
        make_table(new_file := in_no_order.with_suffix(".new"))
        new_file.replace(in_no_order)
    in_order = scale.table_folder(MILLIONS, text=True) / "ratings.csv"
    return {"sorted": in_order, "in no order, with times": in_no_order}


def make_table(path: Path) -> None:
    """Write a table of ratings in no order, with the columns of MovieLens."""
    rng = np.random.default_rng(1)
    activity = rng.lognormal(0, 1, N_USERS)
    users = rng.choice(N_USERS, MILLIONS * 1_100_000, p=activity / activity.sum())
    films = (N_FILMS * rng.random(len(users)) ** 2.5).astype(np.int64)
    pairs = np.unique(users * N_FILMS + films)
    rng.shuffle(pairs)
    columns = {
        "userId": pairs // N_FILMS + 1,
        "movieId": pairs % N_FILMS + 1,
        "rating": rng.integers(1, 11, len(pairs)) / 2,
        "timestamp": rng.integers(FIRST, LAST, len(pairs)),
    }
    pyarrow.csv.write_csv(pa.table(columns), path)


def measurement(algorithm: str, *options: str) -> dict[str, Any]:
    """What `fit` took: seconds from start to end, processor seconds, peak memory.

    The error on held-out ratings is reported too. Raises RuntimeError if the command fails.
    """
    command = [sys.executable, "-m", "dpmf", "fit", "--algorithm", algorithm, "--json"]
    command += ["--epsilon", "1"] if algorithm in PRIVATE else []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as answer:
        home = Path(folder) / "data"
        home.mkdir()
        kernel_cache = cache_folder() / "compiled"
        kernel_cache.mkdir(parents=True, exist_ok=True)
        (home / "compiled").symlink_to(kernel_cache)
        env = {**os.environ, "DPMF_DATA": str(home)}
        warm = [*command, "--dataset", "cinema-small"]  # compiles
        subprocess.run(warm, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
        began = time.perf_counter()
        whole = [*command, *(it.format(folder=folder) for it in options)]
        process = subprocess.Popen(whole, cwd=ROOT, stdout=answer, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if os.waitstatus_to_exitcode(status):
            raise RuntimeError(f"{' '.join(whole)} failed.")
        answer.seek(0)
        record = json.load(answer)
    return {
        "algorithm": algorithm,
        "ratings": round(
            record["metrics"]["test_ratings"] / record["spec"]["split"]["test_fraction"]
        ),
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "rmse": record["metrics"]["rmse"],
        "load_average": os.getloadavg()[0],
    }


def cases(part: str, algorithms: Sequence[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The name of the data, the algorithm and the options of each command."""
    if part == "csv":
        data = {
            name: ("--dataset", f"{path}?bounds=0.5,5", "--save", "{folder}/model")
            for name, path in tables().items()
        }
    else:
        names = ("cinema-10m", "cinema-1b")
        data = {name: ("--dataset", name, "--curve-points", "2") for name in names}
    for name, options in data.items():
        for algorithm in algorithms or ALGORITHMS[part]:
            yield name, algorithm, options


def main() -> None:
    part, algorithms = (sys.argv[1:2] or ["csv"])[0], sys.argv[2:]
    column, record = {"csv": ("table", "one-command"), "billion": ("dataset", "billion")}[part]
    for name, algorithm, options in cases(part, algorithms):
        row = {column: name, **measurement(algorithm, *options)}
        print(row, flush=True)
        rows = json.loads((RESULTS / f"{record}.json").read_text("utf-8"))["rows"]
        rows = [it for it in rows if (it[column], it["algorithm"]) != (name, algorithm)]
        save(record, {"rows": [*rows, row]})


if __name__ == "__main__":
    main()
