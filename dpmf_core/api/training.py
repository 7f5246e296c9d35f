"""Training from Python: `fit` and `sweep` with plain arguments."""

import contextlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from dpmf_core.api.loading import Source, data_of, facts_apart
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import lent
from dpmf_core.data.facts import FACTS
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import NoiseKind
from dpmf_core.runs import data_access, execution, notebook_views
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.filters import filtered
from dpmf_core.runs.measured_fall import check_epsilon, require_affordable, with_measurement
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.noisy_errors import Score, release
from dpmf_core.runs.notebook_views import plot as plot
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import PARAMETERS, RunSpec, with_delta
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import enter_stored
from dpmf_core.runs.sweep import Method, Sweep, rows
from dpmf_core.runs.trained_model import TrainedModel as TrainedModel
from dpmf_core.runs.trained_model import Training
from dpmf_core.runs.trained_model import load_model as load_model

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

notebook_views.register()
Algorithms = str | Method | Iterable[str | Method] | Mapping[str, Mapping[str, Any]]
Function = TypeVar("Function", bound=Callable[..., Any])


def _with_parameters(*left_out: str) -> Callable[[Function], Function]:
    """Show the facts of data and the parameters of a run in the signature, with their types."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        for name, fact in FACTS.items():
            if name not in signature.parameters:
                kind = inspect.Parameter.KEYWORD_ONLY
                own.append(inspect.Parameter(name, kind, default=None, annotation=fact.kind))
        for name, (_, _, info) in PARAMETERS.items():
            if name not in signature.parameters and name not in ("dataset", *left_out):
                default = None if info.is_required() else info.default
                kind, annotation = inspect.Parameter.KEYWORD_ONLY, info.annotation
                own.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        function.__signature__ = signature.replace(parameters=[*own, rest])  # type: ignore[attr-defined]
        return function

    return decorate


@_with_parameters()
def fit(
    data: Source,
    algorithm: str,
    *,
    bounds: Bounds | None = None,
    columns: Mapping[str, str] | None = None,
    keep: bool = True,
    ledger: str | Path | None = None,
    spread: bool | str = False,
    measure: float | None = None,
    **choices: Any,
) -> TrainedModel:
    """Train one model and evaluate it.

    The first call on a machine compiles kernels, which takes some seconds; they are cached.

    Parameters
    ----------
    data, bounds, columns
        See `dpmf.load`. Its other facts are keywords too: `outside`, `missing`, `users` and so on.
    algorithm
        An id of `python -m dpmf algorithms`.
    keep
        Whether to look for the run in the store first, and to store it. Runs on data in memory are
        never stored.
    ledger
        The file of the account that a run on private data enters. By default that of the data in
        the data folder (`dpmf.account`); data in memory in this process share one. A stored run
        enters it too, unless it is there already.
    spread
        For ratings in partitions that have an id: workers read the partitions and add them up. True
        starts processes on this machine; an address names a Dask scheduler. The model has the same
        bits.
    measure
        Then measure what the model brought: how far the held-out error, root mean square over
        people, falls below that of what needs no model of others (`record.fall`). On private data
        it is released with noise of this epsilon, a release of its own that enters the account. On
        public data it is exact.
    choices
        Every other parameter of a run, by the names of `dpmf_core.runs.specification.PARAMETERS`,
        which the command line shares: `epsilon` (needed by private algorithms), `delta` (default
        1/(10 n)), `relation`, `calibration`, `noise` ("none" for a private algorithm without noise,
        which has no privacy and takes no epsilon), `seed`, `curve_points`, `top_items`,
        `item_choice`, `split` (None trains on everything), `test_fraction` and so on. All other
        names are parameters of the algorithm. `item_features` may also be a public data frame with
        one row per item (`frames.with_item_table`).

    Returns
    -------
    TrainedModel
        It predicts and recommends, by the ids of a data frame, and `save` writes it. `record` has
        metrics, epsilon by every rule, ledger and curves.

    Raises
    ------
    BadInput
        If the data or an argument cannot be used, or a budget does not allow the run.

    Examples
    --------
    >>> import dpmf
    >>> model = dpmf.fit("cinema-small", "spectral", epsilon=1.0, top_items=50, keep=False)
    >>> str(model.guarantee.status), round(model.epsilon, 6)
    ('CONDITIONAL', 1.0)
    >>> model.recommend(users=[17], k=3)["rank"].tolist()
    [1, 2, 3]
    """
    if measure is not None:
        check_epsilon(measure)
    facts, choices = facts_apart({"bounds": bounds, "columns": columns, **choices})
    dataset, own_data, choices = data_of(data, facts, [algorithm], choices)
    choices = with_delta(choices, [algorithm], dataset.shape.n_units)
    spec = RunSpec.of(**choices, algorithm=algorithm)
    stored = contextlib.closing(Store()) if keep else contextlib.nullcontext()
    with _spread_over(data, algorithm, spread), stored as store:
        if measure is None:
            run = one_run(spec, own_data, ledger, store)
        else:
            run = measured_run(spec, own_data, ledger, store, measure)
        return TrainedModel.of(run, _training(own_data))


def _training(own_data: AnyData | None) -> Training | None:
    """The data in memory that a model is trained on, with their ids."""
    if own_data is None or not isinstance(own_data, Ratings):
        return None
    if own_data.own_ids is not None:
        return Training(own_data, *own_data.own_ids)
    return Training(own_data, pd.RangeIndex(own_data.n_users))


def _spread_over(
    data: Source, algorithm: str, way: bool | str
) -> contextlib.AbstractContextManager[object]:
    """Compute sums over ratings in partitions elsewhere, while this is open."""
    if not way:
        return contextlib.nullcontext()
    if not isinstance(data, str):
        raise BadInput(
            "spread is for ratings in partitions, which workers find by their id. Got data in"
            " memory. Store them in partitions first: `datasets import NAME PATH --partitioned`."
        )
    from dpmf_core.jobs.partition_pools import LOCAL
    from dpmf_core.jobs.partitions import spread

    return spread(data, algorithm, way if isinstance(way, str) else LOCAL)


def one_run(
    spec: RunSpec,
    own_data: AnyData | None,
    ledger: str | Path | None,
    store: Store | None,
) -> Run:
    """One run, from the store or computed; runs on the catalogue's data are stored by default."""
    if own_data is not None or store is None:
        return execution.run(spec, input_data=own_data, ledger=ledger)
    run = store.whole(spec)
    if run is None:
        run = execution.run(spec, ledger=ledger)
        store.put(run)
    else:
        enter_stored(run.record, ledger)
    return run


