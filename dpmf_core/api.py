"""From Python: `fit`, `sweep`, `load` and `account` with plain arguments."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy.typing as npt
import pandas as pd
from scipy.sparse import sparray, spmatrix

from dpmf_core import algorithms
from dpmf_core.data import AnyData, PartitionedRatings, frames
from dpmf_core.data.catalogue import catalogue, is_own, lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, is_sparse
from dpmf_core.errors import BadInput
from dpmf_core.evaluation.registry import find
from dpmf_core.privacy import accounts, default_delta
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs import data_access, execution, lookup, notebook_views
from dpmf_core.runs.filters import filtered_anywhere
from dpmf_core.runs.line_charts import Chart
from dpmf_core.runs.noisy_errors import release
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec, refuse_budget
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, Point, Sweep, rows, summaries

notebook_views.register()
ItemTable = Literal["none", "public"] | pd.DataFrame
Arrays = tuple[npt.ArrayLike, ...] | npt.NDArray[Any]


@runtime_checkable
class ArrowTable(Protocol):
    """A data frame of another library, such as polars or pyarrow, which it hands over as Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source = str | AnyData | pd.DataFrame | ArrowTable | Arrays | sparray | spmatrix
NO_DEFAULT_DELTA = (
    'The default of delta, 1/(10 n), says how many rows there are, which row_count="private"'
    " releases with noise: give delta, e.g. 1e-6."
)


def load(data: Source, *, bounds: Bounds | None = None, public: bool = False) -> AnyData:
    """The ratings, documents or images of a catalogue id (`python -m dpmf_core datasets`), at a
    path, or of what a program holds.

    A data frame (pandas, polars, pyarrow) holds a rating a row; its columns are found by their
    names (`frames.ratings_of` names them). Arrays are (users, items, ratings), perhaps with
    times, or one with these as columns. A sparse matrix holds ratings, users x items, where bounds
    are given, and else counts, documents x words.
    bounds: the lowest and highest rating that can be given; declared, as reading them off private
    data would tell something about it.
    public: published or simulated data. Others have an account (`account`), found by what they
    hold: the same ratings are the same data, whichever way they are brought. Raises BadInput.
    """
    if frames.is_table(data):
        if bounds is None and is_sparse(data):
            return frames.documents_of(data, public=public)
        return frames.ratings_of(data, bounds, public=public)
    if bounds is not None or public:
        raise BadInput(
            "bounds and public are for a data frame, arrays or a sparse matrix. Of a file declare"
            " the bounds after its path: 'ratings.csv?bounds=1,5'."
        )
    if isinstance(data, Ratings | Samples | PartitionedRatings):
        return data
    if not isinstance(data, str):
        raise BadInput(
            "Data are a catalogue id, a path, a data frame, arrays (users, items, ratings), a scipy"
            f" sparse matrix, Ratings or Samples. Got {type(data).__name__}."
        )
    return catalogue().load(data)


