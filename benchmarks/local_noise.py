"""What it costs to trust nobody: item offsets with a curator, and from everybody's own noisy
message on the same splits: `python -m benchmarks.local_noise [DATASET ...]`.

Every row of `results/local-noise.csv` is one run; data sets that are not named keep theirs. Both
methods replace one user, at delta 1e-5. `equal_errors` reads off at which epsilon of its own noise
a message is as good as a curator.
"""

import argparse
import csv
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dpmf_datasets as datasets
from benchmarks.report import RESULTS
from dpmf_core.runs.execution import run
from dpmf_core.runs.needed_epsilon import first_reaching
from dpmf_core.runs.specification import RunSpec

FILE = RESULTS / "local-noise.csv"
DATA = ("cinema-small", "ml-1m", "cinema")
DELTA, DRAWS = 1e-5, 5
EPSILONS: dict[str, tuple[float | None, ...]] = {
    "private-bias": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    "local-bias": (1.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0),
    "user-mean": (None,),
}


@dataclass(frozen=True)
class Row:
    """One run. epsilon: 0 where nothing is released."""

    data: str
    users: int
    items: int
    algorithm: str
    epsilon: float
    seed: int
    rmse: float


def measurements(name: str) -> Iterator[Row]:
    """Every run on one data set."""
    data = datasets.load(name)
    for seed in range(DRAWS):
        for algorithm, epsilons in EPSILONS.items():
            for epsilon in epsilons:
                spec: dict[str, Any] = {"data": {"id": name}, "algorithm": algorithm, "seed": seed}
                if epsilon is not None:
                    budget = {"epsilon": epsilon, "delta": DELTA, "relation": "replace-one"}
                    spec["budget"] = budget
                error = run(RunSpec.parse(**spec), input_data=data).record.metric("rmse")
                row = Row(name, data.n_users, data.n_items, algorithm, epsilon or 0.0, seed, error)
                print(*asdict(row).values(), flush=True)
                yield row


@dataclass(frozen=True)
class EqualError:
    """A curator's median error at an epsilon, the epsilon at which messages reach it (None: beyond
    1000), and the median error of messages at epsilon 1 and of each user's own mean.
    """

    data: str
    users: int
    epsilon: float
    rmse: float
    local_epsilon: float | None
    local_rmse: float
    alone_rmse: float


def equal_errors(rows: Sequence[Row], epsilons: Sequence[float]) -> list[EqualError]:
    """For every data set and each of a curator's epsilons, log-linear between what was measured."""
    errors = []
    for name in dict.fromkeys(row.data for row in rows):
        hers = [row for row in rows if row.data == name]
        lines = {algorithm: _medians(hers, algorithm) for algorithm in EPSILONS}
        for epsilon in epsilons:
            error = lines["private-bias"][epsilon]
            crossing = first_reaching(lines["local-bias"].items(), error)
            errors.append(
                EqualError(
                    name,
                    hers[0].users,
                    epsilon,
                    error,
                    None if crossing is None else crossing.epsilon,
                    lines["local-bias"][1.0],
                    lines["user-mean"][0.0],
                )
            )
    return errors


def _medians(rows: Sequence[Row], algorithm: str) -> Mapping[float, float]:
    """Median error over draws, by epsilon."""
    draws: dict[float, list[float]] = {}
    for row in rows:
        if row.algorithm == algorithm:
            draws.setdefault(row.epsilon, []).append(row.rmse)
    return {epsilon: statistics.median(errors) for epsilon, errors in draws.items()}


def read() -> list[Row]:
    """What was measured."""
    if not FILE.exists():
        return []
    with FILE.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                it["data"],
                int(it["users"]),
                int(it["items"]),
                it["algorithm"],
                float(it["epsilon"]),
                int(it["seed"]),
                float(it["rmse"]),
            )
            for it in csv.DictReader(file)
        ]


def write(rows: Sequence[Row]) -> None:
    """Replace what was measured."""
    with FILE.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(Row.__annotations__), lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(row) | {"rmse": f"{row.rmse:.6f}"} for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs to trust nobody.")
    parser.add_argument("data", nargs="*", default=DATA)
    for name in parser.parse_args().data:
        if not datasets.present(name):
            print(f"{name} is not here")
            continue
        rows = [*(row for row in read() if row.data != name), *measurements(name)]
        write(sorted(rows, key=lambda row: DATA.index(row.data)))


if __name__ == "__main__":
    main()