def measured_run(
    spec: RunSpec,
    own_data: AnyData | None,
    ledger: str | Path | None,
    store: Store | None,
    epsilon: float,
) -> Run:
    """`one_run` with its measurement, which is refused before the run if it cannot be made."""
    in_hand = own_data is not None
    at_hand = contextlib.nullcontext() if own_data is None else lent(spec.data.id, own_data)
    with at_hand:
        if in_hand or store is None or store.whole(spec) is None:
            require_affordable(spec, epsilon, ledger, in_hand=in_hand)
        run = one_run(spec, own_data, ledger, store)
        with_fall = with_measurement(run, epsilon, ledger, in_hand=in_hand)
    if store is not None and not in_hand and with_fall is not run:
        store.put(with_fall)
    return with_fall


@dataclass(frozen=True)
class Swept:
    """The results of a sweep: `runs` by point, errors released with noise, and both as tables."""

    points: Sequence[Point]
    runs: Mapping[str, TrainedModel]
    noisy: Mapping[str, Score] = field(default_factory=dict)
    noisy_epsilon: float | None = None

    def __repr__(self) -> str:
        labels = ", ".join(dict.fromkeys(point.label for point in self.points))
        return f"<Swept: {len(self.runs):,} runs of {labels}>"

    def _repr_html_(self) -> str:
        return notebook_views.html_of_sweep(repr(self)[1:-1], self.frame())

    @property
    def draws(self) -> Draws:
        """The table of measured draws, from which `summary` and all pages conclude.

        `draws.by("rmse")` has the floor, the best known method, shares, costs and ranks;
        `dpmf_core.runs.conclusions` puts them in sentences.
        """
        return Draws.of_runs(self.points, self.runs)

    def plot(self, metric: str | None = None) -> "Figure":
        """Draw medians against epsilon as a Plotly figure.

        Parameters
        ----------
        metric
            The metric's id; by default the held-out error.

        Raises
        ------
        BadInput
            If no run has it, for example on private data without released errors, or if plotly is
            not installed.
        """
        errors = {key: score.error.value for key, score in self.noisy.items()}
        return notebook_views.chart_of_draws(self.draws.released(errors), metric)

    def frame(self) -> pd.DataFrame:
        """One row per run, with its settings, epsilons and figures."""
        return pd.DataFrame(rows(self.points, self.runs, self.noisy, self.noisy_epsilon))

    def summary(self, metric: str = "rmse") -> pd.DataFrame:
        """Median, lowest and highest draw for every method, epsilon and grid point.

        The column `kept` is the share of what sharing is worth that a method keeps. It needs the
        references among the algorithms (for RMSE "bmf", "user-mean" and "global-mean"), and is
        empty on private data.

        Parameters
        ----------
        metric
            The metric's id.

        Raises
        ------
        BadInput
            If no run has it.
        """
        judgement = self.draws.by(metric)
        if not judgement.measured:
            raise BadInput(f"No run of this sweep has the figure '{metric}'. Choose another one.")
        return pd.DataFrame(
            {
                "method": one.label,
                "epsilon": one.epsilon,
                **one.grid,
                "median": one.median,
                "low": one.low,
                "high": one.high,
                "draws": len(one.draws),
                "kept": _share_kept(judgement, one),
            }
            for one in judgement.measured
        )