def fit(
    data: Source,
    algorithm: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    seed: int = 0,
    relation: Literal["add-remove", "replace-one"] = "add-remove",
    calibration: Literal["exact", "source"] = "exact",
    noise: Literal["continuous", "discrete"] = "continuous",
    top_items: int | None = None,
    item_features: ItemTable = "none",
    item_choice: Literal["exact", "private"] = "exact",
    row_count: Literal["given", "private"] = "given",
    split: Mapping[str, Any] | None = None,
    preparation: Mapping[str, Any] | None = None,
    keep: bool = True,
    ledger: str | Path | None = None,
    bounds: Bounds | None = None,
    curve_points: int = 12,
    spread: bool | str = False,
    **parameters: Any,
) -> Run:
    """One run. Raises BadInput on anything that does not fit.

    data, bounds: as of `load`. epsilon: total privacy loss; needed by private algorithms, and an
    error for others, as are delta, relation, calibration and noise.
    delta: 1/(10 n) when None.
    seed: of the split, starting values and, on data that are declared public, the noise; on others
    that comes from a secret key.
    noise: continuous (floating-point), or discrete: statistics rounded to a grid and an exact
    discrete Gaussian on it.
    top_items: keep the most rated items: by exact counts, which the guarantee then takes as public,
    or with item_choice="private" by noisy counts above a threshold, a release of the run;
    row_count="private" releases the number of users or samples too, and then delta must be given.
    item_features: "public" gives an algorithm that can use it the data set's public item table; for
    data in memory also a data frame, public, with a row for each item (`frames.with_item_table`).
    split: fields of SplitSpec, e.g. {"kind": "users"}.
    preparation: fields of Preparation for documents and images, e.g. {"weighting": "tf"}.
    keep: look into the store first and put the run there; data of your own are never stored.
    ledger: the file of the account that a run on private data enters. Where None, that of the data
    in the data folder (`dpmf_core.account`); data in memory that this process uses share one.
    curve_points: most points of the error by step, first and last included; judging takes most of
    the time of many runs.
    spread: for ratings in parts that have an id: workers read the parts and add them up; those of
    the scheduler of this address, or of DPMF_SCHEDULER where True, else processes of this machine.
    The model has the same bits.
    parameters: of the algorithm. The result holds `record` (metrics, epsilon by every rule, ledger,
    curves), `arrays` and `model`.
    """
    refuse_budget(
        [algorithm],
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        calibration=calibration,
        noise=noise,
    )
    dataset, own_data, fields = _source(data, bounds, [algorithm], item_features)
    budget = {
        "epsilon": epsilon,
        "delta": _delta(delta, dataset, epsilon is not None and row_count == "private"),
        "relation": relation,
        "calibration": calibration,
        "noise": noise,
    }
    spec = RunSpec.parse(
        data={
            **fields,
            "top_items": top_items,
            "item_choice": item_choice,
            "row_count": row_count,
            **(preparation or {}),
        },
        algorithm=algorithm,
        parameters=parameters,
        budget=None if epsilon is None else budget,
        split=dict(split or {}),
        seed=seed,
        curve_points=curve_points,
    )
    with _spread_over(data, algorithm, spread), _open_store(keep) as store:
        return _run(spec, own_data, ledger, store)


def _open_store(keep: bool) -> contextlib.AbstractContextManager[Store | None]:
    return contextlib.closing(Store()) if keep else contextlib.nullcontext()


def _spread_over(
    data: Source, algorithm: str, way: bool | str
) -> contextlib.AbstractContextManager[object]:
    """Where sums over ratings in parts are made, for as long as this is open."""
    if not way:
        return contextlib.nullcontext()
    if not isinstance(data, str):
        raise BadInput(
            "spread is for ratings in parts, which workers find by their id. Got data in memory:"
            " keep them in parts first, `python -m dpmf_core import NAME PATH --partitioned`."
        )
    from dpmf_core.jobs.part_workers import spread  # all of Dask's, which few runs need
    from dpmf_core.jobs.scheduler_security import Scheduler

    address = way if isinstance(way, str) else None
    return spread(data, algorithm, Scheduler.from_environment(address))


def _load_for(data: Source, bounds: Bounds | None, ids: Iterable[str]) -> AnyData:
    """As `load`. Raises BadInput where ratings are needed and no bounds are declared."""
    tables = frames.is_table(data) and bounds is None
    if tables and any(algorithms.find(name).task == "ratings" for name in ids):
        return frames.ratings_of(data, bounds)
    return load(data, bounds=bounds)


def _source(
    data: Source, bounds: Bounds | None, ids: Iterable[str], items: ItemTable
) -> tuple[AnyData, AnyData | None, dict[str, str]]:
    """The data for these algorithms, with a table of items that was given; again, where no id finds
    them; and what a specification calls them and says of their items.
    """
    dataset = _load_for(data, bounds, ids)
    if isinstance(items, pd.DataFrame):
        dataset = frames.with_item_table(data if isinstance(data, str) else dataset, items)
        items = "public"
    if isinstance(data, str):
        return dataset, None, {"id": data, "item_features": items}
    return dataset, dataset, {"id": dataset.name, "item_features": items}


