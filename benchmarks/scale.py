"""What ratings in partitions cost: `python -m benchmarks.scale [MILLIONS ...]`.

Measures wall time, memory and processor time per rating of private training in memory and on disk,
and of the import, at 1, 10 and 100 million simulated ratings. Both models must be equal bit by bit.

Each fit is a process of its own. The data sets are made once, in the data folder (DPMF_DATA).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.report import RESULTS, save
from dpmf_core.base.paths import data_folder
from dpmf_datasets import partitions
from dpmf_datasets.registry import LARGE
from dpmf_datasets.simulated.large_cinema import large_cinema

LARGEST = ("private-bias", "spectral", "ada-dpals", "dp-sgd", "als")
TEN_MILLION = (*LARGEST, "dpals", "dpfw-oja", "oneshot-nmf", "dp-nmf")
ALGORITHMS = {1: (*TEN_MILLION, "private-svd"), 10: TEN_MILLION, 100: LARGEST}
PLACES = ("memory", "disk")
ROOT = Path(__file__).parents[1]
PEAK = "from dpmf_core.runs.memory import peak_mb; import sys; print(peak_mb(), file=sys.stderr)"


def table_folder(millions: int, text: bool) -> Path:
    """A folder with a table of so many ratings: one CSV, or one Parquet file for each part."""
    folder = data_folder() / "scale" / f"{millions}m-{'csv' if text else 'parquet'}"
    if (folder / "complete").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    entry = replace(LARGE["cinema-10m"], n_users=millions * 10_000)
    one: Any = None
    for place, part in enumerate(large_cinema(entry, 0).parts):
        columns = {
            "user": part.ids[part.rows.users],
            "item": part.rows.items,
            "rating": part.rows.values,
        }
        table = pa.table(columns)
        if not text:
            pyarrow.parquet.write_table(table, folder / f"{place:03}.parquet")
            continue
        one = one or pyarrow.csv.CSVWriter(folder / "ratings.csv", table.schema)
        one.write_table(table)
    if one is not None:
        one.close()
    (folder / "complete").touch()
    return folder


def import_figures(millions: int, text: bool) -> dict[str, Any]:
    """Time and memory of an import of the tables into partitions, in a process of its own."""
    name, folder = f"scale-{millions}m", table_folder(millions, text)
    code = (
        "import sys, dpmf_datasets as datasets;"
        " report = datasets.import_partitions(sys.argv[1], sys.argv[2], replace=True);"
        f" print(report.kept); {PEAK}"
    )
    source = f"{folder}?bounds=0.5,5&users={millions * 10_000}"
    began = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", code, name, source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = partitions.folder_of(name).glob("*.parquet")
    return {
        "millions": millions,
        "disk_mb": sum(file.stat().st_size for file in files) / 1e6,
        "from": "csv" if text else "parquet",
        "ratings": int(process.stdout),
        "seconds": time.perf_counter() - began,
        "peak_mb": float(process.stderr.split()[-1]),
    }


def fit_figures(millions: int, algorithm: str, ratings: int) -> list[dict[str, Any]]:
    """The same fit in memory and on disk.

    Raises AssertionError if the models differ. Non-private ALS is exempt: in memory it sums in
    another order than over partitions.
    """
    rows = []
    for place in PLACES:
        command = ["-m", "benchmarks.scale_worker", f"scale-{millions}m", algorithm, place]
        process = subprocess.run(
            [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=True
        )
        row = {"millions": millions, "algorithm": algorithm, "place": place}
        row |= json.loads(process.stdout) | {"load_average": os.getloadavg()[0]}
        row["nanoseconds_a_rating"] = row["processor_seconds"] / ratings * 1e9
        rows.append(row)
        print(in_words(row), flush=True)
    one_model = algorithm == "als" or len({row["model"] for row in rows}) == 1
    assert one_model, f"{algorithm}: another model on disk"
    return rows


def in_words(row: dict[str, Any]) -> str:
    return (
        f"{row['millions']:4} M {row['algorithm']:13} {row['place']:7}"
        f" load {row['load_seconds']:6.1f} s, fit {row['seconds']:7.1f} s,"
        f" processor {row['processor_seconds']:7.1f} s"
        f" ({row['nanoseconds_a_rating']:7.0f} ns a rating), peak {row['peak_mb']:6.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("millions", nargs="*", type=int, default=[1, 10])
    parser.add_argument("--only", nargs="+", metavar="ALGORITHM", help="of sets imported before")
    arguments = parser.parse_args()
    file = RESULTS / "scale.json"
    record: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    for millions in arguments.millions:
        if not arguments.only:
            replace_rows(record, "imports", [import_figures(millions, text=millions <= 10)])
        (imports,) = (it for it in record["imports"] if it["millions"] == millions)
        for algorithm in arguments.only or ALGORITHMS[millions]:
            rows = fit_figures(millions, algorithm, imports["ratings"])
            replace_rows(record, "rows", rows)
            save("scale", {name: record.get(name, []) for name in ("imports", "rows")})


def replace_rows(record: dict[str, Any], kind: str, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of the same size, algorithm and place by new ones."""

    def of(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["millions"], row.get("algorithm"), row.get("place")

    new = set(map(of, rows))
    kept = [row for row in record.get(kind, []) if of(row) not in new]
    record[kind] = sorted(kept + rows, key=itemgetter("millions"))


if __name__ == "__main__":
    main()
