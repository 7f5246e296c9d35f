"""What a whole run takes, from the specification until it is stored, beside an older checkout:
`python -m benchmarks.end_to_end OLD_CHECKOUT [algorithm ...]`.

On MovieLens 1M, its 400 most rated films and all, where it is present, else on the simulated
cinema; one thread. Pairs of runs, one in each of two processes, in turn: medians of processor
seconds, the median of their ratios, and an interval that holds it with 95% (order statistics).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checkouts import Worker, paired_answers
from benchmarks.report import interval, save
from dpmf_datasets import present

ALGORITHMS = ("private-bias", "spectral", "ada-dpals", "dpals", "dp-sgd", "als")
WITHOUT_BUDGET = {"als"}
BUDGET = {"epsilon": 5.0, "delta": 1e-5}
LEAST, MOST, SECONDS = 5, 21, 20.0  # pairs of one algorithm and size; how long it may take
WORKER = Path(__file__).with_name("end_to_end_worker.py")


def comparison(old: Worker, new: Worker, algorithm: str, data: dict[str, Any]) -> dict[str, Any]:
    """A row of the table."""
    request: dict[str, Any] = {"algorithm": algorithm, "data": data}
    if algorithm not in WITHOUT_BUDGET:
        request["budget"] = BUDGET
    before, after = paired_answers(
        old, new, request, lambda it: float(it["processor"]), (LEAST, MOST), SECONDS
    )
    ratios = np.array([it["processor"] for it in after]) / [it["processor"] for it in before]
    low, high = interval(ratios)
    return {
        "algorithm": algorithm,
        "data": data,
        "pairs": len(ratios),
        "old_seconds": _median(before, "processor"),
        "new_seconds": _median(after, "processor"),
        "ratio": float(np.median(ratios)),
        "from": low,
        "to": high,
        "old_judging": _median(before, "judging"),
        "new_judging": _median(after, "judging"),
        "largest_difference_of_rmse": max(
            abs(one["rmse"] - other["rmse"]) for one, other in zip(before, after, strict=True)
        ),
    }


def _median(answers: list[dict[str, float]], name: str) -> float:
    return float(np.median([it[name] for it in answers]))


def in_words(row: dict[str, Any]) -> str:
    return (
        f"{row['algorithm']:13} {row['data']!s:38} {row['pairs']:2} pairs,"
        f" {row['old_seconds']:7.3f} s -> {row['new_seconds']:7.3f} s:"
        f" {row['ratio']:.3f} ({row['from']:.3f} to {row['to']:.3f}); judging"
        f" {row['old_judging']:.0%} -> {row['new_judging']:.0%} of it; errors differ by at most"
        f" {row['largest_difference_of_rmse']:.1g}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("algorithms", nargs="*")
    arguments = parser.parse_args()
    name = "ml-1m" if present("ml-1m") else "cinema"
    old, new = Worker(arguments.old, WORKER), Worker(Path(__file__).parents[1], WORKER)
    rows = []
    for data in ({"id": name, "top_items": 400}, {"id": name}):
        for algorithm in arguments.algorithms or ALGORITHMS:
            rows.append(comparison(old, new, algorithm, data))
            print(in_words(rows[-1]), flush=True)
    old.close()
    new.close()
    if not arguments.algorithms:
        save("end_to_end", {"rows": rows})


if __name__ == "__main__":
    main()
