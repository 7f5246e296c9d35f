"""Reads a table once, and says what that took: a process for `benchmarks.reading`.

Run by its path in a checkout that may be older than this file. A line of JSON in, a line of JSON
out.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, "")


def peak_mb() -> float:
    """The most memory that this process has held (Linux); of `getrusage` a process inherits it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def read(reader: str, path: str) -> str:
    """Reads it; what came out, where it can be compared."""
    if reader == "pyarrow":
        import pyarrow.csv

        return str(pyarrow.csv.read_csv(path).num_rows)
    from dpmf_datasets import read_table

    ratings, _ = read_table(path, name="ratings", bounds=(0.5, 5))
    return ratings.fingerprint


def main() -> None:
    for line in sys.stdin:
        fingerprint = read(**json.loads(line))
        answer = {"processor": time.process_time(), "peak_mb": peak_mb(), "found": fingerprint}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
