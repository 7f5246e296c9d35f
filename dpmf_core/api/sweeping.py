"""Sweeps from Python: many runs, their table and their medians."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from dpmf_core.api.loading import Source, data_of, facts_apart
from dpmf_core.api.names import (
    ColumnNames,
    Missing,
    NoiseName,
    RelationName,
    SplitChoice,
)
from dpmf_core.api.options import SweepOptions
from dpmf_core.api.signatures import with_options
from dpmf_core.api.training import one_run, training_of
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.report import Outside
from dpmf_core.privacy.accounts import LedgerFile
from dpmf_core.runs import data_access, notebook_views
from dpmf_core.runs.conclusions import conclusions_of
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.filters import filtered
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.noisy_errors import Score, release
from dpmf_core.runs.specification import with_delta
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method as Method
from dpmf_core.runs.sweep import Sweep, as_grid, rows
from dpmf_core.runs.trained_model import TrainedModel, model_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Algorithms = str | Method | Iterable[str | Method] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Swept:
    """The results of a sweep: all runs, and their figures as tables. `sweep` returns it.

    Parameters
    ----------
    points
        What was asked for: a label, a grid point and the specification of a run.
    runs
        The trained models, by the key of their point.
    noisy
        Errors that were released with noise, by the same keys.
    noisy_epsilon
        The epsilon of each release of an error.

    Examples
    --------
    >>> import dpmf
    >>> swept = dpmf.sweep("cinema-small", ["private-bias", "bias"], epsilons=[1, 5])
    >>> len(swept.frame()), sorted(swept.summary()["method"].unique())
    (3, ['bias', 'private-bias'])
    """

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

        `draws.by("rmse")` has the floor, the best known method, shares, costs and ranks.
        """
        return Draws.of_runs(self.points, self.runs)

    def conclusions(self, metric: str = "rmse") -> list[str]:
        """Sentences on the whole table: the best method at each epsilon, and the scale.

        They are the sentences of the Compare page. Private data have none: their errors choose no
        method.

        Parameters
        ----------
        metric
            The metric's id.

        Examples
        --------
        >>> import dpmf
        >>> swept = dpmf.sweep("cinema-small", ["private-bias", "user-mean"], epsilons=1)
        >>> swept.conclusions()[0]
        'At ε = 1, private-bias has RMSE 0.921.'
        """
        return conclusions_of(self.draws.by(metric))

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
        return pd.DataFrame(
            rows(self.points, self.runs, self.noisy, self.noisy_epsilon)
        )

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
            raise BadInput(
                f"No run of this sweep has the figure '{metric}'. Choose another one."
            )
        table = pd.DataFrame(
            {
                "method": one.label,
                "epsilon": one.epsilon,
                **one.grid,
                "median": one.median,
                "low": one.low,
                "high": one.high,
                "draws": len(one.draws),
                "kept": judgement.shown_share(one),
            }
            for one in judgement.measured
        )
        return table.astype({"kept": float})


@with_options("algorithm", "epsilon", "seed")
def sweep(
    data: Source,
    algorithms: Algorithms,
    *,
    epsilons: float | Sequence[float] = (),
    seeds: Iterable[int] = (0,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    delta: float | None = None,
    bounds: Bounds | None = None,
    split: SplitChoice = "random",
    relation: RelationName = "add-remove",
    noise: NoiseName = "continuous",
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    ledger: LedgerFile = None,
    noisy_errors: float | None = None,
    **options: Unpack[SweepOptions],
) -> Swept:
    """Train every algorithm at every epsilon and seed, in this process.

    Stored runs are not computed again. The first call on a machine compiles kernels, which takes
    about 15 seconds of one core; they are kept.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`.
    algorithms
        An id, several, or a mapping from ids to parameters, such as `{"dpals": {"rank": 4}}`.
    epsilons
        Total epsilon of each run; needed if an algorithm is private.
    seeds
        One run for each.
    grid
        Values of the algorithms' parameters; each algorithm uses the parameters that it has.
    delta
        The slack of the bound, below 1/n. By default 1/(10 n) for n people, rounded down.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    split
        How ratings are held out for evaluation; see `fit`.
    relation
        Which data sets are neighbours: "add-remove", one person more or less, or "replace-one", one
        person replaced.
    noise
        "continuous", "discrete" or "none"; see `fit`.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated", such as 0 or (-1, 99).
    ledger
        The file of the account that runs on private data enter; see `fit`.
    noisy_errors
        On private ratings, release the held-out error of each proven run at this epsilon, as the
        column `noisy_rmse`. It comes with that of each person's own mean for the same people
        (`noisy_floor`), and with the difference and its interval (`noisy_fall`). Each release
        enters the account, at every call.
    **options
        Every other parameter of a run, and facts of a file.

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
    if (
        noise != "none"
        and not epsilons
        and any(method.is_private for method in methods)
    ):
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
    facts, choices = facts_apart(
        {
            **options,
            "epsilon": next(iter(epsilons), None),
            "delta": delta,
            "bounds": bounds,
            "split": split,
            "relation": relation,
            "noise": noise,
            "columns": columns,
            "outside": outside,
            "missing": missing,
        }
    )
    dataset, own_data, choices = data_of(data, facts, ids, choices)
    spec = Sweep.of(
        with_delta(choices, ids, dataset.shape.n_units),
        methods=methods,
        epsilons=epsilons,
        seeds=tuple(seeds),
        grid=as_grid(grid or {}),
    )
    points = _points(spec, own_data)
    with contextlib.closing(Store()) as store:
        distinct = {point.key: point.spec for point in points}
        runs = {
            key: one_run(run, own_data, ledger, store) for key, run in distinct.items()
        }
    training = training_of(own_data)
    models = {key: model_of(run, training) for key, run in runs.items()}
    if noisy_errors is None:
        noisy = {}
    else:
        noisy = release(runs, noisy_errors, ledger)
    return Swept(points, models, noisy, noisy_errors)


def _methods(algorithms: Algorithms) -> tuple[Method, ...]:
    if isinstance(algorithms, str | Method):
        algorithms = (algorithms,)
    if isinstance(algorithms, Mapping):
        parameters = algorithms
    else:
        parameters = {}
    return tuple(
        Method(
            algorithm=algorithm,
            label=algorithm,
            parameters=dict(parameters.get(algorithm, {})),
        )
        if isinstance(algorithm, str)
        else algorithm
        for algorithm in algorithms
    )


def _points(spec: Sweep, own_data: AnyData | None) -> list[Point]:
    """The runs of a sweep on the catalogue's data or the given ones. Raises BadInput."""
    if own_data is None:
        return spec.points_on(data_access.open_anywhere(spec.data).shape)
    with lent(spec.data.id, own_data):  # not what this machine has under the same name
        return spec.points_on(filtered(own_data, spec.data).shape)
