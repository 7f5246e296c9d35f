"""What deviations from Balu & Furon 2016 and Vallet et al. 2014 cost in error.

`python -m benchmarks.deviations_ratings` trains each algorithm as printed and with one deviation,
on the same ratings with the same draws, and records both errors
(`dpmf_core/papers/deviations.json`).
"""

from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.deviation_costs import record_costs
from dpmf_core.algorithms import Streams, build, no_retention, train
from dpmf_core.algorithms.parameters import UNCLIPPED
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.evaluation.metrics import rmse
from dpmf_core.papers.balu_2016 import protocol as balu
from dpmf_core.papers.deviations import Cost
from dpmf_core.papers.vallet_2014 import protocol as vallet
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.runs.specification import Value

Parameters = dict[str, Value]
DRAWS = 3
FILMS = "ml-100k"
WIDE_FILMS = "cinema-small"  # its range is .5 to 5
TITLES = {FILMS: "MovieLens 100K", WIDE_FILMS: "Cinema, 2,000 people"}


SKETCH: Parameters = {
    "rank": 8,
    "depth": 4,
    "steps": 100,
    "threshold": balu.NO_THRESHOLD,
    "regularisation": 0.03,
}
REGULAR: Parameters = {
    "model": "centred",
    "rank": 8,
    "steps": 100,
    "decay": 1.0,
    "learning_rate": 0.05,
    "regularisation": 0.03,
}
RATED: Parameters = {
    **vallet.method("Rated", static_share=vallet.STATIC_SHARE).parameters
}
ONLINE: Parameters = {
    **vallet.method("Online", static_share=vallet.STATIC_SHARE).parameters
}


def held_out(
    data: str,
    split_spec: SplitSpec,
    algorithm: str,
    parameters: Parameters,
    clipped: bool,
) -> list[float]:
    """Held-out RMSE of each draw."""
    ratings = catalogue().load(data)
    assert isinstance(ratings, Ratings)
    errors = []
    for seed in range(DRAWS):
        parts = split(ratings, split_spec, seed)
        method = build(algorithm, parameters, parts.train.shape, None)
        model: Any = train(
            method,
            parts.train,
            Noise(NOTHING),
            Streams(np.random.default_rng(seed), seed),
        )
        predictions = model.predict(
            model.personal(parts.history), parts.test.users, parts.test.items
        )
        if clipped:
            bounds = ratings.bounds
        else:
            bounds = UNCLIPPED
        errors.append(rmse(predictions.clip(*bounds), parts.test.values))
    return errors


def _cost(data: str, printed: list[float], ours: list[float]) -> Cost:
    means = (round(float(np.mean(errors)), 5) for errors in (printed, ours))
    return Cost(on=TITLES[data], printed=next(means), ours=next(means), draws=DRAWS)


def clipping(algorithm: str, parameters: Parameters, split_spec: SplitSpec) -> Cost:
    plain = held_out(
        FILMS, split_spec, algorithm, {**parameters, "as_printed": True}, False
    )
    clipped = held_out(
        FILMS, split_spec, algorithm, {**parameters, "as_printed": True}, True
    )
    return _cost(FILMS, plain, clipped)


def other_steps(
    data: str, algorithm: str, parameters: Parameters, split_spec: SplitSpec
) -> Cost:
    """Compare whole steps with shortened ones, in our units; both clipped.

    Where the range is 1 to 5 the units are the same; where no step is shortened, only they differ.
    """
    whole = held_out(
        data, split_spec, algorithm, {**parameters, "as_printed": True}, True
    )
    shortened = held_out(
        data, split_spec, algorithm, {**parameters, "as_printed": False}, True
    )
    return _cost(data, whole, shortened)


def batches() -> Cost:
    """Compare ten batches of arrivals with a thousand."""
    errors = []
    for count in (1000, no_retention.LOOKS):
        with patch.object(no_retention, "LOOKS", count):
            errors.append(
                held_out(FILMS, SplitSpec(), "no-retention", ONLINE, clipped=False)
            )
    return _cost(FILMS, *errors)


# ---- all -----------------------------------------------------------------------------------------

MEASURES: Mapping[str, Mapping[str, Callable[[], Cost]]] = {
    "sketch": {
        "step-length": lambda: other_steps(FILMS, "sketch", SKETCH, balu.SPLIT),
        "units": lambda: other_steps(WIDE_FILMS, "sketch", SKETCH, balu.SPLIT),
        "clipping": lambda: clipping("sketch", SKETCH, balu.SPLIT),
    },
    "sgd-mf": {
        "step-length": lambda: other_steps(FILMS, "sgd-mf", REGULAR, balu.SPLIT),
        "units": lambda: other_steps(WIDE_FILMS, "sgd-mf", REGULAR, balu.SPLIT),
        "clipping": lambda: clipping("sgd-mf", REGULAR, balu.SPLIT),
    },
    "no-retention": {
        "step-length": lambda: other_steps(FILMS, "no-retention", RATED, SplitSpec()),
        "clipping": lambda: clipping("no-retention", RATED, SplitSpec()),
        "batches": batches,
    },
}

if __name__ == "__main__":
    record_costs(MEASURES)