def _delta(delta: float | None, data: AnyData, counted_with_noise: bool) -> float:
    """The delta given, or 1/(10 n). Raises BadInput where n is released with noise."""
    if delta is None and counted_with_noise:
        raise BadInput(NO_DEFAULT_DELTA)
    return default_delta(data.shape.n_units) if delta is None else delta


def account(
    data: Source, ledger: str | Path | None = None, *, bounds: Bounds | None = None
) -> Account:
    """The account of private data: `total`, `lines`, `set_budget`. ledger: the file that was
    named to `fit` or `sweep`. bounds: as of `load`. Raises BadInput on public data.

    The account of data in memory composes what this process drew on all data in memory.
    """
    dataset, in_hand = load(data, bounds=bounds), not isinstance(data, str)
    lasting = in_hand or not is_own(str(data))
    own_account = accounts.account_of(dataset, ledger, lasting, in_hand=in_hand)
    if own_account is None:
        raise BadInput(
            f"{dataset.name} is public or simulated: nothing that is drawn on it costs anybody"
            " privacy, and no account is kept."
        )
    return own_account


def _run(
    spec: RunSpec,
    own_data: AnyData | None,
    ledger: str | Path | None,
    store: Store | None,
) -> Run:
    """One run; of the catalogue's data, unless asked otherwise, from the store or into it."""
    if own_data is not None or store is None:
        return execution.run(spec, input_data=own_data, ledger=ledger)
    run = lookup.find_stored_run(spec, store)
    if run is None:
        run = execution.run(spec, ledger=ledger)
        store.put(run)
    return run


@dataclass(frozen=True)
class Swept:
    """What a sweep found: `runs` by point, errors that were released with noise, and both as
    tables.
    """

    points: Sequence[Point]
    runs: Mapping[str, Run]
    noisy: Mapping[str, float] = field(default_factory=dict)
    noisy_epsilon: float | None = None

    def __repr__(self) -> str:
        labels = ", ".join(dict.fromkeys(point.label for point in self.points))
        return f"<Swept: {len(self.runs):,} runs of {labels}>"

    def _repr_html_(self) -> str:
        return notebook_views.html_of_sweep(repr(self)[1:-1], self.frame())

    def plot(self, metric: str | None = None) -> Chart:
        """Medians of a figure against epsilon, as a notebook shows them: of the held-out error
        unless another is named. Raises BadInput where there is none, as of private data whose
        errors were not released.
        """
        grid_names = dict.fromkeys(name for point in self.points for name in point.grid)
        return notebook_views.chart_of_sweep(self.frame(), metric, tuple(grid_names))

    def frame(self) -> pd.DataFrame:
        """A row for every run."""
        return pd.DataFrame(rows(self.points, self.runs, self.noisy, self.noisy_epsilon))

    def summary(self, metric: str = "rmse") -> pd.DataFrame:
        """Median, lowest and highest draw for every method, epsilon and grid point.

        metric: its id. Raises BadInput where there is none of it.
        """
        find(metric)
        entries = summaries(self.points, self.runs, metric)
        return pd.DataFrame(
            [
                {
                    "method": it.label,
                    "epsilon": it.epsilon,
                    **it.grid,
                    "median": it.median,
                    "low": it.low,
                    "high": it.high,
                    "draws": len(it.draws),
                }
                for it in entries
            ]
        )