def _share_kept(judgement: Judgement, one: Measured) -> float:
    """The share that a method keeps; nan where it is undefined, and on private data."""
    share = judgement.share(one) if judgement.table.is_public else None
    return math.nan if share is None else share


@_with_parameters("algorithm", "epsilon", "seed")
def sweep(
    data: Source,
    algorithms: Algorithms,
    *,
    epsilons: float | Sequence[float] = (),
    seeds: Iterable[int] = (0,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    bounds: Bounds | None = None,
    columns: Mapping[str, str] | None = None,
    ledger: str | Path | None = None,
    noisy_errors: float | None = None,
    **choices: Any,
) -> Swept:
    """Train every algorithm at every epsilon and seed, in this process.

    Stored runs are not computed again. The first call on a machine compiles kernels, which takes
    some seconds; they are cached.

    Parameters
    ----------
    data, bounds, columns, ledger
        See `fit`.
    algorithms
        An id, several, or a mapping from ids to parameters, as `{"dpals": {"rank": 4}}`.
    epsilons
        Total epsilon of each run; needed if an algorithm is private.
    seeds
        One run for each.
    grid
        Values of the algorithms' parameters; each algorithm uses the parameters that it has.
    noisy_errors
        On private ratings, release the held-out error of each proven run at this epsilon, as the
        column `noisy_rmse`. It comes with that of each person's own mean for the same people
        (`noisy_floor`), and with the difference and its interval (`noisy_fall`). Each release
        enters the account, at every call.
    choices
        See `fit`, without `epsilon`, `seed` and the algorithms' parameters.

    Returns
    -------
    Swept
        `frame()` has a row for each run, `summary()` medians, and `plot()` draws these.

    Raises
    ------
    BadInput
        Before the first run, if any of them could not start.

    Examples
    --------
    >>> import dpmf
    >>> swept = dpmf.sweep("cinema-small", ["private-bias", "bias"], epsilons=[1, 5])
    >>> swept.summary()["method"].tolist()
    ['private-bias', 'private-bias', 'bias']
    """
    methods = _methods(algorithms)
    epsilons = tuple(np.atleast_1d(epsilons).tolist())
    has_noise = choices.get("noise") != NoiseKind.NONE
    if has_noise and not epsilons and any(method.is_private for method in methods):
        raise BadInput(
            "These algorithms are private, so the sweep needs epsilons: sweep(..., epsilons=[1,"
            " 5])."
        )
    if noisy_errors is not None and not isinstance(data, str):
        raise BadInput(
            "Errors can be released with noise only for a data set with an id or a path. Got data"
            " in memory. Write them to a file first."
        )
    ids = [method.algorithm for method in methods]
    choices["epsilon"] = next(iter(epsilons), None)
    facts, choices = facts_apart({"bounds": bounds, "columns": columns, **choices})
    dataset, own_data, choices = data_of(data, facts, ids, choices)
    spec = Sweep.of(
        with_delta(choices, ids, dataset.shape.n_units),
        methods=methods,
        epsilons=epsilons,
        seeds=tuple(seeds),
        grid={name: _values(name, values) for name, values in (grid or {}).items()},
    )
    points = _points(spec, own_data)
    with contextlib.closing(Store()) as store:
        distinct = {point.key: point.spec for point in points}
        runs = {key: one_run(run, own_data, ledger, store) for key, run in distinct.items()}
    training = _training(own_data)
    models = {key: TrainedModel.of(run, training) for key, run in runs.items()}
    noisy = {} if noisy_errors is None else release(runs, noisy_errors, ledger)
    return Swept(points, models, noisy, noisy_errors)


def _methods(algorithms: Algorithms) -> tuple[Method, ...]:
    if isinstance(algorithms, str | Method):
        algorithms = (algorithms,)
    parameters = algorithms if isinstance(algorithms, Mapping) else {}
    return tuple(
        Method(algorithm=it, label=it, parameters=dict(parameters.get(it, {})))
        if isinstance(it, str)
        else it
        for it in algorithms
    )


def _values(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadInput(
            f"The grid must hold a list of values for '{name}', e.g. {{'rank': [2, 4]}}. Got"
            f" {values!r}."
        )
    return tuple(values)


def _points(spec: Sweep, own_data: AnyData | None) -> list[Point]:
    """The runs of a sweep on the catalogue's data or the given ones. Raises BadInput."""
    if own_data is None:
        return spec.points_on(data_access.open_anywhere(spec.data).shape)
    with lent(spec.data.id, own_data):  # not what this machine has under the same name
        return spec.points_on(filtered(own_data, spec.data).shape)
