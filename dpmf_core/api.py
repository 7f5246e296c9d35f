"""From Python: `fit`, `sweep`, `load` and `account` with plain arguments."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from dpmf_core import accounts, experiment
from dpmf_core.accounts import Account
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, RunSpec
from dpmf_core.noisy_errors import release
from dpmf_core.privacy import default_delta
from dpmf_core.samples import Samples
from dpmf_core.store import Store
from dpmf_core.sweeps import Method, Point, Sweep, rows, summaries

Source = str | Ratings | Samples
NO_DEFAULT_DELTA = 'The default of delta, 1/(10 n), says how many rows there are, which row_count="private" releases with noise: give delta, e.g. 1e-6.'


def load(data: str) -> Ratings | Samples:
    """The ratings, documents or images of a catalogue id (`python -m dpmf_core datasets`) or at a path. Raises BadInput."""
    found: Ratings | Samples = experiment.catalogue().load(data)
    return found


def fit(
    data: Source, algorithm: str, *, epsilon: float | None = None, delta: float | None = None, seed: int = 0,
    relation: Literal["add-remove", "replace-one"] = "add-remove", calibration: Literal["exact", "source"] = "exact",
    noise: Literal["continuous", "discrete"] = "continuous",
    top_items: int | None = None, item_choice: Literal["exact", "private"] = "exact", row_count: Literal["given", "private"] = "given",
    split: Mapping[str, Any] | None = None, preparation: Mapping[str, Any] | None = None, keep: bool = True,
    ledger: str | Path | None = None, **parameters: Any,
) -> Run:  # fmt: skip
    """One run. Raises BadInput on anything that does not fit.

    data: a catalogue id, a table's path, or Ratings. epsilon: total privacy loss; needed by private algorithms. delta: 1/(10 n) when None.
    seed: of the split, starting values and, on data that are declared public, the noise; on others that comes from a secret key.
    noise: continuous (floating-point), or discrete: statistics rounded to a grid and an exact discrete Gaussian on it.
    top_items: keep the most rated items: by exact counts, which the guarantee then takes as public, or with item_choice="private" by noisy counts above a
    threshold, a release of the run; row_count="private" releases the number of users or samples too, and then delta must be given.
    split: fields of SplitSpec, e.g. {"kind": "users"}.
    preparation: fields of Preparation for documents and images, e.g. {"weighting": "tf"}.
    keep: look into the store first and put the run there; data of your own are never stored.
    ledger: the file of the account that a run on private data enters; the data's own in the data folder where None (`dpmf_core.account`).
    parameters: of the algorithm. The result holds `record` (metrics, epsilon by every rule, ledger, curves), `arrays` and `model`.
    """
    held = load(data) if isinstance(data, str) else data
    budget = None
    if epsilon is not None and delta is None and row_count == "private":
        raise BadInput(NO_DEFAULT_DELTA)
    if epsilon is not None:
        budget = {
            "epsilon": epsilon,
            "delta": default_delta(held.shape.n_units) if delta is None else delta,
            "relation": relation,
            "calibration": calibration,
            "noise": noise,
        }
    spec = RunSpec.parse(
        data={
            "id": data if isinstance(data, str) else data.name, "top_items": top_items, "item_choice": item_choice, "row_count": row_count,
            **(preparation or {}),
        },
        algorithm=algorithm, parameters=parameters, budget=budget,
        split=dict(split or {}), seed=seed,
    )  # fmt: skip
    if not isinstance(data, str):
        return experiment.run(spec, given=data, ledger=ledger)
    return _kept(spec, ledger) if keep else experiment.run(spec, ledger=ledger)


def account(data: Source, ledger: str | Path | None = None) -> Account:
    """The account of private data: `total`, `lines`, `set_budget`. ledger: the file that was named to `fit` or `sweep`. Raises BadInput on public data."""
    held = load(data) if isinstance(data, str) else data
    found = accounts.account_of(held, ledger, lasting=not (isinstance(data, str) and experiment.is_own(data)))
    if found is None:
        raise BadInput(f"{held.name} is public or simulated: nothing that is drawn on it costs anybody privacy, and no account is kept.")
    return found


def _kept(spec: RunSpec, ledger: str | Path | None) -> Run:
    store = Store()
    stored = store.get(experiment.run_key(spec, experiment.open_data(spec.data)))
    if stored is not None:
        return stored
    made = experiment.run(spec, ledger=ledger)
    store.put(made)
    return made


@dataclass(frozen=True)
class Swept:
    """What a sweep found: `runs` by point, errors that were released with noise, and both as tables."""

    points: Sequence[Point]
    runs: Mapping[str, Run]
    noisy: Mapping[str, float] = field(default_factory=dict)
    noisy_epsilon: float | None = None

    def frame(self) -> pd.DataFrame:
        """A row for every run."""
        return pd.DataFrame(rows(self.points, self.runs, self.noisy, self.noisy_epsilon))

    def summary(self, metric: str = "rmse") -> pd.DataFrame:
        """Median, lowest and highest draw for every method, epsilon and grid point."""
        found = summaries(self.points, self.runs, metric)
        return pd.DataFrame(
            [
                {"method": it.label, "epsilon": it.epsilon, **it.grid, "median": it.median, "low": it.low, "high": it.high, "draws": len(it.draws)}
                for it in found
            ]
        )


def sweep(
    data: Source, algorithms: Iterable[str | Method], *, epsilons: Sequence[float] = (), seeds: Iterable[int] = (0,), delta: float | None = None,
    relation: Literal["add-remove", "replace-one"] = "add-remove", calibration: Literal["exact", "source"] = "exact",
    noise: Literal["continuous", "discrete"] = "continuous",
    grid: Mapping[str, Sequence[Any]] | None = None, top_items: int | None = None, item_choice: Literal["exact", "private"] = "exact",
    row_count: Literal["given", "private"] = "given", split: Mapping[str, Any] | None = None, ledger: str | Path | None = None,
    noisy_errors: float | None = None,
) -> Swept:  # fmt: skip
    """Algorithms x epsilons x seeds, and at every point of `grid` for those that have its parameters; in this process. What is stored is not made again.

    item_choice, row_count, ledger: as of `fit`. noisy_errors: on private ratings, release the held-out error of each run that is proved, at this epsilon,
    as the column `noisy_rmse`; each enters the account, at every call. Raises BadInput before the first run where any of them could not start.
    """
    held = load(data) if isinstance(data, str) else data
    asked = Sweep(
        data={"id": data if isinstance(data, str) else data.name, "top_items": top_items, "item_choice": item_choice, "row_count": row_count},
        methods=tuple(Method(algorithm=method, label=method) if isinstance(method, str) else method for method in algorithms),
        epsilons=tuple(epsilons), seeds=tuple(seeds), delta=default_delta(held.shape.n_units) if delta is None else delta, relation=relation,
        calibration=calibration, noise=noise, grid={name: tuple(values) for name, values in (grid or {}).items()}, split=dict(split or {}),
    )  # fmt: skip
    points = asked.points()
    if epsilons and delta is None and row_count == "private":
        raise BadInput(NO_DEFAULT_DELTA)
    if any(point.epsilon is None and point.spec.budget is None and _is_private(point) for point in points):
        raise BadInput("These algorithms are private, so the sweep needs epsilons: sweep(..., epsilons=[1, 5]).")
    distinct = {point.key: point.spec for point in points}
    if noisy_errors is not None and not isinstance(data, str):
        raise BadInput("Errors with noise are released of runs on a data set that has an id or a path. Got data in memory: write them to a file first.")
    runs = _made(distinct, data, ledger)
    return Swept(points, runs, release(runs, noisy_errors, ledger) if noisy_errors is not None else {}, noisy_errors)


def _made(distinct: Mapping[str, RunSpec], data: Source, ledger: str | Path | None) -> dict[str, Run]:
    if isinstance(data, str):
        return {key: _kept(spec, ledger) for key, spec in distinct.items()}
    return {key: experiment.run(spec, given=data, ledger=ledger) for key, spec in distinct.items()}


def _is_private(point: Point) -> bool:
    return Method(algorithm=point.spec.algorithm).is_private
