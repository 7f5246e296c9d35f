"""What no method should fall below: `make`-free, `.venv/bin/python -m benchmarks.floors twin
spectral parts subspace` (all, or some).

twin: ALS without privacy against the trivial predictors, from 300 users up. spectral: against
private biases, which are its own first step.
parts: private non-negative factorisations against the mean row. subspace: `release=iteration`
against the covariance, which needs more memory.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import dpmf_datasets as datasets
from benchmarks.report import save
from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets.simulated.low_rank import lowrank

Row = dict[str, Any]
EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


def some_users(data: Ratings, count: int) -> Ratings:
    """`count` users, drawn by a hash, under new ids."""
    users = np.sort(np.argsort(keyed_uniform(0, np.arange(data.n_users)))[:count])
    new = np.full(data.n_users, -1)
    new[users] = np.arange(count)
    inside = new[data.users] >= 0
    return Ratings.of(
        new[data.users[inside]],
        data.items[inside],
        data.values[inside],
        n_users=count,
        n_items=data.n_items,
        bounds=data.bounds,
        name=data.name,
        public=True,
    )


def figure(
    data: Ratings | Samples,
    algorithm: str,
    epsilon: float | None,
    seed: int,
    metric: str,
    **parameters: Any,
) -> float:
    budget = None if epsilon is None else {"epsilon": epsilon, "delta": 1e-5}
    spec = RunSpec.parse(
        data={"id": data.name}, algorithm=algorithm, parameters=parameters, budget=budget, seed=seed
    )
    return float(run(spec, input_data=data).record.metrics[metric])


def medians(
    data: Ratings | Samples,
    algorithms: Sequence[str],
    epsilon: float | None,
    seeds: int,
    metric: str = "rmse",
) -> dict[str, float]:
    """Each algorithm's median over seeds by which no default was chosen."""
    return {
        name: statistics.median(
            figure(data, name, epsilon, seed, metric) for seed in range(100, 100 + seeds)
        )
        for name in algorithms
    }


def print_rows(rows: Iterator[Row]) -> list[Row]:
    out = []
    for row in rows:
        print(
            ", ".join(
                f"{name} {value:.4f}"
                if isinstance(value, float) and name != "epsilon"
                else f"{name} {value}"
                for name, value in row.items()
            ),
            flush=True,
        )
        out.append(row)
    return out


def ratings_sets() -> Iterator[Ratings]:
    """Rating tables of all sizes: what is present of MovieLens, and simulated ones."""
    for name, tops, users in (
        ("ml-100k", (None,), (300, 671, 943)),
        ("ml-1m", (100, 400, None), (671, 6040)),
    ):
        if datasets.present(name):
            for top in tops:
                data = datasets.load(name)
                yield from (
                    some_users(data.top_items(top) if top else data, count) for count in users
                )
    yield from (datasets.load(name) for name in ("cinema-small", "cinema", "lowrank-5k"))


def twin(seeds: int) -> Iterator[Row]:
    for data in ratings_sets():
        yield {
            "data": data.name,
            "users": data.n_users,
            "items": data.n_items,
            **medians(data, ("als", "global-mean", "user-mean", "bias"), None, seeds),
        }


def spectral(seeds: int) -> Iterator[Row]:
    """The differences are taken split by split."""
    for data in ratings_sets():
        for epsilon in EPSILONS:
            pairs = [
                [figure(data, name, epsilon, seed, "rmse") for name in ("spectral", "private-bias")]
                for seed in range(100, 100 + seeds)
            ]
            yield {
                "data": data.name,
                "users": data.n_users,
                "items": data.n_items,
                "epsilon": epsilon,
                "spectral": statistics.median(a for a, _ in pairs),
                "private-bias": statistics.median(b for _, b in pairs),
                "difference": statistics.median(a - b for a, b in pairs),
            }


def sample_sets() -> Iterator[Samples]:
    for name, counts in (
        ("yaleb", (400, 2414)),
        ("faces", (400, 4000)),
        ("digits", (400, 1797)),
        ("news", (3000,)),
        ("tdt2", (3000,)),
    ):
        if datasets.present(name):
            for count in counts:
                data = datasets.load(name)
                yield data.rows(
                    np.sort(
                        np.argsort(keyed_uniform(0, np.arange(len(data))), kind="stable")[:count]
                    )
                )


def parts(seeds: int) -> Iterator[Row]:
    for data in sample_sets():
        mean = figure(data, "nmf", None, 0, "trivial_objective", iterations=1)
        for epsilon in EPSILONS[:5]:
            figures = medians(data, ("oneshot-nmf", "dp-nmf"), epsilon, seeds, "objective")
            yield {
                "data": data.name,
                "rows": len(data),
                "epsilon": epsilon,
                **figures,
                "mean row": mean,
            }


def subspace(seeds: int) -> Iterator[Row]:
    """On 15,000 items the covariance has factors for 12,000."""
    for data, epsilons in (
        (datasets.load("lowrank"), EPSILONS),
        (lowrank(20_000, 15_000, p=0.02), (5.0, 10.0, 20.0)),
    ):
        for epsilon in epsilons:
            figures = {
                name: statistics.median(
                    figure(data, "spectral", epsilon, seed, "rmse", biases=False, release=name)
                    for seed in range(100, 100 + seeds)
                )
                for name in ("covariance", "iteration")
            }
            yield {"data": data.name, "items": data.n_items, "epsilon": epsilon, **figures}


TABLES: dict[str, Callable[[int], Iterator[Row]]] = {
    "twin": twin,
    "spectral": spectral,
    "parts": parts,
    "subspace": subspace,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "tables", nargs="*", default=list(TABLES), help="which of " + ", ".join(TABLES)
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=5,
        help="each figure is the median of so many splits and noises",
    )
    arguments = parser.parse_args()
    for name in arguments.tables:
        print(f"\n{name}, median of {arguments.seeds}", flush=True)
        save(
            f"floors-{name}",
            {"seeds": arguments.seeds, "rows": print_rows(TABLES[name](arguments.seeds))},
        )


if __name__ == "__main__":
    main()
