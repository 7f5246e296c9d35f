"""Runs for the figures of Balu & Furon 2016, and its method with the published settings."""

import math
from collections.abc import Sequence

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import Preset, first_present, tuned
from dpmf_core.papers.methods import alike
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

SKETCH, HASHING, REGULAR = "Count sketch, k = 4", "Feature hashing, k = 1", "Regular MF"
TOP_USERS = ", busiest users"  # ends the label of a divergence over these only
NO_THRESHOLD = 1e6
THRESHOLDS = (2.0, 4.0, 8.0, NO_THRESHOLD)
GAINS = (1.0, 2.0, 4.0)
LEVEL = {"rmse": 5e-4, "kl": 2e-4}  # smaller differences are due to the draw
ORDER_OF_MAGNITUDE = math.sqrt(10)  # a ratio above it is nearer to 10 than to 1
# section 5.1.1: 80/10/10, rare users and items left out of validation and test
SPLIT = SplitSpec(test_fraction=0.1, validation_fraction=0.1, least_judged=10)


def movielens() -> DataSpec:
    """Return MovieLens 1M, which also stands for EachMovie, or the nearest available set."""
    return DataSpec(id=first_present("ml-1m", "cinema"))


# ---- what is run ---------------------------------------------------------------------------------


def sketches(depths: Sequence[int], **fixed: Value) -> tuple[Method, ...]:
    """Return sketches of these depths, with the figures' labels."""
    labels = {1: HASHING, 4: SKETCH}
    return tuple(
        Method(
            algorithm="sketch",
            label=labels[depth],
            parameters={"depth": depth, "as_printed": True, **fixed},
        )
        for depth in depths
    )


def regular(**fixed: Value) -> Method:
    """Return factorisation without a sketch, by equations 2 and 3."""
    defaults: dict[str, Value] = {
        "model": "centred",
        "decay": 1.0,
        "learning_rate": 0.05,
        "as_printed": True,
    }
    return Method(algorithm="sgd-mf", label=REGULAR, parameters={**defaults, **fixed})


def _sweep(methods: tuple[Method, ...], **grid: tuple[Value, ...]) -> Sweep:
    return Sweep(data=movielens(), methods=methods, grid=grid, split=SPLIT)


def by_regularisation(full: bool) -> tuple[Sweep]:
    """Return the runs of Fig. 1."""
    size: dict[str, Value] = {"rank": 32 if full else 8, "steps": 100 if full else 20}
    few = (0.3, 0.1, 0.04, 0.01, 0.0)
    values = (10.0, 3.0, 1.0, 0.3, 0.1, 0.06, 0.03, 0.01, 0.003, 0.0) if full else few
    methods = (*sketches((4, 1), threshold=NO_THRESHOLD, **size), regular(**size))
    return (_sweep(methods, regularisation=values),)


def best_regularisation(full: bool) -> tuple[Sweep]:
    """Return the runs of Fig. 2."""
    ranks, gains, steps = ((8, 16, 32), GAINS, 100) if full else ((8, 16), (1.0, 4.0), 15)
    values = (0.001, 0.003, 0.01, 0.03, 0.1) if full else (0.003, 0.01, 0.03, 0.1)
    methods = sketches((4,), threshold=NO_THRESHOLD, steps=steps)
    return (_sweep(methods, regularisation=values, rank=ranks, space_gain=gains),)


def by_threshold(full: bool) -> tuple[Sweep, ...]:
    """Return the runs of Figs. 3 and 4."""
    rank, steps, regularisation = (32, 100, 0.06) if full else (8, 10, 0.04)
    size: dict[str, Value] = {"rank": rank, "steps": steps, "regularisation": regularisation}
    gains = GAINS if full else (1.0, 4.0)
    return alike(
        (sketches((4, 1), **size), {"threshold": THRESHOLDS, "space_gain": gains}),
        ((regular(**size),), {}),
        data=movielens(),
        split=SPLIT,
    )


def by_dimension(full: bool) -> tuple[Sweep]:
    """Return the dimensions of Fig. 4, without a threshold."""
    methods = sketches((4,), threshold=NO_THRESHOLD, steps=100 if full else 10)
    return (_sweep(methods, rank=(8, 16, 32)),)


def sketch_table(full: bool) -> tuple[Sweep, ...]:
    """Return the source's sizes and thresholds on MovieLens 1M."""
    ranks, gains, steps = ((8, 16, 32), GAINS, 40) if full else ((8,), (1.0, 4.0), 10)
    thresholds = THRESHOLDS if full else (2.0, NO_THRESHOLD)
    grid = {"rank": ranks, "space_gain": gains, "threshold": thresholds}
    return alike(
        (sketches((4, 1), steps=steps, as_printed=False), grid),
        ((regular(steps=steps, as_printed=False),), {"rank": ranks}),
        data=movielens(),
    )


# ---- the method as published ---------------------------------------------------------------------


def _sweeps(full: bool) -> tuple[Sweep]:
    methods = sketches(
        (4,), threshold=NO_THRESHOLD, rank=32 if full else 8, steps=100, space_gain=1.0
    )
    data = movielens() if full else DataSpec(id=first_present("ml-100k", "cinema-small"))
    grid = {"learning_rate": (0.02, 0.05), "regularisation": (0.01, 0.03, 0.1)}
    return (Sweep(data=data, methods=methods, grid=grid, split=SPLIT, seeds=(0, 1)),)


PRESETS = (Preset.of(__package__, "balu-preset", sweeps=_sweeps, measure=tuned),)
