"""What a curator costs: processor time of every private algorithm, beside an older checkout that
held rows: `python -m benchmarks.curator OLD_CHECKOUT [algorithm ...]`.

Pairs of fits, one in each of two processes, in turn; the median of their ratios, and an interval
that holds it with 95% (order statistics).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checkouts import Worker, paired_answers
from benchmarks.report import interval, save
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm

RATINGS = {"small": (300, 80, 6_000), "medium": (6_000, 600, 400_000)}
SAMPLES = {"small": (200, 64), "medium": (4_000, 400)}
LEAST, MOST, SECONDS = 5, 41, 20.0  # pairs of one algorithm and size; how long it may take
WORKER = Path(__file__).with_name("curator_worker.py")


def comparison(old: Worker, new: Worker, algorithm: str, size: tuple[int, ...]) -> dict[str, Any]:
    """A row of the table."""
    request: dict[str, Any] = {"algorithm": algorithm, "size": size}
    before, after = paired_answers(old, new, request, float, (LEAST, MOST), SECONDS)
    ratios = np.array(after) / np.array(before)
    low, high = interval(ratios)
    return {
        "algorithm": algorithm,
        "size": "x".join(map(str, size)),
        "pairs": len(ratios),
        "old_seconds": float(np.median(before)),
        "new_seconds": float(np.median(after)),
        "ratio": float(np.median(ratios)),
        "from": low,
        "to": high,
    }


def in_words(row: dict[str, Any]) -> str:
    return (
        f"{row['algorithm']:18} {row['size']:16} {row['pairs']:3} pairs, "
        f"{row['old_seconds']:8.4f} s -> {row['new_seconds']:8.4f} s: "
        f"{row['ratio']:.3f} ({row['from']:.3f} to {row['to']:.3f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("algorithms", nargs="*")
    arguments = parser.parse_args()
    private = [name for name, kind in REGISTRY.items() if issubclass(kind, PrivateAlgorithm)]
    old, new = Worker(arguments.old, WORKER), Worker(Path(__file__).parents[1], WORKER)
    rows = []
    for name in arguments.algorithms or private:
        for size in (RATINGS if REGISTRY[name].task == "ratings" else SAMPLES).values():
            rows.append(comparison(old, new, name, size))
            print(in_words(rows[-1]), flush=True)
    old.close()
    new.close()
    if not arguments.algorithms:
        save("curator", {"rows": rows})


if __name__ == "__main__":
    main()
