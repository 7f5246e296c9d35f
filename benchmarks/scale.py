"""What many ratings cost, and ratings that do not fit in memory.

`python -m benchmarks.scale [PART] [--millions 1 10] [--only ALGORITHM ...]`

places   private training at epsilon 1 on simulated ratings, in memory and in partitions, and
         the import of tables into partitions; both models must be equal bit by bit
csv      whole runs by one command, `fit`: from a table of ten million ratings to a saved model, in
         memory; one table has three columns and is sorted by user, the other is unsorted and has
         times
billion  the same of the simulated cinemas of 10 million and of a billion ratings, generated
         partition by partition as they are read

Each measurement is a process of its own. Tables are made once, in the data folder (DPMF_DATA). A
command `fit` has a data folder of its own, with kernels compiled beforehand. A recorded row is
replaced.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import dpmf_datasets as datasets
from benchmarks.report import RESULTS, save
from dpmf_core import algorithms
from dpmf_core.algorithms import PrivateAlgorithm
from dpmf_core.base.paths import cache_folder, data_folder
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.curator import People, in_memory, in_parts
from dpmf_core.data.partitioned import PartitionedTable
from dpmf_core.data.samples import of_ratings
from dpmf_core.privacy import NOTHING, Budget, Noise, calibrate
from dpmf_core.runs.memory import peak_mb
from dpmf_core.testing.rating_worlds import low_rank
from dpmf_datasets import partitions
from dpmf_datasets.registry import LARGE
from dpmf_datasets.simulated.large_cinema import large_cinema

LARGEST = ("private-bias", "spectral", "ada-dpals", "dp-sgd", "als")
TEN_MILLION = (*LARGEST, "dpals", "dpfw-oja", "oneshot-nmf", "dp-nmf")
PLACED = {1: (*TEN_MILLION, "private-svd"), 10: TEN_MILLION, 100: LARGEST}
COMMANDED = {
    "csv": (*LARGEST, "dpals", "dpfw-oja", "private-svd"),
    "billion": LARGEST[:2],
}
BUDGET = Budget(epsilon=1.0, delta=1e-8)
ROOT = Path(__file__).parents[1]
# of the unsorted table, with repeats
N_RATINGS = 11_000_000
N_USERS = 70_000
N_FILMS = 10_000
# of its ratings, in seconds since 1970
FIRST = 789_652_009
LAST = 1_231_131_736

# ---- tables --------------------------------------------------------------------------------------


def sorted_table(millions: int, text: bool) -> Path:
    """A folder with a table of so many ratings: one CSV, or one Parquet file for each part."""
    folder = data_folder() / "scale" / f"{millions}m-{'csv' if text else 'parquet'}"
    if (folder / "complete").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    entry = replace(LARGE["cinema-10m"], n_users=millions * 10_000)
    for place, part in enumerate(large_cinema(entry, 0).parts):
        rows = part.rows
        table = pa.table(
            {"user": part.ids[rows.users], "item": rows.items, "rating": rows.values}
        )
        if text:
            options = pyarrow.csv.WriteOptions(include_header=place == 0)
            with (folder / "ratings.csv").open("ab" if place else "wb") as file:
                pyarrow.csv.write_csv(table, file, options)
        else:
            pyarrow.parquet.write_table(table, folder / f"{place:03}.parquet")
    (folder / "complete").touch()
    return folder


def unsorted_table() -> Path:
    """A CSV of ratings in no order, with the columns of MovieLens."""
    path = data_folder() / "scale" / "10m-shuffled.csv"
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    activity = rng.lognormal(0, 1, N_USERS)
    users = rng.choice(N_USERS, N_RATINGS, p=activity / activity.sum())
    films = (N_FILMS * rng.random(len(users)) ** 2.5).astype(np.int64)
    pairs = np.unique(users * N_FILMS + films)
    rng.shuffle(pairs)
    columns = {
        "userId": pairs // N_FILMS + 1,
        "movieId": pairs % N_FILMS + 1,
        "rating": rng.integers(1, 11, len(pairs)) / 2,
        "timestamp": rng.integers(FIRST, LAST, len(pairs)),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.csv.write_csv(pa.table(columns), new_file := path.with_suffix(".new"))
    return new_file.replace(path)


# ---- commands ------------------------------------------------------------------------------------


def cost(*words: str, **environment: str) -> tuple[str, dict[str, float]]:
    """What a Python command printed, and what it took. Raises RuntimeError if it fails."""
    with tempfile.TemporaryFile("w+") as answer:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=ROOT,
            stdout=answer,
            env=os.environ | environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if os.waitstatus_to_exitcode(status):
            raise RuntimeError(f"{' '.join(words)} failed.")
        answer.seek(0)
        return answer.read(), {
            "seconds": seconds,
            "processor_seconds": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1024,
            "load_average": os.getloadavg()[0],
        }


def fit_command(algorithm: str, *options: str) -> dict[str, Any]:
    """What `fit` took from start to end, and the error on held-out ratings of public data."""
    command = ["dpmf", "fit", "--algorithm", algorithm, "--json"]
    private = issubclass(algorithms.find(algorithm), PrivateAlgorithm)
    command += ["--epsilon", "1"] if private else []
    with tempfile.TemporaryDirectory() as folder:
        kernels = cache_folder() / "compiled"
        kernels.mkdir(parents=True, exist_ok=True)
        (Path(folder) / "compiled").symlink_to(kernels)
        cost(*command, "--dataset", "cinema-small", DPMF_DATA=folder)  # compiles
        options = tuple(option.format(folder=folder) for option in options)
        answer, taken = cost(*command, *options, DPMF_DATA=folder)
    figures = json.loads(answer).get("metrics", {})  # the JSON of private data has none
    return {"algorithm": algorithm, **taken, "rmse": figures.get("rmse")}


def whole_runs(part: str, only: list[str] | None) -> Iterator[dict[str, Any]]:
    """Rows of `fit` on each table or cinema."""
    if part == "csv":
        tables = {
            "sorted": sorted_table(10, text=True) / "ratings.csv",
            "in no order, with times": unsorted_table(),
        }
        saving = ("--save", "{folder}/model")
        data = {
            name: (f"{path}?bounds=0.5,5", *saving) for name, path in tables.items()
        }
    else:
        data = {
            name: (name, "--curve-points", "2") for name in ("cinema-10m", "cinema-1b")
        }
    if part == "csv":
        column = "table"
    else:
        column = "dataset"
    for name, options in data.items():
        for algorithm in only or COMMANDED[part]:
            yield {column: name, **fit_command(algorithm, "--dataset", *options)}


# ---- in memory and on disk -----------------------------------------------------------------------


def imports(millions: int) -> dict[str, Any]:
    """Time and memory of an import of a table into partitions."""
    name = f"scale-{millions}m"
    text = millions <= 10
    source = f"{sorted_table(millions, text)}?bounds=0.5,5&users={millions * 10_000}"
    _, taken = cost(
        "dpmf", "datasets", "import", name, source, "--partitioned", "--replace"
    )
    sizes = [
        file.stat().st_size for file in partitions.folder_of(name).glob("*.parquet")
    ]
    if text:
        kind = "csv"
    else:
        kind = "parquet"
    return {"millions": millions, "from": kind, **taken, "disk_mb": sum(sizes) / 1e6}


def in_both_places(millions: int, algorithm: str) -> Iterator[dict[str, Any]]:
    """The same fit in memory and on disk.

    Raises AssertionError if the models differ. Non-private ALS is exempt: in memory it sums in
    another order than over partitions.
    """
    models = set()
    for place in ("memory", "disk"):
        words = ["--fit", f"scale-{millions}m", algorithm, place]
        answer, _ = cost("benchmarks.scale", *words)
        row = json.loads(answer) | {
            "millions": millions,
            "algorithm": algorithm,
            "place": place,
        }
        models.add(row["model"])
        yield row
    assert algorithm == "als" or len(models) == 1, f"{algorithm}: another model on disk"


def fit(algorithm: str, people: People, tables: Mapping[str, Any]) -> Any:
    """The model; a private algorithm trains at epsilon 1.

    tables: what a non-private algorithm holds in memory.
    """
    private = issubclass(algorithms.find(algorithm), PrivateAlgorithm)
    shape = people.shape
    plan = NOTHING
    method: Any = algorithms.build(algorithm, {}, shape, BUDGET if private else None)
    if private:
        plan = method.plan(shape, calibrate(lambda at: method.plan(shape, at), BUDGET))
    curator = algorithms.curator_of(
        method, people, Noise(plan, np.random.SeedSequence(1)), tables
    )
    with single_threaded_blas:
        *_, model = method.fit(curator, algorithms.Streams(np.random.default_rng(2), 3))
    return model


def people_in(
    place: str, ratings: Any, samples: bool, folder: str
) -> tuple[People, Any]:
    """The people in memory or on disk, and their tables if these are in memory.

    samples: whether the algorithm takes ratings as samples.
    """
    if place == "disk":
        stored = ratings.kept_in(Path(folder))
        return in_parts(
            PartitionedTable(stored) if samples else stored, Path(folder)
        ), {}
    if samples:
        train = of_ratings(ratings)
    else:
        train = ratings
    return in_memory(train), {"train": train}


def one_fit(name: str, algorithm: str, place: str) -> dict[str, Any]:
    """One fit on ratings in partitions, in this process."""
    samples = algorithms.find(algorithm).task == "samples"
    ratings: Any = datasets.load(name)
    with tempfile.TemporaryDirectory() as folder:
        # compiles
        fit(algorithm, *people_in("memory", low_rank(n_users=50), samples, folder))
        if place == "disk":
            loaded = ratings
        else:
            loaded = ratings.together()
        people, tables = people_in(place, loaded, samples, folder)
        began = time.perf_counter()
        before = time.process_time()
        model = fit(algorithm, people, tables)
        seconds = time.perf_counter() - began
        processor = time.process_time() - before
    row = {"seconds": seconds, "processor_seconds": processor, "peak_mb": peak_mb()}
    arrays = b"".join(array.tobytes() for array in model.arrays.values())
    row["nanoseconds_a_rating"] = processor / int(ratings.item_counts().sum()) * 1e9
    return row | {"model": hashlib.sha256(arrays).hexdigest()}


# ---- records -------------------------------------------------------------------------------------


def put(name: str, kind: str, row: dict[str, Any]) -> None:
    """Replace the row of the same data, algorithm and place in `results/NAME.json`."""
    print(row, flush=True)

    def of(row: dict[str, Any]) -> list[Any]:
        return [
            row.get(key)
            for key in ("millions", "table", "dataset", "algorithm", "place")
        ]

    record = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    del record["machine"]
    rows = [other for other in record[kind] if of(other) != of(row)]
    record[kind] = sorted(
        [*rows, row], key=lambda measured: measured.get("millions", 0)
    )
    save(name, record)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "part", nargs="?", default="places", choices=("places", *COMMANDED)
    )
    parser.add_argument(
        "--millions", nargs="+", type=int, default=[1, 10], choices=PLACED
    )
    parser.add_argument("--only", nargs="+", metavar="ALGORITHM")
    # one fit, in this process
    parser.add_argument("--fit", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        print(json.dumps(one_fit(*arguments.fit)))
    elif arguments.part == "places":
        for millions in arguments.millions:
            put("scale", "imports", imports(millions))
            for algorithm in arguments.only or PLACED[millions]:
                for row in in_both_places(millions, algorithm):
                    put("scale", "rows", row)
    else:
        name = {"csv": "one-command", "billion": "billion"}[arguments.part]
        for row in whole_runs(arguments.part, arguments.only):
            put(name, "rows", row)


if __name__ == "__main__":
    main()
