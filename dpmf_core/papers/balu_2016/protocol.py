"""Runs for the figures of Balu & Furon 2016: methods, sizes and splits."""

import math
import statistics
from collections.abc import Sequence

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Results
from dpmf_core.papers.figures import first_present
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

B16 = "Balu & Furon 2016"
SKETCH, HASHING, REGULAR = "Count sketch, k = 4", "Feature hashing, k = 1", "Regular MF"
TOP_USERS = ", busiest users"  # ends the label of a divergence over these only
NO_THRESHOLD = 1e6
LEVEL = {"rmse": 5e-4, "kl": 2e-4}  # smaller differences are due to the draw
ORDER_OF_MAGNITUDE = math.sqrt(10)  # a ratio above it is nearer to 10 than to 1
# section 5.1.1: 80/10/10, rare users and items left out of validation and test
SPLIT = SplitSpec(test_fraction=0.1, validation_fraction=0.1, least_judged=10)
EACHMOVIE = "EachMovie (61,265 users, 1,623 films, 2,811,718 ratings from 1 to 6)"
MOVIELENS = "MovieLens 1M"


def movielens() -> DataSpec:
    """Return the source's data set, or the nearest available one."""
    return DataSpec(id=first_present("ml-1m", "cinema"))


def eachmovie(full: bool) -> DataSpec:
    """Return the stand-in for EachMovie."""
    return DataSpec(id=first_present("ml-1m", "cinema")) if full else movielens()


# ---- what is run ---------------------------------------------------------------------------------


def sketches(depths: Sequence[int], **fixed: Value) -> tuple[Method, ...]:
    """Return sketches of these depths, with the figures' labels."""
    labels = {1: HASHING, 4: SKETCH}
    return tuple(
        Method(algorithm="sketch", label=labels[depth], parameters={"depth": depth, **fixed})
        for depth in depths
    )


def regular(**fixed: Value) -> Method:
    """Return factorisation without a sketch, with the source's own update."""
    defaults: dict[str, Value] = {"model": "centred", "decay": 1.0, "learning_rate": 0.05}
    return Method(algorithm="sgd-mf", label=REGULAR, parameters={**defaults, **fixed})


def by_regularisation(full: bool) -> tuple[Sweep, ...]:
    """Return the runs of Fig. 1."""
    size: dict[str, Value] = {"rank": 32 if full else 8, "steps": 100 if full else 20}
    few = (0.3, 0.1, 0.04, 0.01, 0.0)
    values = (10.0, 3.0, 1.0, 0.3, 0.1, 0.06, 0.03, 0.01, 0.003, 0.0) if full else few
    return (
        Sweep(
            data=eachmovie(full),
            methods=(*sketches((4, 1), threshold=NO_THRESHOLD, **size), regular(**size)),
            grid={"regularisation": values},
            split=SPLIT,
        ),
    )


def best_regularisation(full: bool) -> tuple[Sweep, ...]:
    """Return the runs of Fig. 2."""
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((8, 16), (1.0, 4.0))
    steps = 40 if full else 15
    return (
        Sweep(
            data=movielens(),
            methods=sketches((4,), threshold=NO_THRESHOLD, steps=steps),
            grid={
                "regularisation": (0.001, 0.003, 0.01, 0.03, 0.1)
                if full
                else (0.003, 0.01, 0.03, 0.1),
                "rank": ranks,
                "space_gain": gains,
            },
            split=SPLIT,
        ),
    )


def by_threshold(full: bool) -> tuple[Sweep, ...]:
    """Return the runs of Figs. 3 and 4."""
    size: dict[str, Value] = {
        "rank": 32 if full else 8,
        "steps": 100 if full else 10,
        "regularisation": 0.06 if full else 0.04,
    }
    return (
        Sweep(
            data=movielens(),
            methods=sketches((4, 1), **size),
            grid={
                "threshold": (2.0, 4.0, 8.0, NO_THRESHOLD),
                "space_gain": (1.0, 2.0, 4.0) if full else (1.0, 4.0),
            },
            split=SPLIT,
        ),
        Sweep(data=movielens(), methods=(regular(**size),), split=SPLIT),
    )


def by_dimension(full: bool) -> tuple[Sweep, ...]:
    """Return the dimensions of Fig. 4, without a threshold."""
    methods = sketches((4,), threshold=NO_THRESHOLD, steps=100 if full else 10)
    return (Sweep(data=movielens(), methods=methods, grid={"rank": (8, 16, 32)}, split=SPLIT),)


def sketch_table(full: bool) -> tuple[Sweep, ...]:
    """Return the source's sizes and thresholds on MovieLens 1M."""
    ranks, gains = ((8, 16, 32), (1.0, 2.0, 4.0)) if full else ((8,), (1.0, 4.0))
    thresholds = (2.0, 4.0, 8.0, NO_THRESHOLD) if full else (2.0, NO_THRESHOLD)
    steps = 40 if full else 10
    grid: dict[str, tuple[Value, ...]] = {
        "rank": ranks,
        "space_gain": gains,
        "threshold": thresholds,
    }
    return (
        Sweep(data=movielens(), methods=sketches((4, 1), steps=steps), grid=grid),
        Sweep(data=movielens(), methods=(regular(steps=steps),), grid={"rank": ranks}),
    )


def sizes_ranked(results: Results) -> str:
    """Return each dimension's error of regular factorisation and range of both sketches'."""
    ranks = sorted({int(it.grid["rank"]) for it in results})
    return " ".join(_at_rank(results, rank) for rank in ranks)


def _at_rank(results: Results, rank: int) -> str:
    at = [it for it in results if it.grid["rank"] == rank]
    regular = statistics.fmean(it.median for it in at if it.label == REGULAR)
    errors = {label: [it.median for it in at if it.label == label] for label in (SKETCH, HASHING)}
    ranges = "; ".join(
        f"{name} {min(them):.4f} to {max(them):.4f}" for name, them in errors.items()
    )
    return f"d = {rank}: regular factorisation {regular:.4f}; {ranges}."
