"""`dpmf.tune`: search over the parameters of an algorithm, and what choosing them costs."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import pandas as pd

from dpmf_core.api.loading import Source
from dpmf_core.api.names import (
    ColumnNames,
    Missing,
    NoiseName,
    RelationName,
    SplitChoice,
)
from dpmf_core.api.options import SweepOptions
from dpmf_core.api.training import one_run, run_on
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.report import Outside
from dpmf_core.jobs.job import Job, Task
from dpmf_core.privacy.accounts import LedgerFile
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.specification import ParameterValues, RunSpec, Value
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import as_grid
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search import Search
from dpmf_core.runs.tuning.search_outcome import SearchResult, search_spec
from dpmf_core.runs.tuning.search_space import Interval, TuneSpec

VaryRange = tuple[float, float] | tuple[float, float, Literal["log"]] | None
Ranges = Iterable[str] | Mapping[str, VaryRange]
SelectionName = Literal["logarithmic", "geometric", "poisson", "binomial"]


@dataclass(frozen=True, eq=False)
class Tuning:
    """The best parameters of a search, and how this is known. `tune` returns it.

    Printed it is what the command `tune` prints.

    Parameters
    ----------
    outcome
        The search with its trials, or the result of a private selection.

    Examples
    --------
    >>> import dpmf
    >>> tuning = dpmf.tune("cinema-small", "bias", grid={"damping": [1.0, 20.0]}, draws=1)
    >>> sorted(tuning.parameters)
    ['damping']
    >>> model = dpmf.fit("cinema-small", "bias", parameters=tuning.parameters, keep=False)
    """

    outcome: SearchResult | SelectionResult

    def __str__(self) -> str:
        return str(self.outcome)

    def __repr__(self) -> str:
        return f"<Tuning: {self.parameters}>"

    @property
    def parameters(self) -> ParameterValues:
        """The best parameters, for `fit(..., parameters=...)`; empty if no trial was drawn."""
        return self.outcome.winner

    @property
    def score(self) -> float | None:
        """The best validation error; of a private selection with noise."""
        return self.outcome.score

    @property
    def epsilon(self) -> float | None:
        """The epsilon of a whole private selection; None for an open search, which has none."""
        return self.outcome.epsilon

    def frame(self) -> pd.DataFrame:
        """One row per trial, or the only one that a private selection shows."""
        return pd.DataFrame(self.outcome.rows)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it: what `dpmf tune --json` prints."""
        return self.outcome.export()


