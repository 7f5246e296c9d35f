"""Methods, data and sweeps that figures of several papers share."""

import math
from collections.abc import Mapping
from typing import Any

from dpmf_core.data.catalogue import Entry, catalogue
from dpmf_core.papers.figures import first_present
from dpmf_core.privacy import Calibration
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

# splits and noise that no default was chosen by; lists take all of them, so much do they vary from
# split to split
FRESH = tuple(range(10, 20))
EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
FEW = (1.0, 5.0, 20.0)


Grid = Mapping[str, tuple[Value, ...]]
MethodParameters = dict[str, Value]


def alike(*parts: tuple[tuple[Method, ...], Grid], **common: Any) -> tuple[Sweep, ...]:
    """Sweeps of methods, each part over its own grid, that share all other fields."""
    return tuple(
        Sweep(methods=methods, grid=dict(grid), **common) for methods, grid in parts
    )


def films(top: int | None = 400, **filters: float | int) -> DataSpec:
    """MovieLens 10M if available, otherwise MovieLens 1M or the simulated cinema."""
    name = first_present("ml-10m", "ml-1m", "cinema")
    return DataSpec.model_validate(
        {"id": name, "top_items": None if name == "cinema" else top, **filters}
    )


# ratings as they are, as in the sources
PLAIN: MethodParameters = {"biases": "off", "regularisation": 0.08}
ALS = Method(
    algorithm="als",
    label="ALS",
    parameters=PLAIN,
)
MEAN = Method(algorithm="global-mean", label="Global mean")
# on exactly low rank, where `LOWRANK` says how
EXACT = Method(algorithm="als", label="ALS")
DPALS = Method(algorithm="dpals", label="DPALS")
SPECTRAL = Method(algorithm="spectral", label="Spectral")
DPFW = Method(algorithm="dpfw", label="DPFW")
SVD = Method(algorithm="private-svd", label="Private SVD")
CLEANSING = Method(
    algorithm="svd-cleansing",
    label="SVD after cleansing",
    parameters={"row_clip": 0.5},
)
DPALS_SOURCE = Method(
    algorithm="dpals",
    label="DPALS, source's noise",
    calibration=Calibration.SOURCE,
    parameters={"biases": False, "gram_share": 0.5},  # as in Algorithm 1
)
SOURCE_DPFW = "DPFW as in the source"


def dpfw_as_printed(row_clip: float | None = None, label: str = SOURCE_DPFW) -> Method:
    """Algorithm 1 of Jain et al.: λ′ with its second term, and residuals are not clipped.

    One of the deviations of `dpfw` is left: the users also step along the last direction.

    Parameters
    ----------
    row_clip
        L in half-ranges of the scale times √m; None where a grid has it.
    label
        The label of the method.
    """
    parameters: MethodParameters = {
        "source_bound": "ratings",
        "slack": True,
        "user_step": "steps",
    }
    if row_clip is not None:
        parameters["row_clip"] = row_clip
    return Method(
        algorithm="dpfw",
        label=label,
        calibration=Calibration.SOURCE,
        parameters=parameters,
    )


def largest_row(data: DataSpec) -> float:
    """The row clip L that no row of the data can exceed, by public facts.

    A row has at most the number of ratings that a user may have. Each of these is at most half the
    scale from the user's mean.
    """
    every = {
        entry.id: entry.n_items
        for entry in catalogue().catalogue()
        if isinstance(entry, Entry)
    }
    items = data.top_items or every[data.id]
    return math.sqrt(min(data.most_per_user or items, items) / items)


# nuclear norms and numbers of steps, from which validation ratings choose: those that Jain et al.
# try are in no available copy of their text
FRANK_WOLFE_GRID: Grid = {"nuclear_norm": (0.3, 1.0), "steps": (5, 20)}


# L on the simulated low-rank sets: 38.3, the norm of the longest row of the largest
LOWRANK_ROW = 0.2425
# Rows of the synthetic set have neither offsets nor a mean, and no noise of their own: nothing is
# centred, and ridges must not shrink.
LOWRANK: dict[str, MethodParameters] = {
    "dpals": {
        "biases": False,
        "centring": "none",
        "rank": 5,
        "steps": 3,
        "ratings_per_user": 200,
        "frequent_fraction": 1.0,
        "regularisation": 0.003,
        "user_regularisation": 0.003,
        "prediction_ridge": 0.003,
        "noise_ridge": 1.2,
        "gram_share": 0.35,
        "rating_clip": 0.6,
    },
    "dpfw": {"nuclear_norm": 0.447, "row_clip": 0.08, "steps": 5},
    "private-svd": {"rank": 5, "prediction_ridge": 0.005},
    "private-pgd": {"nuclear_norm": 0.447, "steps": 4},
    "dp-sgd": {"biases": False, "rank": 5},
    "als": {"rank": 5, "biases": "off", "regularisation": 0.0001},
}


def on_lowrank(*methods: Method) -> tuple[Method, ...]:
    return tuple(
        method.model_copy(
            update={
                "parameters": {**LOWRANK.get(method.algorithm, {}), **method.parameters}
            }
        )
        for method in methods
    )
