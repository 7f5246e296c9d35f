"""Item offsets with a curator, and from noisy messages of every user, on the same splits.

`python -m benchmarks.local_noise` writes `results/local-noise.csv`, one run a row. Both methods
replace one user, at delta 1e-5.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

import dpmf_datasets as datasets
from benchmarks.report import RESULTS
from dpmf import sweep
from dpmf_core.runs.along_epsilon import needed_epsilon
from dpmf_core.runs.measurements import Measured

FILE = RESULTS / "local-noise.csv"
DATA = ("cinema-small", "ml-1m", "cinema")
EPSILONS: Mapping[str, tuple[float, ...]] = {
    "private-bias": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    "local-bias": (1.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0),
}
COLUMNS = ["data", "users", "items", "algorithm", "epsilon", "seed", "rmse"]


def measurements(name: str) -> pd.DataFrame:
    """Every run on one data set."""
    data = datasets.load(name)
    swept = [sweep(name, ["user-mean"], seeds=range(5))]
    facts = {"seeds": range(5), "delta": 1e-5, "relation": "replace-one"}
    swept += [
        sweep(name, [data_set], epsilons=at, **facts)
        for data_set, at in EPSILONS.items()
    ]
    frame = pd.concat([results.frame() for results in swept])
    sizes = {"data": name, "users": data.n_users, "items": data.n_items}
    return frame.assign(**sizes, epsilon=frame["epsilon"].fillna(0.0))[COLUMNS]


def equal_errors(frame: pd.DataFrame) -> Iterator[list[object]]:
    """Epsilons at which messages are as accurate as a curator.

    Yields data, users, the curator's epsilon and median error; the epsilon at which messages reach
    that error, log-linear between measured points (None: beyond 1000); and the median error of
    messages at epsilon 1 and of each user's own mean.
    """
    by = frame.groupby(["data", "users", "algorithm", "epsilon"], sort=False)[
        "rmse"
    ].median()
    for name, users in (
        frame[["data", "users"]].drop_duplicates().itertuples(index=False)
    ):
        here = by[name, users]
        for epsilon in (0.5, 1.0, 2.0):
            error = here["private-bias", epsilon]
            own = here["local-bias"].items()
            line = [Measured("", "local-bias", at, {}, (-value,)) for at, value in own]
            crossing = needed_epsilon(line, -error, digits=12)
            if crossing is None:
                reached = None
            else:
                reached = crossing.epsilon
            of_others = here["local-bias", 1.0], here["user-mean", 0.0]
            yield [name, users, epsilon, error, reached, *of_others]


if __name__ == "__main__":
    present = [name for name in DATA if datasets.present(name)]
    measured = pd.concat([measurements(name) for name in present])
    recorded = pd.read_csv(FILE)
    others = recorded[~recorded["data"].isin(present)]
    pd.concat([others, measured]).to_csv(FILE, index=False, float_format="%.6f")
