"""Runs for the figures of Balu & Furon 2016, and its method with the published settings."""

from collections.abc import Sequence

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.figures import Preset, first_present, tuned
from dpmf_core.papers.shared_methods import MethodParameters, alike
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

SKETCH = "Count sketch, k = 4"
HASHING = "Feature hashing, k = 1"
REGULAR = "Regular MF"
TOP_USERS = ", busiest users"  # ends the label of a divergence over these only
NO_THRESHOLD = 1e6
THRESHOLDS = (2.0, 4.0, 8.0, NO_THRESHOLD)
GAINS = (1.0, 2.0, 4.0)
RANKS = (8, 16, 32)
PASSES = 100  # over the ratings
# section 5.1.1: 80/10/10, rare users and items left out of validation and test
SPLIT = SplitSpec(
    test_fraction=0.1,
    validation_fraction=0.1,
    least_judged=10,
)


def movielens() -> DataSpec:
    """MovieLens 1M, which also stands for EachMovie, or the nearest available set."""
    return DataSpec(id=first_present("ml-1m", "cinema"))


# ---- what is run ---------------------------------------------------------------------------------


def sketches(depths: Sequence[int], fixed: MethodParameters) -> tuple[Method, ...]:
    """Sketches of these depths, with the figures' labels."""
    labels = {1: HASHING, 4: SKETCH}
    return tuple(
        Method(
            algorithm="sketch",
            label=labels[depth],
            parameters={"depth": depth, "as_printed": True, **fixed},
        )
        for depth in depths
    )


def regular(fixed: MethodParameters) -> Method:
    """Factorisation without a sketch, by equations 2 and 3."""
    defaults: MethodParameters = {
        "model": "centred",
        "decay": 1.0,
        "learning_rate": 0.05,
        "as_printed": True,
    }
    return Method(
        algorithm="sgd-mf",
        label=REGULAR,
        parameters={**defaults, **fixed},
    )


def _sweep(methods: tuple[Method, ...], **grid: tuple[Value, ...]) -> Sweep:
    return Sweep(
        data=movielens(),
        methods=methods,
        grid=grid,
        split=SPLIT,
    )


def by_regularisation() -> tuple[Sweep]:
    """The runs of Fig. 1."""
    size: MethodParameters = {"rank": 8, "steps": 20}
    methods = (*sketches((4, 1), {"threshold": NO_THRESHOLD, **size}), regular(size))
    return (_sweep(methods, regularisation=(0.3, 0.1, 0.04, 0.01, 0.0)),)


def best_regularisation() -> tuple[Sweep]:
    """The runs of Fig. 2."""
    # 100 passes with d up to 32 take the better part of an hour on two cores
    methods = sketches((4,), {"threshold": NO_THRESHOLD, "steps": 15})
    values = (0.003, 0.01, 0.03, 0.1)
    return (
        _sweep(
            methods,
            regularisation=values,
            rank=(8, 16),
            space_gain=(1.0, 4.0),
        ),
    )


def by_threshold() -> tuple[Sweep, ...]:
    """The runs of Figs. 3 and 4."""
    size: MethodParameters = {"rank": 32, "steps": PASSES, "regularisation": 0.06}
    return alike(
        (sketches((4, 1), size), {"threshold": THRESHOLDS, "space_gain": GAINS}),
        ((regular(size),), {}),
        data=movielens(),
        split=SPLIT,
    )


def by_dimension() -> tuple[Sweep]:
    """The dimensions of Fig. 4, without a threshold."""
    methods = sketches((4,), {"threshold": NO_THRESHOLD, "steps": PASSES})
    return (_sweep(methods, rank=RANKS),)


def sketch_table() -> tuple[Sweep, ...]:
    """The source's sizes and thresholds on MovieLens 1M."""
    fixed: MethodParameters = {"steps": 40, "as_printed": False}
    grid = {"rank": RANKS, "space_gain": GAINS, "threshold": THRESHOLDS}
    return alike(
        (sketches((4, 1), fixed), grid),
        ((regular(fixed),), {"rank": RANKS}),
        data=movielens(),
    )


# ---- the method as published ---------------------------------------------------------------------


def _sweeps() -> tuple[Sweep]:
    methods = sketches(
        (4,),
        {
            "threshold": NO_THRESHOLD,
            "rank": 32,
            "steps": PASSES,
            "space_gain": 1.0,
        },
    )
    grid = {"learning_rate": (0.02, 0.05), "regularisation": (0.01, 0.03, 0.1)}
    return (
        Sweep(
            data=movielens(),
            methods=methods,
            grid=grid,
            split=SPLIT,
            seeds=(0, 1),
        ),
    )


PRESETS = (Preset.of(__package__, "balu-preset", sweeps=_sweeps, measure=tuned),)