def tune(
    data: Source,
    algorithm: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    grid: Mapping[str, Sequence[Value]] | None = None,
    vary: Ranges = (),
    trials: int = 40,
    draws: int | None = None,
    private_selection: SelectionName | None = None,
    score_noise: float = 5.0,
    bounds: Bounds | None = None,
    split: SplitChoice = "random",
    seed: int = 0,
    relation: RelationName = "add-remove",
    noise: NoiseName = "continuous",
    parameters: Mapping[str, Any] | None = None,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    ledger: LedgerFile = None,
    **options: Unpack[SweepOptions],
) -> Tuning:
    """Search over parameters by validation ratings, and test the best.

    The best is compared with the recommended parameters over fresh draws, on test ratings. On
    private data every trial enters the account, and the choice is by raw errors, which no epsilon
    covers: use `private_selection` there. An interrupted search on data with an id or a path
    continues.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`.
    algorithm
        An id of `algorithms`.
    epsilon
        The total privacy loss of each training; private algorithms need it.
    delta
        The slack of the bound, below 1/n. By default 1/(10 n) for n people, rounded down.
    grid
        ParameterValues of parameters to try, all combinations. Give either `grid` or `vary`.
    vary
        Parameters for the sampler: names, whose range is around the recommended value, or a mapping
        from names to (low, high), to (low, high, "log"), or to None for that range.
    trials
        Points that the sampler tries; in a private selection their mean number.
    draws
        Draws of split and noise in each trial, 3 by default; their mean is its score. In a private
        selection it is one.
    private_selection
        Draw a random number of trials from this distribution, and return only the best. The price
        of the whole enters the account of private data.
    score_noise
        Noise multiplier of each trial's score in a private selection.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    split
        How ratings are held out; see `fit`. A tenth is for validation, unless
        `validation_fraction` is given.
    seed
        Of the first split and noise, and of the sampler.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".
    noise
        "continuous", "discrete" or "none"; see `fit`.
    parameters
        The parameters that do not vary, by name.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated".
    ledger
        The file of the account that runs on private data enter; see `fit`.
    **options
        Every other parameter of a run, and facts of a file.

    Returns
    -------
    Tuning
        `parameters` are the best ones, `frame()` has the trials, and it prints as the command does.

    Raises
    ------
    BadInput
        If the search cannot be made, or a budget does not allow it.

    Examples
    --------
    >>> import dpmf
    >>> choices = {"epsilon": 2.0, "grid": {"prior_deviation": [0.2, 0.4]}, "draws": 1}
    >>> tuning = dpmf.tune("cinema-small", "private-bias", **choices)
    >>> len(tuning.frame())
    2
    """
    if private_selection is not None and draws not in (None, 1):
        raise BadInput(
            "In a private selection a trial is one training run. Leave draws out."
        )
    if not options.get("validation_fraction"):
        options["validation_fraction"] = 0.1
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
    if bool(grid) == bool(vary):
        raise BadInput(
            "tune needs either a grid, as in grid={'rank': [2, 4]}, or parameters for a sampler, as"
            " in vary=['rank']."
        )
    run, own_data = run_on(data, algorithm, choices)
    with lent(run.data.id, own_data), contextlib.closing(Store()) as store:
        spec = search_spec(
            run,
            open_anywhere(run.data).shape,
            grid=as_grid(grid or {}),
            ranges=_ranges(vary),
            draws=1 if private_selection else draws or 3,
            prune=False,  # a run in this process is over when its error by step is known
        )
        if private_selection is None:
            return Tuning(_searched(spec, trials, _Bench(own_data, ledger, store)))
        return Tuning(
            _selected(spec, private_selection, trials, score_noise, own_data, ledger)
        )


def _ranges(vary: Ranges) -> dict[str, Interval | None]:
    """The ranges for a sampler. Raises BadInput on one that is not a range."""
    if not isinstance(vary, Mapping):
        names = (vary,) if isinstance(vary, str) else vary
        return dict.fromkeys(names)
    return {
        name: None if ends is None else _interval(name, ends)
        for name, ends in vary.items()
    }


def _interval(name: str, ends: Any) -> Interval:
    is_range = (
        isinstance(ends, Sequence) and not isinstance(ends, str) and len(ends) in (2, 3)
    )
    if not is_range or tuple(ends[2:]) not in ((), ("log",)):
        raise BadInput(
            f"The range of '{name}' is (low, high) or (low, high, 'log'). Got {ends!r}."
        )
    try:
        return Interval(
            low=ends[0],
            high=ends[1],
            log=len(ends) == 3,
        )
    except ValueError:
        raise BadInput(
            f"The range of '{name}' must be two numbers, the lower first, above 0 if logarithmic."
            f" Got {ends!r}."
        ) from None


# ---- trials in this process ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Bench:
    """Computes the runs of trials in this process, one after the other."""

    own_data: AnyData | None
    ledger: LedgerFile
    store: Store

    def submit(self, spec: RunSpec, priority: int = 0) -> Job:
        """A handle on the run, which is over."""
        task = Task("", spec)
        try:
            task.settle(one_run(spec, self.own_data, self.ledger, self.store))
        except BadInput as problem:
            task.settle(problem)
        return Job(self, task)


def _searched(spec: TuneSpec, trials: int, bench: _Bench) -> SearchResult:
    search = Search(spec, trials, bench, width=1, in_hand=bench.own_data is not None)
    while search.advance():
        pass
    return SearchResult.of(search)


def _selected(
    spec: TuneSpec,
    distribution: SelectionName,
    trials: float,
    score_noise: float,
    own_data: AnyData | None,
    ledger: LedgerFile,
) -> SelectionResult:
    """The private selection. Raises BadInput for private data that no id or path finds."""
    if own_data is not None and not own_data.public:
        raise BadInput(
            "A private selection needs data with an id or a path, whose account it enters. Got data"
            " in memory. Write them to a file first."
        )
    selection = PrivateSelection.parse(
        searches=(spec,),
        distribution=distribution,
        trials=trials,
        score_noise=score_noise,
    )
    return selection.measure(ledger=ledger)
