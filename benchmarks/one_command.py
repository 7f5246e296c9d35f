"""From a CSV of ten million ratings to a private model on disk by one command, `fit --save`, in one
memory: `python -m benchmarks.one_command [ALGORITHM ...]`.

Two tables: sorted by user, with three columns; and in no order, with times. Each command is a
process of its own with a data folder of its own, and judges the model on the ratings held out.
Compiled code is there before.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import reading, scale
from benchmarks.report import RESULTS, save
from dpmf_core.paths import cache_folder, data_folder

PRIVATE = ("private-bias", "spectral", "dpals", "ada-dpals", "dp-sgd", "dpfw-oja", "private-svd")
ALGORITHMS = (*PRIVATE, "als")
ROOT = Path(__file__).parents[1]
MILLIONS = 10


def tables() -> dict[str, Path]:
    """Both tables, made once in the data folder."""
    in_no_order = data_folder() / "scale" / f"{MILLIONS}m-shuffled.csv"
    if not in_no_order.exists():
        in_no_order.parent.mkdir(parents=True, exist_ok=True)
        reading.make(
            new_file := in_no_order.with_suffix(".new"), MILLIONS * 10**6, in_no_order=True
        )
        new_file.replace(in_no_order)
    in_order = scale.table_folder(MILLIONS, text=True) / "ratings.csv"
    return {"sorted": in_order, "in no order, with times": in_no_order}


def measurement(path: Path, algorithm: str) -> dict[str, Any]:
    """What `fit` of a table took: seconds from the command to its end, of the processor too, the
    most memory, and the error on held-out ratings. Raises CalledProcessError.
    """
    command = [sys.executable, "-m", "dpmf_core", "fit", "--algorithm", algorithm, "--json"]
    command += ["--epsilon", "1"] if algorithm in PRIVATE else []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "data"
        home.mkdir()
        kernel_cache = cache_folder() / "compiled"
        kernel_cache.mkdir(exist_ok=True)
        (home / "compiled").symlink_to(kernel_cache)
        env = {**os.environ, "DPMF_DATA": str(home)}

        def run(*more: str) -> str:
            return subprocess.run(
                [*command, *more], cwd=ROOT, env=env, check=True, capture_output=True, text=True
            ).stdout

        run("--dataset", "cinema-small")  # compiles
        before, began = os.times(), time.perf_counter()
        answer = run("--dataset", f"{path}?bounds=0.5,5", "--save", f"{folder}/model")
        seconds, after = time.perf_counter() - began, os.times()
        record = json.loads(answer)
        assert (Path(folder) / "model" / "model.npz").exists()
    return {
        "algorithm": algorithm,
        "ratings": round(
            record["metrics"]["test_ratings"] / record["spec"]["split"]["test_fraction"]
        ),
        "seconds": seconds,
        "processor_seconds": sum(after[2:4]) - sum(before[2:4]),
        "peak_mb": record["peak_mb"],
        "rmse": record["metrics"]["rmse"],
        "load_average": os.getloadavg()[0],
    }


def main() -> None:
    file = RESULTS / "one-command.json"
    rows = json.loads(file.read_text("utf-8"))["rows"] if file.exists() else []
    for name, path in tables().items():
        for algorithm in sys.argv[1:] or ALGORITHMS:
            row = {"table": name, **measurement(path, algorithm)}
            print(row, flush=True)
            same = [it for it in rows if (it["table"], it["algorithm"]) == (name, algorithm)]
            rows = [it for it in rows if it not in same] + [row]
            save("one-command", {"rows": rows})


if __name__ == "__main__":
    main()
