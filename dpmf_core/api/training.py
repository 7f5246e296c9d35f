"""Training from Python: `fit` with plain arguments."""

import contextlib
from collections.abc import Mapping
from typing import Any, Unpack

import pandas as pd

from dpmf_core.api.loading import Source, data_of, facts_apart
from dpmf_core.api.names import (
    ColumnNames,
    Missing,
    NoiseName,
    RelationName,
    SplitChoice,
)
from dpmf_core.api.options import RunOptions
from dpmf_core.api.signatures import with_options
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Outside
from dpmf_core.privacy.accounts import LedgerFile
from dpmf_core.runs import notebook_views
from dpmf_core.runs.measured_fall import check_epsilon
from dpmf_core.runs.notebook_views import plot as plot
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec, with_delta
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import stored_or_computed
from dpmf_core.runs.trained_model import TrainedModel as TrainedModel
from dpmf_core.runs.trained_model import Training, model_of
from dpmf_core.runs.trained_model import load_model as load_model

notebook_views.register()


@with_options()
def fit(
    data: Source,
    algorithm: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    bounds: Bounds | None = None,
    split: SplitChoice = "random",
    seed: int = 0,
    relation: RelationName = "add-remove",
    noise: NoiseName = "continuous",
    parameters: Mapping[str, Any] | None = None,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    keep: bool = True,
    ledger: LedgerFile = None,
    spread: bool | str = False,
    measure: float | None = None,
    **options: Unpack[RunOptions],
) -> TrainedModel:
    """Train one model and evaluate it.

    The first call on a machine compiles kernels, which takes about 15 seconds of one core; they are
    kept.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`.
    algorithm
        An id of `algorithms`.
    epsilon
        The total privacy loss of the run, from 1e-4 to 1000; private algorithms need it.
    delta
        The slack of the bound, below 1/n. By default 1/(10 n) for n people, rounded down.
    bounds
        The lowest and highest possible rating of a file or of data in memory. They are declared,
        because reading them from private data would reveal something about the data.
    split
        How ratings are held out for evaluation: "random", "per-user", "time" (each person's
        latest), "users" (whole people) or "window" (a time window). "none" or None trains on
        everything. A mapping also has the split's parameters: `{"kind": "users", "fold_in": 0.5}`.
    seed
        Of the split, of starting values and, on public data, of the noise. Noise on private data
        comes from the operating system.
    relation
        Which data sets are neighbours: "add-remove", one person more or less, or "replace-one", one
        person replaced.
    noise
        "continuous"; "discrete", which rounds statistics to a grid and is exact; or "none", the
        same method without noise, without privacy and without an epsilon.
    parameters
        Parameters of the algorithm by name, as `algorithms` lists them. They may also be given one
        by one, such as `rank=4`.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated", such as 0 or (-1, 99).
    keep
        Whether to look for the run in the store first, and to store it. Runs on data in memory are
        never stored.
    ledger
        The file of the account that a run on private data enters. By default that of the data in
        the data folder (`account`); data in memory in this process share one. A stored run enters
        it too, unless it is there already.
    spread
        For ratings in partitions that have an id: workers read the partitions and add them up. True
        starts processes on this machine; an address names a Dask scheduler. The model has the same
        bits.
    measure
        Then measure what the model brought: how far the held-out error, root mean square over
        people, falls below that of what needs no model of others (`record.fall`). On private data
        it is released with noise of this epsilon, a release of its own that enters the account. On
        public data it is exact.
    **options
        Every other parameter of a run and of the algorithm, and facts of a file. The command line
        has the same names. `item_features` may also be a public data frame with one row per item.

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
    choices = {
        **options,
        "epsilon": epsilon,
        "delta": delta,
        "bounds": bounds,
        "split": split,
        "seed": seed,
        "relation": relation,
        "noise": noise,
        "parameters": parameters or {},
        "columns": columns,
        "outside": outside,
        "missing": missing,
    }
    spec, own_data = run_on(data, algorithm, choices)
    stored = contextlib.closing(Store()) if keep else contextlib.nullcontext()
    with _spread_over(data, algorithm, spread), stored as store:
        run = one_run(spec, own_data, ledger, store, measure)
        return model_of(run, training_of(own_data))


def run_on(
    data: Source, algorithm: str, choices: Mapping[str, Any]
) -> tuple[RunSpec, AnyData | None]:
    """The specified run, and its data if no id finds them.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory.
    algorithm
        The id of the algorithm.
    choices
        Facts of the data and parameters of the run, by name.

    Raises
    ------
    BadInput
        If the data or the choices do not suit the run.
    """
    facts, choices = facts_apart(choices)
    dataset, own_data, choices = data_of(data, facts, [algorithm], choices)
    choices = with_delta(choices, [algorithm], dataset.shape.n_units)
    return RunSpec.of(**choices, algorithm=algorithm), own_data


def training_of(own_data: AnyData | None) -> Training | None:
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
    from dpmf_core.jobs.partition_sums import spread

    return spread(data, algorithm, way if isinstance(way, str) else LOCAL)


def one_run(
    spec: RunSpec,
    own_data: AnyData | None,
    ledger: LedgerFile,
    store: Store | None,
    measure: float | None = None,
) -> Run:
    """One run, with its measurement if one is asked for. Runs on data in memory are not stored."""
    if own_data is not None:
        store = None
    with lent(spec.data.id, own_data):
        return stored_or_computed(spec, store, measure, ledger, own_data)