def sweep(
    data: Source,
    algorithms: Iterable[str | Method],
    *,
    epsilons: Sequence[float] = (),
    seeds: Iterable[int] = (0,),
    delta: float | None = None,
    relation: Literal["add-remove", "replace-one"] = "add-remove",
    calibration: Literal["exact", "source"] = "exact",
    noise: Literal["continuous", "discrete"] = "continuous",
    grid: Mapping[str, Sequence[Any]] | None = None,
    top_items: int | None = None,
    item_features: ItemTable = "none",
    item_choice: Literal["exact", "private"] = "exact",
    row_count: Literal["given", "private"] = "given",
    split: Mapping[str, Any] | None = None,
    ledger: str | Path | None = None,
    noisy_errors: float | None = None,
    bounds: Bounds | None = None,
    on_run: Callable[[Run], None] | None = None,
) -> Swept:
    """Algorithms x epsilons x seeds, and at every point of `grid` for those that have its
    parameters; in this process. What is stored is not made again.

    data, bounds, item_features, item_choice, row_count, ledger: as of `fit`.
    noisy_errors: on private ratings, release the held-out error of each run that is proved, at this
    epsilon, as the column `noisy_rmse`; each enters the account, at every call.
    on_run: is called with each run as it is there. Raises BadInput before the first run where any
    of them could not start.
    """
    methods = _methods(algorithms)
    _require_sweepable(data, methods, epsilons, noisy_errors)
    ids = [method.algorithm for method in methods]
    refuse_budget(
        ids,
        epsilons=tuple(epsilons) or None,
        delta=delta,
        relation=relation,
        calibration=calibration,
        noise=noise,
    )
    dataset, own_data, fields = _source(data, bounds, ids, item_features)
    sweep_spec = Sweep.parse(
        data={**fields, "top_items": top_items, "item_choice": item_choice, "row_count": row_count},
        methods=methods,
        epsilons=tuple(epsilons),
        seeds=tuple(seeds),
        delta=_delta(delta, dataset, bool(epsilons) and row_count == "private"),
        relation=relation,
        calibration=calibration,
        noise=noise,
        grid={name: tuple(values) for name, values in (grid or {}).items()},
        split=dict(split or {}),
    )
    # not what this machine has under the same name
    with contextlib.nullcontext() if own_data is None else lent(sweep_spec.data.id, own_data):
        points = sweep_spec.points_on(_open_data(sweep_spec.data, own_data).shape)
    runs = _run_all({point.key: point.spec for point in points}, own_data, ledger, on_run)
    noisy = {} if noisy_errors is None else release(runs, noisy_errors, ledger)
    return Swept(points, runs, noisy, noisy_errors)


def _methods(algorithms: Iterable[str | Method]) -> tuple[Method, ...]:
    return tuple(
        Method(algorithm=method, label=method) if isinstance(method, str) else method
        for method in algorithms
    )


def _require_sweepable(
    data: Source, methods: Iterable[Method], epsilons: Sequence[float], noisy_errors: float | None
) -> None:
    """Raises BadInput on private methods without epsilons and on errors that nothing releases."""
    if not epsilons and any(method.is_private for method in methods):
        raise BadInput(
            "These algorithms are private, so the sweep needs epsilons: sweep(..., epsilons=[1,"
            " 5])."
        )
    if noisy_errors is not None and not isinstance(data, str):
        raise BadInput(
            "Errors with noise are released of runs on a data set that has an id or a path. Got"
            " data in memory: write them to a file first."
        )


def _open_data(spec: DataSpec, own_data: AnyData | None) -> AnyData:
    """What a specification leaves of the catalogue's data, or of those given."""
    return (
        data_access.open_anywhere(spec) if own_data is None else filtered_anywhere(own_data, spec)
    )


def _run_all(
    distinct: Mapping[str, RunSpec],
    own_data: AnyData | None,
    ledger: str | Path | None,
    on_run: Callable[[Run], None] | None,
) -> dict[str, Run]:
    runs = {}
    with contextlib.closing(Store()) as store:
        for key, spec in distinct.items():
            runs[key] = _run(spec, own_data, ledger, store)
            if on_run is not None:
                on_run(runs[key])
    return runs
